"""Centre of pressure and zero moment point: no moment is left there but one about the normal."""

import numpy as np
import pytest

from tabi.dynamics import loads
from tabi.spatial.transform import from_quaternion


def zmp(point, normal, force, moment=None, side=None, count=None):
    """The zero moment points of one table of contacts."""
    point, normal, force = (np.array(x, float).reshape(-1, 3) for x in (point, normal, force))
    moment = np.zeros_like(point) if moment is None else moment
    side = np.ones(len(point)) if side is None else side
    count = np.array([len(point)] if count is None else count)
    out = np.empty((len(count), 3))
    loads.zero_moment_points(count, side, point, normal, force, moment, out)
    return out


def contacts(seed, count=6):
    """Forces in their friction cones at points of the ground, with small moments about it."""
    rng = np.random.default_rng(seed)
    point = np.column_stack([rng.uniform(-0.2, 0.2, (count, 2)), np.zeros(count)])
    force = np.column_stack([rng.uniform(-20, 20, (count, 2)), rng.uniform(5, 60, count)])
    return point, np.tile([0.0, 0.0, 1.0], (count, 1)), force, rng.normal(0.0, 0.3, (count, 3))


def moment_at(place, point, force, moment):
    return (np.cross(point - place, force) + moment).sum(axis=0)


def turned(seed):
    rng = np.random.default_rng(seed)
    # any heading, and up to some 45° of slope
    heading, (x, y) = rng.uniform(0, np.pi), rng.uniform(-0.25, 0.25, 2)
    q = np.array([np.cos(heading), x, y, np.sin(heading)])
    return from_quaternion(q / np.linalg.norm(q)).R


@pytest.mark.parametrize("seed", range(8))
def test_on_any_slope_it_is_in_the_plane_and_no_moment_along_it_is_left(seed):
    R, shift = turned(seed), np.array([1.0, -2.0, 0.5])
    point, normal, force, moment = contacts(seed)
    (found,) = zmp(point @ R.T + shift, normal @ R.T, force @ R.T, moment @ R.T)
    n = R[:, 2]
    assert n[2] > loads.MIN_NORMAL_Z
    assert (found - shift) @ n == pytest.approx(0.0, abs=1e-12)
    left = moment_at(found, point @ R.T + shift, force @ R.T, moment @ R.T)
    np.testing.assert_allclose(np.cross(left, n), 0.0, atol=1e-11)
    # it turns and moves with the ground
    (level,) = zmp(point, normal, force, moment)
    np.testing.assert_allclose(found, R @ level + shift, atol=1e-12)
    # and is the centre of pressure of the wrench about any point of the plane
    F, M = force.sum(axis=0), moment_at(np.zeros(3), point, force, moment)
    np.testing.assert_allclose(loads.centre_of_pressure(tuple(F), tuple(M)), level[:2], atol=1e-12)
    np.testing.assert_allclose(loads.pressure_point(F, M), level[:2], atol=1e-12)


def test_on_stairs_it_moves_from_foot_to_foot_as_the_load_does():
    point = np.array([[0.1, 0.1, 0.0], [0.3, -0.1, 0.2]])
    up = np.tile([0.0, 0.0, 1.0], (2, 1))
    found = []
    for share in (1.0, 0.7, 0.5, 1e-9, 0.0):
        force = np.array([[0.0, 0.0, share], [0.0, 0.0, 1.0 - share]]) * 500.0
        found.append(zmp(point, up, force)[0])
        # with vertical forces alone it is where the load is, in all three directions
        np.testing.assert_allclose(found[-1], share * point[0] + (1 - share) * point[1], atol=1e-12)
    np.testing.assert_allclose(found[-2], found[-1], atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_a_wall_adds_its_force_and_not_its_plane(seed):
    point, normal, force, moment = contacts(seed)
    wall = np.array([[0.5, 0.0, 1.0]]), np.array([[-1.0, 0.0, 0.0]]), np.array([[-30.0, 0.0, 10.0]])
    both = [np.vstack(pair) for pair in zip((point, normal, force), wall, strict=True)]
    more = np.vstack([moment, np.zeros((1, 3))])
    (found,) = zmp(*both, more)
    assert found[2] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(moment_at(found, both[0], both[2], more)[:2], 0.0, atol=1e-11)


def test_reactions_count_with_their_sides_and_what_is_inside_does_not():
    point, normal, force, moment = contacts(3)
    (level,) = zmp(point, normal, force, moment)
    side = np.ones(6)
    # the robot is the second body of two contacts
    side[:2] = -1.0
    sign = side[:, None]
    np.testing.assert_allclose(
        zmp(point, sign * normal, sign * force, sign * moment, side)[0], level
    )
    # its hand on its own thigh
    inner = [
        np.vstack([a, b])
        for a, b in zip(
            (point, normal, force), (point[:1] + 1, [[0, 0, 1.0]], [[0, 0, 9.0]]), strict=True
        )
    ]
    found = zmp(*inner, np.vstack([moment, np.zeros((1, 3))]), np.append(np.ones(6), 0.0))
    np.testing.assert_allclose(found[0], level)


def test_without_a_load_there_is_none():
    nothing = np.zeros((0, 3))
    assert np.isnan(zmp(nothing, nothing, nothing, count=[0, 0])).all()
    hangs = zmp([[0, 0, 2.0]], [[0, 0, -1.0]], [[0, 0, 300.0]])
    assert np.isnan(hangs).all()
    assert loads.pressure_point(np.zeros(3), np.ones(3)) is None
    # rows follow each other
    point, normal, force, _ = contacts(1)
    both = zmp(point, normal, force, count=[0, 2, 4])
    assert np.isnan(both[0]).all()
    np.testing.assert_allclose(both[1], zmp(point[:2], normal[:2], force[:2])[0])
    np.testing.assert_allclose(both[2], zmp(point[2:], normal[2:], force[2:])[0])
