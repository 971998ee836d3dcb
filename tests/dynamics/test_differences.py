"""The difference of two configurations is the velocity between them."""

import numpy as np
import pytest
from worlds import random_robot, random_state

import tabi
from tabi import dynamics


@pytest.mark.parametrize("seed", range(5))
def test_difference_undoes_integrate(seed):
    model, rng = random_robot(seed).compile(), np.random.default_rng(seed)
    q, v = random_state(model, rng)
    # turns by less than half a turn
    v *= min(1.0, 3.0 / np.abs(v).max() / np.sqrt(3))
    for size in (1.0, 1e-4, 1e-9):
        found = dynamics.difference(model, q, dynamics.integrate(model, q, size * v, 1.0))
        assert np.allclose(found, size * v, atol=1e-14)


def test_no_difference_is_zero_and_quaternions_of_both_signs_are_the_same():
    model = random_robot(1).compile()
    q, _ = random_state(model, np.random.default_rng(0))
    other = q.copy()
    other[3:7] *= -1.0
    assert np.allclose(dynamics.difference(model, q, q), 0.0, atol=1e-15)
    assert np.allclose(dynamics.difference(model, q, other), 0.0, atol=1e-15)


def test_faults_are_named():
    model = tabi.robots.hrp2().compile()
    with pytest.raises(tabi.ModelError, match="q has shape"):
        dynamics.difference(model, np.zeros(3), model.initial())
