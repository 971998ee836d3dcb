"""What is remembered between two calls is never old."""

import numpy as np
import pytest
from worlds import random_robot, random_state

from tabi.dynamics import evaluation


@pytest.fixture
def case():
    model = random_robot(1).compile()
    rng = np.random.default_rng(7)
    return model, [random_state(model, rng) for _ in range(2)], evaluation.remembered(model)


def test_kinematics_follows_every_change_of_q_and_v(case):
    model, ((q, v), (q2, v2)), c = case
    for now in ((q, v), (q2, v), (q2, v2), (q, v2), (q, v)):
        evaluation.renew(model.arrays, *now, c)
        fresh = evaluation.remembered(model)
        evaluation.renew(model.arrays, *now, fresh)
        for name in ("rotation", "position", "velocity", "product"):
            assert np.array_equal(c.work.body[name], fresh.work.body[name])


def test_what_is_known_is_not_computed_again(case):
    model, ((q, v), _), c = case
    evaluation.renew(model.arrays, q, v, c)
    c.work.body["position"][1] = 77.0
    evaluation.renew(model.arrays, q, v, c)
    assert (c.work.body["position"][1] == 77.0).all()


def test_a_configuration_with_a_fault_is_not_taken(case):
    model, ((q, v), (q2, v2)), _ = case
    q_out, v_out = q2.copy(), v2.copy()
    for bad in (np.nan, np.inf, -np.inf):
        for place in range(len(q)):
            worse = q.copy()
            worse[place] = bad
            assert not evaluation.accept(model.arrays, worse, v, q_out, v_out)
        for place in range(len(v)):
            worse = v.copy()
            worse[place] = bad
            assert not evaluation.accept(model.arrays, q, worse, q_out, v_out)
    longer = q.copy()
    longer[3:7] *= 1.0 + 2e-6
    assert not evaluation.accept(model.arrays, longer, v, q_out, v_out)
    assert np.array_equal(q_out, q2)
    assert np.array_equal(v_out, v2)
    assert evaluation.accept(model.arrays, q, v, q_out, v_out)
    assert np.array_equal(q_out, q)
    assert np.array_equal(v_out, v)
