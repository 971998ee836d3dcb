"""Equalities of MJCF files that hold bodies: closed chains that stay closed, move as mechanics
says and as MuJoCo does, and are the robot's own wherever it goes.
"""

import numpy as np
import pytest

import tabi
from tabi import ModelError
from tabi.formats.mjcf import reader as mjcf

mujoco = pytest.importorskip("mujoco")

CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.5, 0.4, 0.5


def joint_of_coupler_and_rocker():
    """Where the two circles meet, with the crank upright: |B − A| = COUPLER, |B − D| = ROCKER."""
    A, D = np.array([0.0, CRANK]), np.array([GROUND, 0.0])
    d = np.linalg.norm(D - A)
    along = (D - A) / d
    s = (COUPLER**2 - ROCKER**2 + d**2) / (2 * d)
    return A + s * along + np.sqrt(COUPLER**2 - s**2) * np.array([-along[1], along[0]])


B = joint_of_coupler_and_rocker()


def rod(x, z):
    """A thin rod of 1 kg that touches nothing."""
    how = 'size="0.01" mass="1" contype="0" conaffinity="0"'
    return f'<geom type="capsule" fromto="0 0 0 {x} 0 {z}" {how}/>'


def four_bar(equality=None, tail=""):
    """Crank and coupler in one chain, the rocker in another, joined where they meet."""
    if equality is None:
        to_B = f"{float(B[0])} 0 {float(B[1] - CRANK)}"
        equality = f'<connect name="pin" body1="coupler" body2="rocker" anchor="{to_B}"/>'
    return f"""<mujoco model="four_bar"><option timestep="0.0002" integrator="implicitfast"/>
    <default><joint axis="0 1 0"/><equality solref="-1e7 -2e3" solimp="0.9999 0.9999 1"/></default>
    <worldbody>
      <body name="crank"><joint name="crank"/>{rod(0, CRANK)}
        <body name="coupler" pos="0 0 {CRANK}"><joint name="coupler"/>
          {rod(float(B[0]), float(B[1] - CRANK))}</body></body>
      <body name="rocker" pos="{GROUND} 0 0"><joint name="rocker"/>
        {rod(float(B[0] - GROUND), float(B[1]))}</body>
    </worldbody><equality>{equality}</equality>{tail}</mujoco>"""


def read(folder, text, **options):
    file = folder / "robot.xml"
    file.write_text(text)
    return mjcf.read(file, **options)


def simulated(robot, dt=1e-3, count=1):
    world = tabi.World()
    robots = [world.add_robot(robot, f"robot{k}") for k in range(count)]
    return tabi.Simulator(world, dt=dt), robots


def gaps(sim, robots):
    """How far the places of each bond are apart now [m]."""
    return [
        loop.gap({body: sim.pose(body) for body in robot.bodies})
        for robot in robots
        for loop in robot.bonds
    ]


# ---- a four-bar linkage -------------------------------------------------------------------------


@pytest.mark.slow
def test_a_four_bar_stays_closed_keeps_its_energy_and_moves_as_in_mujoco(tmp_path):
    text = four_bar()
    robot = read(tmp_path, text)
    assert [repr(loop) for loop in robot.bonds] == ["Closure('ball', 'coupler', 'rocker')"]
    sim, robots = simulated(robot, 5e-4)
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    energy, worst, apart = sum(sim.energy), 0.0, 0.0
    for _ in range(600):
        sim.step()
        sim.step()
        mujoco.mj_step(m, d, round(1e-3 / m.opt.timestep))
        worst = max(worst, *gaps(sim, robots))
        apart = max(apart, np.abs(sim.state.q - d.qpos).max())
    # it fell through: what is left of the energy is an error of first order in the step
    assert sim.energy.kinetic > 3.0
    assert sum(sim.energy) == pytest.approx(energy, abs=0.01 * sim.energy.kinetic)
    assert worst < 1e-6
    # the crank has turned by more than 1.8 rad; both engines have errors of first order
    assert apart < 5e-3


def test_the_gap_of_a_closed_chain_is_of_third_order_in_the_step(tmp_path):
    robot, found = read(tmp_path, four_bar()), []
    # gaps of a nanometre are left as they are
    for dt in (4e-3, 2e-3):
        sim, robots = simulated(robot, dt)
        gap = 0.0
        for _ in range(round(0.3 / dt)):
            sim.step()
            gap = max(gap, *gaps(sim, robots))
        found.append(gap)
    assert np.log2(found[0] / found[1]) == pytest.approx(3.0, abs=0.3)


