"""Free rigid bodies: what a step without contacts does to points that touch."""

import numpy as np

import tabi
from tabi import dynamics
from tabi.lab.family import rigid
from tabi.lab.family.case import GRAVITY, STEP


def test_velocities_at_the_contacts_are_those_of_the_dynamics():
    rng = np.random.default_rng(0)
    size, mass, point = (0.4, 0.2, 0.1), 3.0, np.array([0.2, -0.1, -0.05])
    world = tabi.World()
    world.add_box(size, mass, name="box")
    model = world.compile()
    v = rng.normal(size=6)
    after = v + STEP * dynamics.forward_dynamics(model, model.initial(), v, np.zeros(6))
    expected = after[:3] + np.cross(after[3:], point)
    free = rigid.boxes([mass], [size], [(0.0, 0.0, 0.0)], [[*v[3:], *v[:3]]])
    gap = 2e-5
    p = rigid.assemble(free, rigid.upright([(0, -1)], [point[None]], 0.5, gap))
    assert np.allclose(p.q, expected + np.array([0, 0, gap / STEP]), rtol=0, atol=1e-14)


def test_two_bodies_feel_the_difference_of_their_velocities():
    free = rigid.boxes(
        [1.0, 2.0],
        np.ones((2, 3)),
        [(0, 0, 1.5), (0, 0, 0.5)],
        [[0, 0, 0, 1, 2, 3], [0, 0, 2, 0, 0, 0]],
    )
    corner = np.array([[0.5, 0.5, 1.0]])
    p = rigid.assemble(free, rigid.upright([(0, 1)], [corner], 0.5))
    # the lower box turns about z at 2 rad/s: its corner moves by (−1, 1, 0); both fall alike
    assert np.allclose(p.q, (1 + 1, 2 - 1, 3), atol=1e-14)
    assert np.allclose(STEP * GRAVITY, (0, 0, -9.81e-3))


def test_frames_are_right_handed_with_the_normal_last():
    normal = np.random.default_rng(1).normal(size=(50, 3))
    normal[0], normal[1] = (0, 0, 2), (-3, 0, 0)
    for n, frame in zip(normal, rigid.frames(normal).reshape(-1, 3, 3), strict=True):
        assert np.allclose(frame @ frame.T, np.eye(3), atol=1e-14)
        assert np.isclose(np.linalg.det(frame), 1)
        assert np.allclose(frame[2], n / np.linalg.norm(n))
    assert np.array_equal(rigid.frames(normal)[0].reshape(3, 3), np.eye(3))


def test_faces_that_meet_meet_in_their_common_rectangle():
    centre, size = np.array([[0.0, 0.0, 0.5], [0.3, -0.2, 1.5]]), np.ones((2, 3))
    corners = rigid.overlap(centre, size, 1, 0)
    assert sorted(map(tuple, corners)) == [
        (-0.2, -0.5, 1.0),
        (-0.2, 0.3, 1.0),
        (0.5, -0.5, 1.0),
        (0.5, 0.3, 1.0),
    ]
    assert sorted(map(tuple, rigid.underside(centre, size, 0))) == [
        (x, y, 0.0) for x in (-0.5, 0.5) for y in (-0.5, 0.5)
    ]


def test_shaken_bodies_move_as_fast_as_asked():
    twist = rigid.shaken(np.random.default_rng(2), 4000, 0.02, 0.1)
    # the mean square of 12,000 numbers, to three times its own deviation
    assert np.isclose(np.sqrt((twist[:, 3:] ** 2).mean()), 0.02, rtol=0.03)
    assert np.isclose(np.sqrt((twist[:, :3] ** 2).mean()), 0.2, rtol=0.03)
