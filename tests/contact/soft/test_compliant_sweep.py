"""Sweeps over contacts on pads end where the matrix has its solution."""

import numpy as np
import pytest
from contact.problems import problem
from contact.soft_problems import prepared, soft

from tabi.contact import gauss_seidel, workspace
from tabi.contact.soft import compliant_sweep


@pytest.mark.parametrize("kind", ["anywhere", "nodes"])
def test_one_sweep_is_that_of_the_matrix(kind):
    rng = np.random.default_rng(1)
    for _ in range(5):
        p, work, W = soft(rng, contacts=9, kind=kind)
        prepared(p, work)
        blocks = problem(W, p.q, p.mu).blocks
        impulse, plain = np.zeros(27), np.zeros(27)
        compliant_sweep.local_blocks(p, work)
        other = workspace.allocate(9)
        for _ in range(3):
            compliant_sweep.sweep(p, impulse, work)
            gauss_seidel.sweep(blocks, plain, other)
        assert np.abs(impulse - plain).max() < 1e-9 * np.abs(plain).max()
