"""Tables of pads."""

import numpy as np
from contact.soft_problems import random_compliance

from tabi.contact.soft import pads


def test_matrices_of_pads_stand_one_after_the_other():
    rng = np.random.default_rng(0)
    given = [random_compliance(rng, n) for n in (4, 3)]
    made = pads.pads(given)
    for row, C in zip(made.pad, given, strict=True):
        size = len(C)
        assert row["end"] - row["node"] == size // 3
        at = slice(row["matrix"], row["matrix"] + size * size)
        assert np.array_equal(made.compliance[at], C.ravel())
        K = made.stiffness[at].reshape(size, size)
        assert np.abs(K @ C - np.eye(size)).max() < 1e-10


def test_memory_has_all_that_the_solver_of_bodies_has():
    work = pads.allocate(pads.pads([np.eye(9)]), 5, 2)
    assert work.u.shape == (15,)
    assert work.shift.shape == (1, 7, 9)
