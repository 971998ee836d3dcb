"""Columns of kinematics, energy and contact sums against the compiled algorithms and the simulator,
row by row.
"""

import numpy as np
import pytest

import tabi
from tabi import dynamics
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.recording import anatomy, tracks
from tabi.spatial.inertia import solid_box
from tabi.spatial.transform import about


def zoo():
    """A tree with a joint of every kind, on a floating base, and a box beside it."""
    robot = Robot("zoo")
    parent = robot.add_body(
        "base", Joint("root", "floating"), inertia=solid_box(3.0, (0.2, 0.3, 0.4))
    )
    for k, kind in enumerate(
        ("revolute", "prismatic", "spherical", "planar", "continuous", "fixed")
    ):
        axis = np.array([1.0, 0.5 * k, -0.3]) / np.linalg.norm([1.0, 0.5 * k, -0.3])
        joint = Joint(
            f"j{k}",
            kind,
            placement=about((0, 1, 2), 0.3 * k, (0.1, 0.02 * k, 0.2)),
            axis=axis,
            stiffness=5.0 if kind == "prismatic" else 0.0,
        )
        parent = robot.add_body(
            f"b{k}", joint, parent, inertia=solid_box(1.0 + k, (0.1, 0.2, 0.1 + 0.05 * k))
        )
    world = tabi.World()
    world.add_robot(robot)
    world.add_box(size=(0.1, 0.2, 0.3), mass=2.0, position=(1.0, 0.0, 0.5))
    return world


def states(model, count=7):
    rng = np.random.default_rng(4)
    q = [
        dynamics.integrate(model, model.neutral(), rng.normal(size=model.v_count), 1.0)
        for _ in range(count)
    ]
    return np.array(q), rng.normal(size=(count, model.v_count))


def test_places_and_speeds_of_every_kind_of_joint_are_those_of_the_compiled_kinematics():
    world = zoo()
    model = world.compile()
    a = anatomy.of(world, model)
    q, v = states(model)
    moved = tracks.motion(a, q, v)
    assert (a.q_count, a.v_count) == (model.q_count, model.v_count)
    for row in range(len(q)):
        for name, link in model.links.items():
            if link.body == 0:
                continue
            X = dynamics.pose(model, q[row], name)
            V = dynamics.velocity(model, q[row], v[row], name)
            R = moved.rotation[link.body, row]
            # both are sums of a few products: rounding only
            assert pytest.approx(X.R, abs=1e-12) == R @ link.placement.R
            arm = R @ link.placement.p
            assert moved.position[link.body, row] + arm == pytest.approx(X.p, abs=1e-12)
            assert moved.angular[link.body, row] == pytest.approx(V.angular, abs=1e-12)
            assert moved.linear[link.body, row] + np.cross(V.angular, arm) == pytest.approx(
                V.linear, abs=1e-12
            )


def test_energy_and_centre_of_mass_are_those_of_the_compiled_sums():
    world = zoo()
    model = world.compile()
    a = anatomy.of(world, model)
    q, v = states(model)
    moved = tracks.motion(a, q, v)
    kinetic, potential = tracks.energy(a, moved, q, v)
    expected = [dynamics.energy(model, *row) for row in zip(q, v, strict=True)]
    assert kinetic == pytest.approx([e.kinetic for e in expected], rel=1e-12)
    assert potential == pytest.approx([e.potential for e in expected], rel=1e-12)
    centre = tracks.centres_of_mass(a, moved)
    assert centre.shape == (len(q), 1, 3)
    assert centre[:, 0] == pytest.approx(
        np.array([dynamics.centre_of_mass(model, row, "zoo") for row in q]), abs=1e-12
    )


def test_contact_sums_are_those_of_one_force_at_a_known_point():
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    model = world.compile()
    a = anatomy.of(world, model)
    moved = tracks.motion(a, model.initial()[None])
    foot, names = a.feet.names.index("left"), list(model.links)
    (origin, R), at = tracks.foot_frames(a, moved), np.array([0.03, -0.02])
    point = origin[foot, 0] + R[foot, 0][:, :2] @ at
    contacts = {
        "body_a": np.array([names.index("left_foot")]),
        "body_b": np.array([names.index("world")]),
        "point": point[None],
        "force": np.array([[10.0, 5.0, 100.0]]),
        "moment": np.zeros((1, 3)),
        "normal": np.array([[0.0, 0.0, 1.0]]),
    }
    one = np.array([1])
    found = tracks.of_contacts(a, moved, one, contacts)
    # one force acts at its own point, on this foot alone
    assert found["wrench"][0, foot, :3] == pytest.approx([10.0, 5.0, 100.0])
    assert found["pressure"][0, foot] == pytest.approx(at, abs=1e-12)
    assert tracks.zero_moment_points(a, one, contacts)[0, 0] == pytest.approx(point, abs=1e-12)
    # a moment about y shifts the point where the force alone would act,
    # forwards by its part of the load
    turning = contacts | {"moment": np.array([[0.0, -2.0, 1.0]])}
    turned = tracks.of_contacts(a, moved, one, turning)
    assert turned["wrench"][0, foot] == pytest.approx(
        found["wrench"][0, foot] + [0, 0, 0, 0, -2.0, 1.0]
    )
    shifted = tracks.zero_moment_points(a, one, turning)[0, 0]
    assert shifted == pytest.approx(point + np.array([0.02, 0.0, 0.0]), abs=1e-12)
    other = 1 - foot
    assert np.isnan(found["pressure"][0, other]).all()
    assert not found["wrench"][0, other].any()


def test_quaternion_of_length_zero_turns_nothing():
    assert np.array_equal(
        tracks.rotations(np.array([[0.0, 0, 0, 0], [2.0, 0, 0, 0]])), [np.eye(3), np.eye(3)]
    )