def test_two_copies_under_other_names_keep_their_own_bonds(tmp_path):
    robot = read(tmp_path, four_bar())
    sim, (first, second) = simulated(robot, count=2)
    assert first.bonds[0].a is first.body("coupler")
    assert second.bonds[0].b is second.body("rocker")
    sim.run(0.3)
    assert max(gaps(sim, [first, second])) < 1e-6
    np.testing.assert_allclose(sim.state.q[:3], sim.state.q[3:], atol=1e-9)
    alone, (only,) = simulated(robot)
    alone.run(0.3)
    np.testing.assert_allclose(alone.state.q, sim.state.q[:3], atol=1e-9)
    assert only.copied().bonds[0].a is not only.bonds[0].a


def test_places_are_those_of_the_file_and_not_where_a_pose_puts_the_bodies(tmp_path):
    # a keyframe half a turn of time later, where MuJoCo was
    robot = read(tmp_path, four_bar())
    sim, robots = simulated(robot)
    sim.run(0.4)
    later: dict[str, float] = dict(zip(robot.joint_names, sim.state.q.tolist(), strict=True))
    robot.set_pose(later)
    again, robots = simulated(robot)
    assert gaps(again, robots)[0] < 1e-6
    again.run(0.3)
    assert gaps(again, robots)[0] < 1e-6
    # joints that tear the chain by some millimetres: it comes back, with 0.5 m/s at most
    robot.joint("rocker").position = np.array([later["rocker"] + 0.02])
    torn, robots = simulated(robot)
    assert gaps(torn, robots)[0] == pytest.approx(0.02 * ROCKER, rel=1e-3)
    torn.run(0.05)
    assert gaps(torn, robots)[0] < 1e-6


def test_a_chain_that_ends_in_the_world_is_closed_there_and_goes_where_its_base_goes(tmp_path):
    hung = f"""<mujoco><worldbody><body name="a"><joint axis="0 1 0"/>{rod(0.3, 0)}
      <body name="b" pos="0.3 0 0"><joint axis="0 1 0"/>{rod(0.3, -0.1)}</body></body></worldbody>
      <equality><connect body1="b" body2="world" anchor="0.3 0 -0.1"/></equality></mujoco>"""
    robot = read(tmp_path, hung)
    assert robot.bonds[0].b is robot.base
    world = tabi.World()
    robots = [world.add_robot(robot), world.add_robot(robot, "other")]
    robots[1].place((1.0, 2.0, 3.0))
    sim = tabi.Simulator(world)
    sim.run(0.5)
    assert max(gaps(sim, robots)) < 1e-6
    ends = [(sim.pose(r.body("b")) @ (0.3, 0.0, -0.1)) for r in robots]
    np.testing.assert_allclose(ends[0], (0.6, 0.0, -0.1), atol=1e-6)
    np.testing.assert_allclose(ends[1], (1.6, 2.0, 2.9), atol=1e-6)


# ---- kinds --------------------------------------------------------------------------------------

FLOATING = f"""<mujoco><worldbody><body name="a" pos="0 0 1" quat="0.8 0 0.6 0"><freejoint/>
  {rod(0.3, 0)}<body name="b" pos="0.3 0 0"><joint type="ball"/>{rod(0.1, 0.2)}
  <site name="tip" pos="0.1 0 0.2" quat="0.6 0 0 0.8"/></body></body>
  <site name="hook" pos="{{x}} 0 {{z}}" quat="{{quat}}"/></worldbody>
  <equality>{{equality}}</equality></mujoco>"""


