"""Polygons that are held beside other contacts: the joints of their states, by plain matrices."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.contact import bodies, ladder
from tabi.contact.rows import BILATERAL, BILATERAL_TWO, CONTACT, IDLE
from tabi.step.laws.polygons import held_polygons, polygons, selection
from tabi.step.laws.polygons.polygon_states import EDGE, FACE, NONE, VERTEX, encode


def crate_on_hands():
    """HRP-2 that stands, a box on its head: feet, and contacts that are none."""
    world, robot = hrp2_on_ground()
    q = world.compile().initial()
    top = float(np.max([tabi.Simulator(world).position(b)[2] for b in robot.bodies]))
    world.add_box((0.3, 0.3, 0.05), 2.0, position=(q[0], q[1], top + 0.3), name="tray")
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    for _ in range(400):
        sim.step()
        if any("tray" in (c.body_a.name, c.body_b.name) and c.pressing for c in sim.contacts):
            break
    return sim


@pytest.fixture(scope="module")
def problem():
    sim = crate_on_hands()
    p = sim.problem()
    a = sim.data.problem_body[p.contact["a"]]
    feet = [foot.body for foot in sim.model.feet.values()]
    return p, np.isin(a, feet).astype(np.int64)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "i", "slides", "rows"),
    [
        (FACE, 0, False, (BILATERAL, BILATERAL)),
        (EDGE, 1, False, (BILATERAL, BILATERAL_TWO)),
        (VERTEX, 2, False, (BILATERAL,)),
        (NONE, 0, False, ()),
        (EDGE, 1, True, (CONTACT, CONTACT)),
        (FACE, 0, True, (CONTACT,) * 4),
    ],
)
def test_rows_of_a_state_hold_what_it_says(problem, kind, i, slides, rows):
    p, foot = problem
    n = len(p.kind)
    assert 0 < foot.sum() < n
    P = polygons.allocate(n, len(p.start) - 1)
    polygons.gather(p, foot, np.zeros(n), P)
    s = selection.allocate(P, 10)
    s.state[:2] = encode(kind, i, slides, 4)
    h = held_polygons.allocate(n)
    held_polygons.hold(p, P, s, np.zeros(3 * n), h)
    columns = {name: getattr(h, name) for name in ("contact", "q", "kind", "mu", "bound", "weight")}
    joined = p._replace(**columns)
    for f in range(2):
        own = joined.kind[P.owner[:n] == f]
        assert sorted(own[own != IDLE]) == sorted(rows)
    assert (joined.kind[foot == 0] == CONTACT).all()
    # solved, the corners that are held do not move, and the others obey the exact law
    work = bodies.allocate(n, len(p.start) - 1)
    bodies.prepare(joined, work)
    impulse = np.zeros(3 * n)
    _, _, error = ladder.solve_bodies(joined, 1e-10, impulse, work, ladder.SETTINGS)
    assert error <= 1e-10
    if not slides and kind != NONE:
        held = range(4) if kind == FACE else [(i + j) % 4 for j in range(kind)]
        # what the impulses of the joints do to the rows of the corners
        u = corner_velocities(p, joined, impulse)
        for f in range(2):
            for j in held:
                row = 3 * P.row[P.start[f] + j]
                np.testing.assert_allclose(u[row + 2], 0, atol=1e-8)


def corner_velocities(p, joined, impulse):
    """u of the rows of p with the wrenches of another set of rows."""
    f = np.einsum("nji,nj->ni", joined.contact["frame"].reshape(-1, 3, 3), impulse.reshape(-1, 3))
    wrench = np.zeros((len(p.start), 6))
    for row, force in zip(joined.contact, f, strict=True):
        for body, arm, sign in ((row["a"], row["arm_a"], 1), (row["b"], row["arm_b"], -1)):
            if body >= 0:
                turn = force if row["angular"] else np.cross(arm, force)
                wrench[body] += sign * np.concatenate(
                    [turn, 0 * force if row["angular"] else force]
                )
    twist = np.zeros_like(wrench)
    for i in range(len(p.start) - 1):
        for e in range(p.start[i], p.start[i + 1]):
            twist[i] += p.omega[e] @ wrench[p.column[e]]
    u = p.q.copy()
    for k, row in enumerate(p.contact):
        v = np.zeros(3)
        for body, arm, sign in ((row["a"], row["arm_a"], 1), (row["b"], row["arm_b"], -1)):
            if body >= 0:
                v += sign * (twist[body, 3:] + np.cross(twist[body, :3], arm))
        u[3 * k : 3 * k + 3] += row["frame"].reshape(3, 3) @ v
    return u
