"""Groups of trees by the factors of their joints, against the same problem with a block for every
two bodies, and against plain matrices.
"""

import numpy as np
import pytest

from tabi import contact
from tabi.contact import bodies, body_sweep, maps, trees, twist_newton, weights
from tabi.contact.algebra import tree_lu
from tabi.contact.rows import BILATERAL
from tabi.spatial.transform import from_quaternion

# two trees, one of them with branches, and a free body; parents before children
PARENT = np.array([-1, 0, 1, 1, 0, -1, 5, 6, -1, 2])


def factors(rng, parent=PARENT):
    """start, column and factors of bodies, joints of one to three degrees of freedom
    and of none.
    """
    count = len(parent)
    start = 3 * np.arange(count + 1)
    omega = np.zeros((3 * count, 6, 6))
    for i, a in enumerate(parent):
        R = 0.5 * rng.normal(size=(6, 6 if a < 0 else i % 4))
        omega[3 * i] = np.eye(6) - R @ rng.normal(size=(R.shape[1], 6)) / 3
        omega[3 * i + 1] = R @ R.T
        omega[3 * i + 2] = R @ R.T
        if a >= 0:
            omega[3 * i + 2] += omega[3 * i] @ omega[3 * a + 2] @ omega[3 * i].T
    return start, np.repeat(np.arange(count), 3), omega


def full(parent, omega):
    """Ω = (1 − P)⁻¹ N (1 − P)⁻ᵀ."""
    count = len(parent)
    P, N = np.zeros((6 * count, 6 * count)), np.zeros((6 * count, 6 * count))
    for i, a in enumerate(parent):
        here = slice(6 * i, 6 * i + 6)
        N[here, here] = omega[3 * i + 1]
        if a >= 0:
            P[here, 6 * a : 6 * a + 6] = omega[3 * i]
    L = np.linalg.inv(np.eye(6 * count) - P)
    return L @ N @ L.T


def pair(rng, contacts=14, parent=PARENT, mu=0.6):
    """A problem by factors, and the same with blocks: contacts with the ground, between links of
    one tree and between trees; the last rows bonds, one of them about rotations.
    """
    count = len(parent)
    start, column, omega = factors(rng, parent)
    a = rng.integers(0, count, contacts)
    b = np.where(rng.random(contacts) < 0.5, -1, (a + rng.integers(1, count, contacts)) % count)
    # a closed loop, and two trees held together: with joints enough between them to have an answer
    a[-3:], b[-3:] = [3, 2, 2], [4, 6, 7]
    blocks = trees.with_blocks(parent, start, column, omega)
    p = bodies.problem(
        a=a,
        b=b,
        frame=np.array([from_quaternion(rng.normal(size=4)).R.ravel() for _ in range(contacts)]),
        arm_a=0.3 * rng.normal(size=(contacts, 3)),
        arm_b=0.3 * rng.normal(size=(contacts, 3)),
        start=blocks[0],
        column=blocks[1],
        omega=blocks[2],
        q=rng.normal(size=3 * contacts) - np.tile([0, 0, 1.0], contacts),
        mu=np.full(contacts, mu),
    )
    p.kind[-3:], p.mu[-3:] = BILATERAL, 0.0
    p.contact["angular"][-1] = 1
    weights.weights(p)
    linked = p._replace(
        start=start, column=column, omega=omega, parent=parent, weight=np.zeros(contacts)
    )
    weights.weights(linked)
    return linked, p


def work_for(p):
    """Memory as large as the problem asks for, prepared."""
    sizes = len(p.mu), len(p.start) - 1
    work = bodies.allocate(*sizes, bodies.prepare(p, bodies.allocate(*sizes, 0)))
    bodies.prepare(p, work)
    return work