def test_a_weld_to_the_world_holds_the_body_as_mujoco_does_at_rest(tmp_path):
    told = '<weld body1="a" body2="world" relpose="0.2 -0.1 -1 0.8 0 -0.6 0" anchor="0 0 0"/>'
    text = FLOATING.format(x=0, z=0, quat="1 0 0 0", equality=told)
    robot = read(tmp_path, text)
    loop = robot.bonds[0]
    assert (loop.kind, loop.b) == ("weld", None)
    # MuJoCo's own reading: with the body where the weld wants it, no error is left
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    wanted = loop.place_b @ loop.place_a.inverse()
    d.qpos[:3], d.qpos[3:7] = wanted.p, wanted.quaternion
    mujoco.mj_forward(m, d)
    assert np.abs(d.efc_pos[:6]).max() < 1e-12
    robot.place(wanted.p, wanted.quaternion)
    sim, (one,) = simulated(robot)
    sim.run(0.3)
    X = sim.pose(one.body("a"))
    np.testing.assert_allclose(X.p, wanted.p, atol=1e-8)
    np.testing.assert_allclose(X.R, wanted.R, atol=1e-8)


def test_a_weld_of_bodies_keeps_their_relative_pose(tmp_path):
    # two balls and a slide between them, out of line: 7 freedoms, of which the weld takes 6
    arm = f"""<mujoco><worldbody><body name="a"><freejoint/>{rod(0.3, 0)}
    <body pos="0.3 0 0"><joint type="ball"/>{rod(0.1, 0.3)}
    <body pos="0.1 0.2 0.3"><joint type="slide" axis="1 2 1"/>{rod(0, 0.2)}
    <body name="b" pos="0 0 0.2"><joint type="ball"/>{rod(-0.3, 0.1)}</body></body></body></body>
    </worldbody><equality><weld body1="b" body2="a" anchor="0.1 0.2 0.3"/></equality></mujoco>"""
    sim, (robot,) = simulated(read(tmp_path, arm))
    before = sim.pose(robot.body("a")).inverse() @ sim.pose(robot.body("b"))
    sim.apply_force(robot.body("b"), force=(3.0, 4.0, 5.0), duration=0.2)
    sim.run(0.4)
    after = sim.pose(robot.body("a")).inverse() @ sim.pose(robot.body("b"))
    np.testing.assert_allclose(after.p, before.p, atol=1e-6)
    np.testing.assert_allclose(after.R, before.R, atol=1e-6)
    assert not sim.missed
    assert read(tmp_path, arm.replace("<weld ", '<weld torquescale="0" ')).bonds[0].kind == "ball"


@pytest.mark.parametrize(
    ("joint", "equality"),
    [
        ("hinge", '<weld body1="b" body2="a"/>'),
        ("ball", '<weld body1="b" body2="a"/>'),
        ("ball", '<connect body1="b" body2="a" anchor="0 0.1 0"/>'),
        ("ball", '<weld body1="b" body2="world"/>'),
    ],
)
def test_a_bond_may_take_more_than_its_loop_has(tmp_path, joint, equality):
    text = f"""<mujoco><worldbody><body name="a"><freejoint/>{rod(0.3, 0)}
    <body name="b" pos="0.3 0 0"><joint type="{joint}" axis="0 1 0"/>{rod(0.1, 0.3)}</body></body>
    </worldbody><equality>{equality}</equality></mujoco>"""
    sim, (robot,) = simulated(read(tmp_path, text))
    sim.apply_force(robot.body("b"), force=(3.0, 4.0, 5.0), duration=0.1)
    sim.run(0.2)
    assert gaps(sim, [robot])[0] < 1e-7
    assert not sim.missed
    assert sim.certificate.converged
    assert not sim.certificate.bond_mismatch


def test_sites_that_are_connected_stay_together_and_a_gap_at_the_start_is_told(tmp_path):
    told = '<connect site1="tip" site2="hook"/>'
    X = read(tmp_path, FLOATING.format(x=0, z=0, quat="1 0 0 0", equality="")).placements()
    tip = next(x for body, x in X.items() if body.name == "b") @ (0.1, 0.0, 0.2)
    text = FLOATING.format(x=tip[0], z=tip[2] + 0.004, quat="1 0 0 0", equality=told)
    robot = read(tmp_path, text)
    assert "the ball of 'b' and 'world' starts 4 mm apart, and is drawn together" in robot.notes
    sim, robots = simulated(robot)
    sim.run(0.3)
    assert gaps(sim, robots)[0] < 1e-6
    # all of the robot hangs there: in the mean the force is its weight, when it swings no more
    assert robot.notes[0].startswith("bonds (1), hard here: ball of 'b' and 'world'")


