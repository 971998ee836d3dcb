"""The broad phase: pairs in order, none lost, whatever the memory held before."""

import numpy as np
from collision.scenes import KINDS, UNIT, Scene, random_geometry, random_quaternion

import tabi
from tabi.collision import broad
from tabi.collision.workspace import allocate


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
