"""Matrices off their symmetry by a little."""

import numpy as np

from tabi.lab.family import case, unsymmetric
from tabi.lab.family.stacks import stack


def dense(problem):
    b, n = problem.blocks, 3 * problem.contact_count
    W = np.zeros((n, n))
    for k in range(problem.contact_count):
        for e in range(b.start[k], b.start[k + 1]):
            W[3 * k : 3 * k + 3, 3 * b.column[e] : 3 * b.column[e] + 3] = b.value[e].reshape(3, 3)
    return W


def test_every_entry_is_changed_by_itself_and_by_little():
    p = stack([1.0, 2.0], np.ones((2, 3)), np.zeros((2, 2)), 0.5)
    one, other = (
        dense(unsymmetric.perturbed(p, size, np.random.default_rng(0))) for size in (0.0, 1e-3)
    )
    change = (other - one)[one != 0] / one[one != 0]
    # a normal distribution over hundreds of entries
    assert 0.9e-3 < change.std() < 1.1e-3
    assert np.array_equal(other == 0, one == 0)


def test_members_have_no_bodies_and_are_unsymmetric_by_one_in_ten_thousand_to_one_in_a_thousand():
    for index in range(8):
        one = case("unsymmetric", index, seed=0)
        assert one.bodies is None
        assert one.contact_count == one.problem().contact_count
        W = dense(one.problem())
        skew = np.abs(W - W.T).max() / np.abs(W).max()
        # the largest of many normal numbers
        assert 1e-5 < skew < 1e-2 or one.contact_count == 1
