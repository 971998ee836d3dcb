"""The matrix over contacts is J Ω Jᵀ, block for block."""

import os
import subprocess
import sys

import numpy as np
import pytest
from contact.plain import dense

from tabi.contact import bodies, matrix_form
from tabi.spatial.transform import from_quaternion


def random_trees(rng, trees, contacts, symmetric=True):
    """Trees of one to four bodies with full Ω, and contacts between any two bodies, of one tree or
    of two, or with the ground.
    """
    sizes = rng.integers(1, 5, trees)
    first = np.cumsum(sizes) - sizes
    count = int(sizes.sum())
    tree = np.repeat(np.arange(trees), sizes)
    start, column, omega = [0], [], []
    inverse = []
    for size in sizes:
        L = rng.normal(size=(6 * size, 6 * size))
        inverse.append(L @ L.T / 6 + np.eye(6 * size) if symmetric else L + 9 * np.eye(6 * size))
    for i in range(count):
        t = tree[i]
        # any order of columns will do
        for j in rng.permutation(sizes[t]):
            column.append(first[t] + j)
            omega.append(inverse[t][6 * (i - first[t]) :, 6 * j :][:6, :6])
        start.append(len(column))
    a = rng.integers(0, count, contacts)
    b = rng.integers(-1, count, contacts)
    b[b == a] = -1
    p = bodies.problem(
        a=a,
        b=b,
        frame=np.array(
            [from_quaternion(rng.normal(size=4)).R.ravel() for _ in range(contacts)]
        ).reshape(contacts, 9),
        arm_a=rng.normal(size=(contacts, 3)),
        arm_b=rng.normal(size=(contacts, 3)),
        start=np.array(start),
        column=np.array(column),
        omega=np.array(omega),
        q=rng.normal(size=3 * contacts),
        mu=rng.random(contacts),
    )
    return p, tree


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_turn_are_those_of_the_velocities(seed):
    rng = np.random.default_rng(seed)
    p, _ = random_trees(rng, 3, 8)
    p.contact["angular"][::2] = 1
    W = matrix_form.sparse(p).toarray()
    for k, impulse in enumerate(np.eye(24)):
        assert W[:, k] == pytest.approx(p.velocities(impulse) - p.q, abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_w_is_the_plain_product(seed):
    rng = np.random.default_rng(seed)
    # an unsymmetric Ω tells W from its transpose
    p, _ = random_trees(
        rng,
        trees=int(rng.integers(1, 5)),
        contacts=int(rng.integers(1, 25)),
        symmetric=seed % 2 == 0,
    )
    W = dense(p)
    assert np.abs(matrix_form.sparse(p).toarray() - W).max() < 1e-12 * np.abs(W).max()


def test_rows_begin_with_their_diagonal_and_have_a_block_only_for_contacts_that_share_a_tree():
    rng = np.random.default_rng(20)
    p, tree = random_trees(rng, trees=5, contacts=30)
    b = matrix_form.blocks(p)
    trees = [{tree[i] for i in (p.contact["a"][k], p.contact["b"][k]) if i >= 0} for k in range(30)]
    for k in range(30):
        row = b.column[b.start[k] : b.start[k + 1]]
        assert row[0] == k
        assert sorted(row) == [j for j in range(30) if trees[k] & trees[j]]


def test_the_rest_of_the_problem_is_the_same():
    p, _ = random_trees(np.random.default_rng(21), trees=3, contacts=10)
    b = matrix_form.blocks(p)
    assert np.array_equal(b.weight, p.weight)
    assert np.array_equal(b.q, p.q)
    assert np.array_equal(b.mu, p.mu)
    # ρ = 3/tr W_kk, here from the blocks themselves
    assert np.allclose(3 / b.value[b.start[:-1]][:, [0, 4, 8]].sum(axis=1), p.weight, rtol=1e-12)


def test_bodies_without_contacts_and_problems_without_any_are_no_trouble():
    p, _ = random_trees(np.random.default_rng(22), trees=4, contacts=1)
    assert len(matrix_form.blocks(p).column) == 1
    p, _ = random_trees(np.random.default_rng(22), trees=2, contacts=0)
    assert matrix_form.sparse(p).shape == (0, 0)


@pytest.mark.process
def test_it_runs_as_plain_python_too():
    code = """
import numpy as np
from contact.plain import dense
from contact.test_matrix_form import random_trees
from tabi.contact import matrix_form
p, _ = random_trees(np.random.default_rng(0), 2, 6)
assert np.allclose(matrix_form.sparse(p).toarray(), dense(p), atol=1e-12)
"""
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
