"""The broad phase: pairs in order, none lost, whatever the memory held before."""

import numpy as np
import pytest
from collision.scenes import KINDS, UNIT, Scene, random_geometry, random_quaternion, two_bodies

import tabi
from tabi.collision import broad, detect
from tabi.collision.workspace import allocate
from tabi.dynamics import kinematics
from tabi.model.shape import Box, Sphere


def heap(count=30):
    rng = np.random.default_rng(5)
    world = tabi.World()
    world.add_ground()
    world.add_fixed(random_geometry("box", rng), (0.3, 0.0, 0.1))
    for k in range(count):
        world.add_object(
            random_geometry(KINDS[k % len(KINDS)], rng), UNIT, (0, 0, 1 + k), random_quaternion(rng)
        )
    return Scene(world), rng


def near_pairs(scene, band):
    """By brute force: boxes that overlap when grown by the band;
    over the half-space both box and ball.
    """
    shape, pose = scene.tables.shape, scene.memory.pose
    found = []
    for i in range(len(shape)):
        for k in range(i):
            a, b = (i, k) if shape["body"][i] else (k, i)
            if shape["body"][a] == 0:
                continue
            if np.isinf(shape["reach"][b]):
                near = max(pose["low"][a][2], pose["position"][a][2] - shape["reach"][a]) < band
            else:
                near = (pose["low"][a] - band <= pose["high"][b]).all() and (
                    pose["high"][a] + band >= pose["low"][b]
                ).all()
            if near:
                found.append((a, b))
    return sorted(found)


@pytest.mark.slow
def test_no_pair_is_lost_whatever_the_call_before_has_left():
    scene, rng = heap()
    q = scene.model.initial()
    most = 0
    for _ in range(200):
        for k in range(scene.model.body_count):
            q[7 * k : 7 * k + 3] = 0.3 * rng.normal(size=3) + (0, 0, 0.5)
        scene.place(q)
        count = broad.candidates(scene.tables, scene.memory, 0.01)
        assert count <= len(scene.memory.sorted_pair)
        assert [tuple(row) for row in scene.memory.sorted_pair[:count].tolist()] == near_pairs(
            scene, 0.01
        )
        most = max(most, count)
    assert most > 100


def test_rows_of_the_call_before_are_no_part_of_a_bucket():
    scene, _ = heap(3)
    work = allocate(scene.tables, 64)
    # a pair of shape 2 from before lies where the bucket of shape 1 will be
    work.sorted_pair[0] = (2, 5)
    work.pair[:2] = [(2, 0), (1, 0)]
    broad._sort_pairs(work, 2)
    assert work.sorted_pair[:2].tolist() == [[1, 0], [2, 0]]


def test_the_band_of_a_pair_is_what_these_two_may_close():
    """Against velocities of random points of the smaller shape, as seen from the other one."""
    rng = np.random.default_rng(3)
    scene = two_bodies(Box((0.2, 0.1, 0.3)), Sphere(0.5))
    q, v = scene.model.initial(), rng.normal(size=12)
    q[:3], q[7:10] = (1.0, 0.2, 0.1), (0.1, 0.0, 2.0)
    kinematics.positions(scene.model.arrays, q, scene.work)
    kinematics.velocities(scene.model.arrays, v, scene.work)
    m, c, w, cw = scene.model.arrays, scene.tables, scene.work, scene.memory
    broad.place(m, c, w, 1e-3, cw)
    speed, turn = broad.relative(m, c, w, cw, 0, 1)
    # of floating bodies: velocities of the origin, then of rotation, both in the world's axes
    np.testing.assert_allclose(turn, v[3:6] - v[9:12], atol=1e-12)
    corners = q[:3] + (rng.choice((-0.5, 0.5), (200, 3)) * (0.2, 0.1, 0.3))
    first = v[:3] + np.cross(v[3:6], corners - q[:3])
    second = v[6:9] + np.cross(v[9:12], corners - q[7:10])
    closing = np.linalg.norm(first - second, axis=1).max()
    assert closing <= speed <= 1.5 * closing
    # all that a corner reaches within the step lies in its box
    moved = corners + 1e-3 * first
    assert (moved >= cw.pose["low"][0] - 1e-12).all()
    assert (moved <= cw.pose["high"][0] + 1e-12).all()


def test_two_that_move_together_have_no_wider_band_than_two_at_rest():
    scene = two_bodies(Sphere(0.1), Sphere(0.1))
    q, v = scene.model.initial(), np.tile([30.0, 2.0, 0.0, 0.0, 0.0, 0.0], 2)
    q[:3] = (0.21, 0.0, 0.0)
    kinematics.positions(scene.model.arrays, q, scene.work)
    kinematics.velocities(scene.model.arrays, v, scene.work)
    args = (scene.model.arrays, scene.tables, scene.work, 1e-3, 1e-3, scene.memory, scene.points)
    assert detect.detect(*args) == 0
    # against each other they do
    v[0] = -30.0
    kinematics.velocities(scene.model.arrays, v, scene.work)
    assert detect.detect(*args) == 1