def test_a_weld_of_sites_brings_their_frames_together(tmp_path):
    told = '<weld site1="tip" site2="hook"/>'
    robot = read(tmp_path, FLOATING.format(x=0.2, z=1, quat="0.6 0 0.8 0", equality=told))
    loop = robot.bonds[0]
    robot.place((0, 0, 0))
    placed = (loop.place_b @ loop.place_a.inverse()) @ robot.placements()[loop.a].inverse()
    robot.place(placed.p, placed.quaternion)
    sim, (one,) = simulated(robot)
    sim.run(0.2)
    tip = sim.pose(one.body("b")) @ one.frames["tip"].placement
    np.testing.assert_allclose(tip.p, (0.2, 0, 1), atol=1e-8)
    np.testing.assert_allclose(tip.quaternion, (0.6, 0, 0.8, 0), atol=1e-8)


@pytest.mark.parametrize("swapped", [False, True])
def test_two_connections_of_the_same_bodies_are_a_hinge_through_both(tmp_path, swapped):
    second = (
        '<connect body1="world" body2="a" anchor="0 -0.2 1"/>'
        if swapped
        else '<connect body1="a" body2="world" anchor="0 -0.2 0"/>'
    )
    told = '<connect body1="a" body2="world" anchor="0 0.2 0"/>' + second
    text = FLOATING.format(x=0, z=0, quat="1 0 0 0", equality=told)
    robot = read(tmp_path, text)
    assert [loop.kind for loop in robot.bonds] == ["hinge"]
    sim, (one,) = simulated(robot)
    sim.run(0.3)
    X = sim.pose(one.body("a"))
    # the axis through both places is the y axis: it turns about it, and stays on it up to the third
    # order of the step, of a few radians a second
    np.testing.assert_allclose(X.R[:, 1], (0, 1, 0), atol=1e-8)
    np.testing.assert_allclose(X.p, (0, 0, 1), atol=1e-6)
    assert abs(sim.velocity(one.body("a")).angular[1]) > 0.1


def test_what_is_no_bond_is_told(tmp_path):
    told = """<connect name="off" body1="a" body2="world" anchor="0 0 0" active="false"/>
    <weld name="one" body1="b" body2="a"/><connect name="more" body1="a" body2="b" anchor="0 0 0"/>
    <connect name="post" body1="b" body2="pole" anchor="0 0 0"/>"""
    text = FLOATING.format(x=0, z=0, quat="1 0 0 0", equality=told).replace(
        "</worldbody>", '<body name="pole"><geom size="0.1"/></body></worldbody>'
    )
    robot = read(tmp_path, text)
    assert [repr(loop) for loop in robot.bonds] == ["Closure('weld', 'b', 'a')"]
    notes = "\n".join(robot.notes)
    assert "1 inactive connect or weld constraints were left out" in notes
    assert "connect 'more' is one more between bodies that are held together: left out" in notes
    assert "connect 'post' holds a body that was left out: left out too" in notes
    rigid = f"""<mujoco><worldbody><body name="a"><freejoint/>{rod(0.3, 0)}<body name="b">
    {rod(0.3, 0)}</body></body></worldbody>
    <equality><weld name="glue" body1="a" body2="b"/></equality></mujoco>"""
    robot = read(tmp_path, rigid)
    assert not robot.bonds
    assert "weld 'glue' is between bodies that move as one: left out" in robot.notes


# ---- where else bonds go ------------------------------------------------------------------------


def test_bonds_of_a_robot_are_written_for_mujoco(tmp_path):
    robot = read(tmp_path, four_bar())
    world = tabi.World()
    for k in range(2):
        world.add_robot(robot, f"robot{k}")
    m = tabi.to_mujoco(world)
    assert m.neq == 2
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    assert d.nefc == 6
    assert np.abs(d.efc_pos).max() < 1e-12


def test_other_laws_of_contact_hold_bonds_as_well(tmp_path):
    world = tabi.World()
    robot = world.add_robot(read(tmp_path, four_bar()))
    sim = tabi.Simulator(world, contact="pyramid")
    sim.run(0.1)
    assert gaps(sim, [robot])[0] < 1e-7
    assert not sim.missed


def test_a_kind_of_bond_that_there_is_not_is_refused(tmp_path):
    world = tabi.World()
    robot = world.add_robot(read(tmp_path, four_bar()))
    robot.bonds[0].kind = "rope"
    with pytest.raises(ModelError, match="bond 'rope' not found in tabi"):
        tabi.Simulator(world)
