"""The motions that bodies have in common, and systems in them, against plain matrices."""

import numpy as np
import pytest
from contact.test_bodies import random_bodies
from contact.test_point_newton import memory_for
from contact.test_row_mobility import joint, matrix

from tabi.contact import bodies, motion_work
from tabi.contact import common_motions as motions


def links(rng, count=8, rank=14, contacts=10, joints=()):
    """Bodies that move in ``rank`` ways together, with contacts and, among these, joints."""
    p, _ = random_bodies(rng, count, contacts)
    T = rng.normal(size=(count, 6, rank))
    blocks = np.einsum("iqr,jsr->ijqs", T, T)
    p = p._replace(
        start=count * np.arange(count + 1),
        column=np.tile(np.arange(count), count),
        omega=blocks.reshape(-1, 6, 6).copy(),
    )
    for k in joints:
        joint(p, k)
        p.q[3 * k : 3 * k + 2] = 0.0
    return p


def rows_of(w, count):
    """G, of which no more than what motions move is there."""
    G = np.zeros((3 * count, w.rank[0]))
    for k in range(count):
        rows, n = slice(3 * k, 3 * k + 3), w.length[k]
        G[rows, :n] = w.row[rows, :n]
    return G


@pytest.mark.parametrize("seed", range(4))
def test_the_motions_are_all_there_is_of_the_inverse_inertia(seed):
    rng, work = np.random.default_rng(seed), None
    # one memory for two problems: nothing is left of the first
    for rank in (14, 9):
        p = links(rng, rank=rank, joints=(2, 5))
        work = work or memory_for(p, 8)
        bodies.prepare(p, work)
        w = work.motions
        assert w.rank[0] == motion_work.NOT_COMPUTED
        assert motions.rank_of(p, w) == rank
        T = np.zeros((48, rank))
        for i, reach in enumerate(w.reach):
            T[6 * i : 6 * i + 6, :reach] = w.twist[6 * i : 6 * i + 6, :reach]
        omega = p.omega.reshape(8, 8, 6, 6).transpose(0, 2, 1, 3).reshape(48, 48)
        np.testing.assert_allclose(T @ T.T, omega, atol=1e-10 * omega.max())
        for k in range(10):
            motions.make_rows(p, k, w)
        G, W = rows_of(w, 10), matrix(p)
        np.testing.assert_allclose(G @ G.T, W, atol=1e-10 * np.abs(W).max())


def test_where_motions_are_no_fewer_than_twists_there_are_none():
    rng = np.random.default_rng(1)
    few, loose = links(rng, count=4, rank=3), random_bodies(rng, 8, 10)[0]
    free = links(rng, count=8, rank=48)
    for p in (few, loose, free):
        work = memory_for(p, len(p.start) - 1)
        assert motions.rank_of(p, work.motions) == motion_work.NO_MOTIONS


def test_the_system_is_that_of_woodbury():
    rng = np.random.default_rng(2)
    p = links(rng, joints=(3, 7))
    K, f = np.zeros((30, 30)), rng.normal(size=30)
    # what follows a contact is between the same bodies
    for k in (4, 5):
        p.contact["a"][k], p.contact["b"][k] = p.contact["a"][k - 1], p.contact["b"][k - 1]
    work = memory_for(p, 8)
    w, r = work.motions, motions.rank_of(p, work.motions)
    motions.clear(w)
    for k in range(10):
        motions.make_rows(p, k, w)
        block = rng.normal(size=(3, 3))
        follow = rng.normal(size=3)
        rows, lone = slice(3 * k, 3 * k + 3), motions.is_lone(p, k)
        if lone:
            block, f[3 * k : 3 * k + 2] = np.diag((0.0, 0.0, block[2, 2])), 0.0
            motions.add_last(w, k, block[2, 2])
        else:
            partner = k in (4, 5)
            if partner:
                motions.weigh_last(w, k - 1, K[rows, rows].ravel() * 0.0 + 1.0)
                before = w.weighted[2, : w.length[k - 1]].copy()
                np.testing.assert_allclose(
                    before, w.row[3 * k - 3 : 3 * k, : len(before)].sum(axis=0)
                )
            motions.weigh(w, k, tuple(block.ravel()), tuple(follow), partner)
            motions.add_three(w, k)
            if partner:
                K[rows, 3 * k - 3 : 3 * k] -= np.outer(follow, np.ones(3))
        K[rows, rows] += block
        motions.push(w, k, tuple(f[rows]), w.right)
    G = rows_of(w, 10)
    np.testing.assert_allclose(w.matrix[:r, :r], np.eye(r) + G.T @ K @ G, atol=1e-9)
    assert motions.factor(w)
    motions.solve(w)
    x = f - K @ G @ w.motion[:r]
    np.testing.assert_allclose(x + K @ matrix(p) @ x, f, atol=1e-9 * np.abs(K).max() * 100)
    for k in range(10):
        np.testing.assert_allclose(
            motions.row_motion(w, k, w.motion), G[3 * k : 3 * k + 3] @ w.motion[:r], atol=1e-12
        )
