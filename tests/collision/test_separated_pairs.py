"""Pairs that are known to be apart: never one that is nearer than its band."""

import numpy as np
import pytest
from collision.scenes import PAIRS, random_geometry, random_quaternion, two_bodies

from tabi.collision import separated_pairs
from tabi.collision.workspace import allocate


@pytest.mark.parametrize("kinds", PAIRS)
def test_what_is_known_agrees_with_what_a_fresh_memory_finds(kinds):
    rng = np.random.default_rng(len(kinds[0]) * 7 + len(kinds[1]))
    scene = two_bodies(*(random_geometry(kind, rng) for kind in kinds))
    q, skipped = scene.model.initial(), 0
    q[:3], q[3:7] = (0.7, 0.1, 0.2), random_quaternion(rng)
    q[7:10], q[10:14] = (0, 0, 0), random_quaternion(rng)
    # shape a is the one of the later body
    for _ in range(300):
        q[:3] += 2e-3 * rng.normal(size=3) - 0.01 * q[:3]
        q[3:7] += 2e-3 * rng.normal(size=4)
        q[3:7] /= np.linalg.norm(q[3:7])
        scene.place(q)
        known = separated_pairs.is_separated(scene.tables, scene.memory, 1, 0, 1e-3)
        skipped += known
        kept = scene.memory
        scene.memory = allocate(scene.tables, 64)
        fresh = scene.pair(q, 1, 0, 1e-3)
        scene.memory = kept
        assert not (known and len(fresh) > 0)
        if not known:
            scene.pair(q, 1, 0, 1e-3)
    # the memory is of use while they are apart
    assert skipped > 0


def test_a_wider_band_asks_again():
    scene = two_bodies(*(random_geometry("box", np.random.default_rng(k)) for k in (1, 2)))
    q = scene.model.initial()
    q[:3] = (1.0, 0.0, 0.0)
    scene.pair(q, 1, 0, 1e-3)
    assert separated_pairs.is_separated(scene.tables, scene.memory, 1, 0, 1e-3)
    assert not separated_pairs.is_separated(scene.tables, scene.memory, 1, 0, 2.0)
    assert not separated_pairs.is_separated(scene.tables, scene.memory, 0, 1, 1e-3)


def test_a_pair_that_jumps_is_asked_again():
    scene = two_bodies(*(random_geometry("convex", np.random.default_rng(k)) for k in (1, 2)))
    q = scene.model.initial()
    q[:3] = (3.0, 0.0, 0.0)
    assert len(scene.pair(q, 1, 0, 1e-3)) == 0
    q[:3] = (0.2, 0.0, 0.0)
    assert len(scene.detect(q)) > 0
