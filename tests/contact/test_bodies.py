"""The same problem in the space of bodies and as a matrix."""

import numpy as np
import pytest
from contact.problems import problem

from tabi import contact
from tabi.contact import bodies, body_sweep, certificate, gauss_seidel, workspace
from tabi.spatial.transform import cross_matrix, from_quaternion


def random_bodies(rng, count=3, contacts=7, mu=0.6, speed=1.0):
    """Bodies of which the first two hang together (a full Ω between them),
    with contacts to each other and the ground.
    """
    L = rng.normal(size=(12, 12))
    pair = L @ L.T / 12 + 0.3 * np.eye(12)
    blocks = {
        (i, j): pair[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] for i in range(2) for j in range(2)
    }
    for i in range(2, count):
        L = rng.normal(size=(6, 6))
        blocks[i, i] = L @ L.T / 6 + 0.3 * np.eye(6)
    pairs = sorted(blocks)
    a = rng.integers(0, count, contacts)
    b = np.where(rng.random(contacts) < 0.5, -1, (a + 1) % count)
    p = bodies.problem(
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
    )
    return p, matrix(p, blocks, count)


def matrix(p, blocks, count):
    """W = J Ω Jᵀ, by plain matrices."""
    omega, J = np.zeros((6 * count, 6 * count)), np.zeros((len(p.q), 6 * count))
    for (i, j), block in blocks.items():
        omega[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = block
    for k in range(len(p.mu)):
        E = p.contact["frame"][k].reshape(3, 3)
        J[3 * k : 3 * k + 3, 6 * p.contact["a"][k] : 6 * p.contact["a"][k] + 6] += E @ np.hstack(
            [-cross_matrix(p.contact["arm_a"][k]), np.eye(3)]
        )
        if p.contact["b"][k] >= 0:
            J[3 * k : 3 * k + 3, 6 * p.contact["b"][k] : 6 * p.contact["b"][k] + 6] -= (
                E @ np.hstack([-cross_matrix(p.contact["arm_b"][k]), np.eye(3)])
            )
    return J @ omega @ J.T


@pytest.mark.parametrize("seed", range(5))
def test_velocities_and_weights_are_those_of_the_matrix(seed):
    rng = np.random.default_rng(seed)
    p, W = random_bodies(rng)
    work, impulse, u = bodies.allocate(7, 3), rng.normal(size=21), np.zeros(21)
    bodies.velocities(p, impulse, u, work.wrench, work.twist)
    assert np.allclose(u, W @ impulse + p.q, atol=1e-12)
    assert np.allclose(p.weight, problem(W, p.q, p.mu).blocks.weight, rtol=1e-12)


def test_the_judges_velocities_are_those_of_the_matrix():
    rng = np.random.default_rng(6)
    for _ in range(5):
        p, W = random_bodies(rng)
        impulse = rng.normal(size=21)
        assert np.allclose(p.velocities(impulse), W @ impulse + p.q, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_sweep_over_bodies_is_the_sweep_over_the_matrix(seed):
    rng = np.random.default_rng(40 + seed)
    p, W = random_bodies(rng, mu=0.4)
    work, other = bodies.allocate(7, 3), workspace.allocate(7)
    body_sweep.local_blocks(p, work)
    ours, theirs = np.zeros(21), np.zeros(21)
    for _ in range(4):
        body_sweep.sweep(p, ours, work)
        gauss_seidel.sweep(problem(W, p.q, p.mu).blocks, theirs, other)
        # both solve each contact to rounding
        assert np.allclose(ours, theirs, atol=1e-11)


def test_the_door_solves_bodies_by_every_solver_and_says_the_same_as_for_the_matrix():
    p, W = random_bodies(np.random.default_rng(50))
    for solver in contact.SOLVERS:
        s = contact.solve_bodies(p, solver=solver)
        assert s.converged
        judged = certificate.judge(problem(W, p.q, p.mu).blocks, s.impulse)
        assert s.certificate.residual == pytest.approx(judged.residual, abs=1e-14)
        assert np.allclose(s.velocity, W @ s.impulse + p.q, atol=1e-12)
    with pytest.raises(contact.ProblemError, match="initial has 3 numbers; expected 21"):
        contact.solve_bodies(p, initial=[0.0, 0.0, 1.0])


def test_no_contacts_between_bodies_are_solved():
    none = np.zeros((0, 3))
    p = bodies.problem(
        a=[],
        b=[],
        frame=np.zeros((0, 9)),
        arm_a=none,
        arm_b=none,
        start=[0],
        column=[],
        omega=np.zeros((0, 6, 6)),
        q=[],
        mu=[],
    )
    assert contact.solve_bodies(p).converged
