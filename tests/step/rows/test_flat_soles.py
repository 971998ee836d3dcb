"""Points of soles for laws that take a sole for its plane: all corners are seen, in one plane, and
under springs their overlaps stay.
"""

import numpy as np
import pytest
from plates import LENGTH, MASS, THICK, WIDTH, G, on_plane, plate_world

import tabi
from tabi.model.hulls import solid
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Shape
from tabi.spatial.inertia import solid_box
from tabi.step import foot_tables


def test_corners_above_the_ground_are_seen_and_overlaps_are_not_undone():
    sim, robot = on_plane(tabi.Penalty(stiffness=1e4, alpha=5.0))
    sim.run(2.0)
    # it stays 2.9 mm deep, and is not lifted out
    depth = MASS * G / 1e4
    assert 0.5 * THICK - sim.position(robot.body("plate"))[2] == pytest.approx(depth, rel=1e-6)
    assert sim.certificate.penetration == pytest.approx(depth, rel=1e-6)
    assert len(sim.contacts) == 4
    assert sim._stepper.workspace.soft[:4].tolist() == [1, 1, 1, 1]
    q = sim.state.q
    q[2], q[3], q[5] = q[2] + 0.012, np.cos(0.05), np.sin(0.05)
    sim.set_state(q)
    sim.step()
    # two corners below the ground, two 20 mm above it
    gaps = sorted(contact.gap for contact in sim.contacts)
    assert len(gaps) == 4
    assert gaps[0] < 0 < gaps[-1]


def test_other_bodies_are_not_soft():
    world, robot = plate_world()
    robot.place((0, 0, 0.5 * THICK))
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(1.0, 0.0, 0.049), name="box")
    sim = tabi.Simulator(world, contact="penalty")
    with pytest.warns(tabi.OverlapWarning, match="box and world start 1 mm inside"):
        sim.run(0.2)
    # the box has left the ground by the exact law, the plate has not
    assert sim.position("box")[2] == pytest.approx(0.05, abs=1e-6)
    lowest = sim.position(robot.body("plate"))[2] - 0.5 * THICK
    assert lowest == pytest.approx(-MASS * G / 1e6, rel=1e-3)


def test_tables_of_soles_have_their_corners_and_the_weight_of_the_robot():
    world, _ = plate_world()
    rows, corners = foot_tables.soles(world.compile())
    assert rows["weight"].tolist() == pytest.approx([MASS * G])
    assert (rows["first"][0], rows["end"][0], corners.shape) == (0, 4, (4, 2))


def uneven():
    """A plate whose sole is a small pad, 1 mm below its outline."""
    x, y = 0.5 * LENGTH, 0.5 * WIDTH
    outline = np.array([(-x, -y), (x, -y), (x, y), (-x, y)])
    points = np.array(
        [*((*p, -0.019) for p in outline), *((*p, -0.02) for p in 0.1 * outline)]
        + [(*p, 0.02) for p in outline]
    )
    robot = Robot("plate")
    shape = Shape(solid(points, None))
    inertia = solid_box(MASS, (LENGTH, WIDTH, THICK))
    body = robot.add_body("plate", Joint("root", "floating"), None, inertia, [shape])
    robot.add_foot("sole", body)
    world = tabi.World()
    world.add_ground(friction=0.5)
    placed = world.add_robot(robot)
    placed.place((0, 0, 0.02))
    return world, placed


@pytest.mark.parametrize("law", ["selection", "penalty"])
def test_an_uneven_sole_is_its_plane(law):
    world, robot = uneven()
    assert robot.feet["sole"].area == pytest.approx(LENGTH * WIDTH)
    sim = tabi.Simulator(world, contact=law)
    # inside of the outline, and outside of the pad: by the exact law it tips by a little
    sim.apply_force(robot.base, (0, 0, -MASS * G), 1.0, point=(0.3 * LENGTH, 0, 0))
    sim.run(0.4)
    foot = sim.foot("sole")
    assert foot.state == "face, stick"
    assert foot.centre_of_pressure == pytest.approx((0.15 * LENGTH, 0), abs=2e-3)
    assert len(sim.contacts) == 8
    assert sim.missed_count == 0
    tilt = 2 * np.arcsin(abs(sim.state.q[5]))
    assert tilt < 1e-3
