"""Robots drawn larger or smaller: the laws of similarity, for motion and for rest."""

from __future__ import annotations

import numpy as np
import pytest

import tabi
from tabi.robots import hrp2
from tabi.robots.similar import Similarity, similar

BY = Similarity(1.5, 3.0)


def test_the_mass_matrix_of_joints_goes_with_mass_and_length_squared():
    small, large = hrp2(), similar(hrp2(), "large", BY)
    rng = np.random.default_rng(1)
    angles = {name: rng.uniform(-0.5, 0.5) for name in small.joint_names}
    found = []
    for robot in (small, large):
        model = robot.compile()
        q = model.initial()
        for name, angle in angles.items():
            q[model.q_index(name)] = angle
        rows = [model.v_index(name) for name in angles]
        found.append(tabi.dynamics.mass_matrix(model, q)[np.ix_(rows, rows)])
    assert found[1] == pytest.approx(3.0 * 1.5**2 * found[0], rel=1e-12, abs=1e-14)


def test_falls_are_alike_in_time_that_goes_with_the_root_of_length():
    """Both fall limp from the same angle; at t √λ the larger one has the same joint angles."""
    heights = []
    for robot, time in ((hrp2(), 0.4), (similar(hrp2(), "large", BY), 0.4 * BY.time)):
        robot.stand_on_ground()
        world = tabi.World()
        world.add_ground(friction=0.8)
        fallen = world.add_robot(robot)
        sim = tabi.Simulator(world, dt=time / 800)
        sim.set_gains(np.zeros(len(sim.v)), np.zeros(len(sim.v)))
        sim.run(time)
        heights.append(float(sim.position(fallen.base)[2]))
    # contacts, friction and all: only the order of sums differs
    assert heights[1] == pytest.approx(1.5 * heights[0], rel=1e-6)


def test_welded_joints_are_gone_and_nothing_else_moves():
    whole, fewer = (
        hrp2(),
        similar(hrp2(), "stiff", Similarity(1.0, 1.0), ("CHEST_Y", "LARM_WRIST_P")),
    )
    assert set(whole.joint_names) - set(fewer.joint_names) == {"CHEST_Y", "LARM_WRIST_P"}
    assert fewer.mass == pytest.approx(whole.mass)
    for robot in (whole, fewer):
        robot.stand_on_ground("zero")
    here, there = (robot.placements(robot.at_zero()) for robot in (fewer, whole))
    for body in fewer.bodies:
        known = there[whole.body(body.name)]
        assert here[body].p == pytest.approx(known.p, abs=1e-12), body.name
    centre = [
        sum(b.inertia.mass * (X @ b.inertia.centre) for b, X in places.items()) / 58.0
        for places in (here, there)
    ]
    assert centre[0] == pytest.approx(centre[1], abs=1e-12)


def test_a_body_has_another_name_and_the_base_its_joint():
    robot = similar(hrp2(), "named", BY, renamed={"waist": "trunk"})
    assert robot.base.name == "trunk"
    assert robot.base.joint.name == "TRUNK"


def test_rubber_of_a_similar_robot_rocks_alike():
    """Of k against m g h, of c/√(k I) and of the same along the normal no factor is left: c of a
    similar robot in the same gravity rocks it with the same damping ratio, in √λ of the time.
    """
    known = (500.0, 5.0, 1e5, 100.0)
    turning, turning_damping, normal, normal_damping = BY.bush(known)
    mass, length = 3.0, 1.5
    inertia = mass * length**2
    assert turning / (mass * length) == pytest.approx(known[0])
    assert turning_damping / np.sqrt(turning * inertia) == pytest.approx(known[1] / np.sqrt(500.0))
    # sinks by a length that is λ times as long
    assert mass / normal == pytest.approx(length / known[2])
    assert normal_damping / np.sqrt(normal * mass) == pytest.approx(known[3] / np.sqrt(1e5))
