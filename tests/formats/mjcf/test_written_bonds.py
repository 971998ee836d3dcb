"""Bonds of a world in MuJoCo: they hold where the bodies start,
and leave free what tabi's leave free.
"""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi

mujoco = pytest.importorskip("mujoco")

from tabi.formats.mjcf.written_bonds import ARM  # noqa: E402

EDGE = 0.1


def bonded(kind, **told):
    """A cube in the air, away from any zero, held by the world; it starts turned by 30° about x."""
    world = tabi.World()
    turn = (np.cos(np.pi / 12), np.sin(np.pi / 12), 0.0, 0.0)
    body = world.add_box(
        (EDGE, EDGE, EDGE), mass=2.0, position=(0.3, -0.2, 1.0), quaternion=turn, name="cube"
    )
    world.add_bond(kind, body, "world", **told)
    m = tabi.to_mujoco(world)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    return m, d


@pytest.mark.parametrize(
    ("kind", "told", "rows"), [("weld", {}, 6), ("ball", {}, 3), ("hinge", {"axis": (0, 1, 0)}, 6)]
)
def test_a_bond_is_made_where_the_bodies_start_and_pulls_at_nothing(kind, told, rows):
    m, d = bonded(kind, **told)
    assert d.nefc == rows
    assert np.abs(d.efc_pos).max() < 1e-12
    assert m.nexclude == 1


def test_a_weld_carries_the_weight_and_stays():
    m, d = bonded("weld")
    mujoco.mj_step(m, d, 1000)
    # MuJoCo's bonds are soft: sag of g·(solref time constant)² at most
    np.testing.assert_allclose(d.body("cube").xpos, (0.3, -0.2, 1.0), atol=9.81 * 0.02**2)


def test_a_hinge_swings_about_its_axis_with_the_period_of_a_pendulum():
    m, d = bonded("hinge", point=(0.3, -0.2, 1.2), axis=(2, 0, 0))
    d.qvel[1] = 0.01
    d.qvel[3] = 0.01 / 0.2
    # small swings: ω² = m g L / (I + m L²)
    inertia = 2.0 * EDGE**2 / 6 + 2.0 * 0.2**2
    quarter = 0.5 * np.pi / np.sqrt(2.0 * 9.81 * 0.2 / inertia)
    y = []
    for _ in range(round(2 * quarter / m.opt.timestep)):
        mujoco.mj_step(m, d)
        y.append(d.body("cube").xpos[1] + 0.2)
    # the turning point is a quarter of the period away, but for damping in the soft bond
    assert np.argmax(y) * m.opt.timestep == pytest.approx(quarter, rel=0.05)
    assert abs(d.body("cube").xpos[0] - 0.3) < 1e-5


def test_bearings_of_a_hinge_are_apart_along_its_axis():
    m, d = bonded("hinge", axis=(0, 0, 3))
    for on in ("cube", "world"):
        ends = [d.site(f"bond 1{end} on {on}").xpos for end in "ab"]
        np.testing.assert_allclose(ends[1] - ends[0], (0, 0, 2 * ARM), atol=1e-12)
    assert m.nsite == 4


def test_the_text_has_the_bonds_to_the_last_digit():
    world = tabi.World()
    body = world.add_box((EDGE, EDGE, EDGE), mass=2.0, position=(1 / 3, 0, 1.0), name="cube")
    world.add_bond("ball", body, "world", point=(1 / 7, 0, 1.0))
    m = mujoco.MjModel.from_xml_string(tabi.to_mjcf(world))
    assert m.neq == 1
    assert {float(x) for x in m.site_pos[:, 0]} == {1 / 7, 1 / 7 - 1 / 3}


def test_a_bond_on_what_is_no_body_is_refused_by_name():
    world, _ = hrp2_on_ground()
    world.add_bond("weld", "left", "world")
    with pytest.raises(
        tabi.ModelError,
        match="bond 1 holds 'left', which is no body of its own in MuJoCo; "
        "bond the body that it is on",
    ):
        tabi.to_mujoco(world)
