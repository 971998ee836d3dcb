"""Newton's system over bodies against the one over contacts."""

import numpy as np
import pytest
from contact.problems import coulomb_violation, problem
from contact.test_bodies import random_bodies

from tabi.contact import bodies, certificate, maps, newton, twist_newton, workspace
from tabi.contact.blocks import velocities


@pytest.mark.parametrize("kind", [maps.ALART_CURNIER, maps.JEAN_MOREAU, maps.NATURAL])
def test_newtons_direction_is_that_of_the_matrix(kind):
    rng = np.random.default_rng(10 + kind)
    for _ in range(10):
        p, W = random_bodies(rng)
        blocks = problem(W, p.q, p.mu).blocks
        small = bodies.allocate(7, 3)
        large = workspace.allocate(7)
        impulse, u = rng.normal(size=21) + np.tile([0, 0, 1.0], 7), np.zeros(21)
        velocities(blocks, impulse, u)
        assert bodies.prepare(p, small) <= 9
        assert twist_newton.direction(p, kind, 1.0, 1e-3, u, impulse, small)
        assert newton._direction(blocks, kind, 1.0, 1e-3, u, impulse, large)
        assert np.allclose(small.delta, large.delta, atol=1e-8 * np.abs(large.delta).max())


def test_it_solves_what_the_judge_and_the_law_accept():
    rng = np.random.default_rng(20)
    solved = 0
    for _ in range(40):
        p, W = random_bodies(rng, mu=rng.uniform(0.1, 1.0))
        impulse, work = np.zeros(21), bodies.allocate(7, 3)
        goal = 1e-8 * np.abs(p.q).max()
        bodies.prepare(p, work)
        _, error = twist_newton.solve(p, maps.ALART_CURNIER, 1.0, 1e-6, goal, 60, impulse, work)
        judged = certificate.judge(problem(W, p.q, p.mu).blocks, impulse)
        # the form's own residual is the judge's, to rounding of the impulses
        assert error == pytest.approx(judged.residual, abs=1e-12 * max(1.0, np.abs(impulse).max()))
        if error <= goal:
            solved += 1
            # near the border of sticking the direction of friction is known to the tolerance over
            # the slip, 1e-6 m/s or more
            assert coulomb_violation(W, p.q, p.mu, impulse) < 1e-6 * max(1.0, np.abs(impulse).max())
    assert solved >= 38


def test_more_memory_than_the_problem_needs_changes_nothing():
    p, _ = random_bodies(np.random.default_rng(21))
    answers = []
    for contacts, count in ((7, 3), (20, 3)):
        impulse, work = np.zeros(21), bodies.allocate(contacts, count)
        bodies.prepare(p, work)
        answers.append(
            (twist_newton.solve(p, maps.ALART_CURNIER, 1.0, 1e-6, 1e-9, 60, impulse, work), impulse)
        )
    assert answers[0][0] == answers[1][0]
    assert np.array_equal(answers[0][1], answers[1][1])
