"""Newton's system over contacts, made from bodies, against the one of the matrix."""

import numpy as np
import pytest
from contact.problems import problem
from contact.test_bodies import random_bodies

from tabi.contact import bodies, budget, maps, newton, point_newton, twist_newton, workspace
from tabi.contact.blocks import velocities


def memory_for(p, bodies_count):
    work = bodies.allocate(len(p.mu), bodies_count)
    assert bodies.prepare(p, work) <= bodies_count**2
    return work


@pytest.mark.parametrize("form", [maps.ALART_CURNIER, maps.JEAN_MOREAU, maps.NATURAL])
@pytest.mark.parametrize("count", [2, 3])
def test_with_few_points_the_direction_is_that_of_the_matrix_too(form, count):
    rng, opened, closed = np.random.default_rng(30 + form), 0, 0
    for _ in range(20):
        p, W = random_bodies(rng, 3, count)
        blocks, small = problem(W, p.q, p.mu).blocks, memory_for(p, 3)
        large = workspace.allocate(count)
        # impulses of both signs: some rows open, some stick, some slide
        impulse, u = rng.normal(size=3 * count), np.zeros(3 * count)
        velocities(blocks, impulse, u)
        before = int(small.budget[budget.WORK])
        assert twist_newton.direction(p, form, 1.0, 1e-3, u, impulse, small)
        # this way was taken, and is counted as less work
        assert small.budget[budget.WORK] < before
        assert newton._direction(blocks, form, 1.0, 1e-3, u, impulse, large)
        assert np.allclose(small.delta, large.delta, atol=1e-8 * np.abs(large.delta).max())
        opened += int((small.does == point_newton.OPENS).sum())
        closed += int((small.does != point_newton.OPENS).sum())
    assert opened > 0
    assert closed > 0


def test_many_corners_are_seen_from_their_body():
    p, _ = random_bodies(np.random.default_rng(3), 3, 30)
    work = memory_for(p, 3)
    assert point_newton.saves(p, work, 3 * 30) <= 0
    assert point_newton.saves(p, work, 3 * 2) > 0


def test_more_points_than_there_is_memory_for_are_left_to_the_bodies():
    p, _ = random_bodies(np.random.default_rng(4), 3, 3)
    assert point_newton.saves(p, memory_for(p, 3), 3 * workspace.MAX_DENSE_CONTACTS + 1) == 0
