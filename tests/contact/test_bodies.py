"""The same problem in the space of bodies and as a matrix."""

import numpy as np
import pytest
from contact.problems import coulomb_violation, problem

from tabi.contact import bodies, certificate, newton, workspace
from tabi.contact.blocks import velocities
from tabi.spatial.transform import cross_matrix, from_quaternion


def random_bodies(rng, count=3, contacts=7, mu=0.6, speed=1.0):
    """Bodies of which the first two hang together (a full Ω between them), with contacts to each other and the ground."""
    L = rng.normal(size=(12, 12))
    pair = L @ L.T / 12 + 0.3 * np.eye(12)
    blocks = {(i, j): pair[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] for i in range(2) for j in range(2)}
    for i in range(2, count):
        L = rng.normal(size=(6, 6))
        blocks[i, i] = L @ L.T / 6 + 0.3 * np.eye(6)
    pairs = sorted(blocks)
    a = rng.integers(0, count, contacts)
    b = np.where(rng.random(contacts) < 0.5, -1, (a + 1) % count)
    p = bodies.BodyProblem(
        a=a,
        b=b,
        frame=np.array([from_quaternion(rng.normal(size=4)).R.ravel() for _ in range(contacts)]),
        arm_a=0.3 * rng.normal(size=(contacts, 3)),
        arm_b=0.3 * rng.normal(size=(contacts, 3)),
        start=np.searchsorted([i for i, _ in pairs], np.arange(count + 1)),
        column=np.array([j for _, j in pairs]),
        omega=np.array([blocks[key] for key in pairs]),
        q=speed * (rng.normal(size=3 * contacts) - np.tile([0, 0, 1.0], contacts)),
        mu=np.full(contacts, mu),
        weight=np.zeros(contacts),
    )
    bodies.weights(p, p.weight)
    return p, matrix(p, blocks, count)


def matrix(p, blocks, count):
    """W = J Ω Jᵀ, by plain matrices."""
    omega, J = np.zeros((6 * count, 6 * count)), np.zeros((len(p.q), 6 * count))
    for (i, j), block in blocks.items():
        omega[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = block
    for k in range(len(p.mu)):
        E = p.frame[k].reshape(3, 3)
        J[3 * k : 3 * k + 3, 6 * p.a[k] : 6 * p.a[k] + 6] += E @ np.hstack([-cross_matrix(p.arm_a[k]), np.eye(3)])
        if p.b[k] >= 0:
            J[3 * k : 3 * k + 3, 6 * p.b[k] : 6 * p.b[k] + 6] -= E @ np.hstack([-cross_matrix(p.arm_b[k]), np.eye(3)])
    return J @ omega @ J.T


@pytest.mark.parametrize("seed", range(5))
def test_velocities_and_weights_are_those_of_the_matrix(seed):
    rng = np.random.default_rng(seed)
    p, W = random_bodies(rng)
    work, impulse, u = bodies.allocate(7, 3), rng.normal(size=21), np.zeros(21)
    bodies.velocities(p, impulse, u, work)
    assert np.allclose(u, W @ impulse + p.q, atol=1e-12)
    assert np.allclose(p.weight, problem(W, p.q, p.mu).blocks.weight, rtol=1e-12)


@pytest.mark.parametrize("kind", [newton.ALART_CURNIER, newton.JEAN_MOREAU, newton.NATURAL])
def test_newtons_direction_is_that_of_the_matrix(kind):
    rng = np.random.default_rng(10 + kind)
    for _ in range(10):
        p, W = random_bodies(rng)
        blocks, small, large = problem(W, p.q, p.mu).blocks, bodies.allocate(7, 3), workspace.allocate(7)
        impulse, u = rng.normal(size=21) + np.tile([0, 0, 1.0], 7), np.zeros(21)
        velocities(blocks, impulse, u)
        assert bodies.direction(p, kind, 1.0, 1e-3, u, impulse, small)
        assert newton._direction(blocks, kind, 1.0, 1e-3, u, impulse, large)
        assert np.allclose(small.delta, large.delta, atol=1e-8 * np.abs(large.delta).max())


def test_it_solves_what_the_judge_and_the_law_accept():
    rng = np.random.default_rng(20)
    solved = 0
    for _ in range(40):
        p, W = random_bodies(rng, mu=rng.uniform(0.1, 1.0))
        impulse, work = np.zeros(21), bodies.allocate(7, 3)
        goal = 1e-8 * np.abs(p.q).max()
        _, error = bodies.solve(p, newton.ALART_CURNIER, 1.0, 1e-6, goal, 60, impulse, work)
        judged = certificate.judge(problem(W, p.q, p.mu).blocks, impulse)
        # the form's own residual is the judge's, to rounding
        assert error == pytest.approx(judged.residual, abs=1e-12)
        if error <= goal:
            solved += 1
            assert coulomb_violation(W, p.q, p.mu, impulse) < 1e-6
    assert solved >= 38
