"""ρ = 3/tr W_kk of every three rows, against what unit impulses do to their own velocities."""

import numpy as np
import pytest
from contact.test_bodies import random_bodies

from tabi.contact import weights


@pytest.mark.parametrize("seed", range(5))
def test_the_weight_is_three_over_the_trace_of_the_rows_own_response(seed):
    rng = np.random.default_rng(seed)
    p, _ = random_bodies(rng, contacts=9)
    # some of them about turning, with rows of any length
    p.contact["angular"][::3] = 1
    p.contact["frame"][::3] *= rng.uniform(0.1, 2.0, (3, 1))
    weights.weights(p)
    still = p._replace(q=np.zeros_like(p.q))
    for k in range(9):
        trace = 0.0
        for i in range(3 * k, 3 * k + 3):
            unit = np.zeros(27)
            unit[i] = 1.0
            trace += still.velocities(unit)[i]
        assert p.weight[k] == pytest.approx(3.0 / trace, rel=1e-12)


def test_rows_of_bodies_that_cannot_turn_have_a_weight_all_the_same():
    p, _ = random_bodies(np.random.default_rng(1), contacts=3)
    p.contact["angular"] = 1
    p.omega[:] = 0.0
    weights.weights(p)
    assert (p.weight == 1.0).all()