def dense(p):
    """Ω of a problem with blocks, as one matrix."""
    count = len(p.start) - 1
    O = np.zeros((6 * count, 6 * count))
    for i in range(count):
        for e in range(p.start[i], p.start[i + 1]):
            j = p.column[e]
            O[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = p.omega[e]
    return O


@pytest.mark.parametrize("seed", range(3))
def test_blocks_from_factors_are_omega(seed):
    linked, p = pair(np.random.default_rng(seed))
    assert np.allclose(dense(p), full(PARENT, linked.omega), atol=1e-12)
    # bodies of different trees have no block
    assert len(p.column) == 6**2 + 3**2 + 1


@pytest.mark.parametrize("seed", range(3))
def test_velocities_and_weights_are_those_of_the_blocks(seed):
    rng = np.random.default_rng(10 + seed)
    linked, p = pair(rng)
    impulse = rng.normal(size=len(p.q))
    u, F, V = np.zeros(len(p.q)), np.zeros(60), np.zeros(60)
    bodies.velocities(linked, impulse, u, F, V)
    assert np.allclose(u, p.velocities(impulse), atol=1e-12)
    assert np.allclose(linked.velocities(impulse), p.velocities(impulse), atol=1e-12)
    assert np.allclose(linked.weight, p.weight, rtol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_a_sweep_is_that_of_the_blocks(seed):
    rng = np.random.default_rng(20 + seed)
    linked, p = pair(rng)
    first, found = rng.normal(size=len(p.q)), []
    for problem in (linked, p):
        work, impulse = work_for(problem), first.copy()
        body_sweep.local_blocks(problem, work)
        body_sweep.sweep(problem, impulse, work)
        found.append((work.block.copy(), impulse))
    assert np.allclose(found[0][0], found[1][0], atol=1e-11)
    assert np.allclose(found[0][1], found[1][1], atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_elimination_solves_the_system_with_any_stiffness(seed):
    rng = np.random.default_rng(30 + seed)
    linked, p = pair(rng)
    work, count = work_for(linked), len(PARENT)
    tree_lu.clear(work.lu, work.stiffness, count)
    S = np.zeros((6 * count, 6 * count))
    for i in range(count):
        for j in [i, *linked.contact["b"][linked.contact["a"] == i]]:
            if j >= 0:
                for r, q in {(i, j), (j, i)}:
                    # not symmetric, and stiffer than the bodies are heavy
                    block = 100.0 * (rng.normal(size=(6, 6)) + 3.0 * (r == q) * np.eye(6))
                    work.stiffness[work.lu.slot[r, q]] = block
                    S[6 * r : 6 * r + 6, 6 * q : 6 * q + 6] = block
    F, V = rng.normal(size=6 * count), np.zeros(6 * count)
    expected = np.linalg.solve(np.eye(6 * count) + dense(p) @ S, dense(p) @ F)
    assert tree_lu.solve(linked, work.lu, work.stiffness, F, V)
    assert np.allclose(V, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("kind", [maps.ALART_CURNIER, maps.JEAN_MOREAU, maps.NATURAL])
def test_newtons_direction_is_that_of_the_blocks(kind):
    rng = np.random.default_rng(40 + kind)
    for _ in range(5):
        linked, p = pair(rng)
        impulse, found = rng.normal(size=len(p.q)) + np.tile([0, 0, 1.0], len(p.mu)), []
        u = p.velocities(impulse)
        for problem in (linked, p):
            work = work_for(problem)
            # twice: what elimination left in the first turn must not be seen in the second
            for _ in range(2):
                assert twist_newton.direction(problem, kind, 1.0, 1e-3, u, impulse, work)
            found.append(work.delta.copy())
        assert np.allclose(*found, atol=1e-7 * np.abs(found[1]).max())


def test_solutions_are_certified_by_the_blocks():
    rng, solved = np.random.default_rng(50), 0
    for _ in range(20):
        linked, p = pair(rng, mu=rng.uniform(0.1, 1.0))
        answer = contact.solve_bodies(linked)
        judged = contact.judge(p, answer.impulse)
        assert judged.residual == pytest.approx(answer.certificate.residual, abs=1e-11)
        solved += judged.converged(1e-8)
    # the same share as with blocks: random normals leave some problems without a solution
    assert solved >= 15


@pytest.mark.parametrize("count", [10, 20, 96])
def test_links_on_the_ground_cost_three_blocks_each(count):
    for parent in (
        np.arange(count) - 1,
        np.maximum(np.arange(count) - 4, np.minimum(np.arange(count) - 1, 0)),
    ):
        linked, _ = pair(np.random.default_rng(60), parent=parent, contacts=3)
        linked.contact["b"] = -1
        work = bodies.allocate(3, count, 0)
        assert bodies.prepare(linked, work) == 3 * count - 2
        # elimination meets nobody but the parent
        assert work.lu.laters.max() == 1
        place = np.argsort(work.lu.order)
        assert all(place[i] < place[a] for i, a in enumerate(parent) if a >= 0)


def test_contacts_between_neighbours_in_a_chain_fill_nothing():
    parent = np.arange(30) - 1
    linked, _ = pair(np.random.default_rng(61), parent=parent, contacts=29)
    linked.contact["a"], linked.contact["b"] = np.arange(29), np.arange(1, 30)
    assert bodies.prepare(linked, bodies.allocate(29, 30, 0)) == 3 * 30 - 2


def test_a_pivot_that_is_no_number_is_refused():
    linked, _ = pair(np.random.default_rng(62))
    work = work_for(linked)
    tree_lu.clear(work.lu, work.stiffness, len(PARENT))
    work.stiffness[work.lu.slot[3, 3]] = np.nan
    assert not tree_lu.solve(linked, work.lu, work.stiffness, np.ones(60), np.zeros(60))
