"""The bench of quantities: that both engines compute the same, whatever the clock says."""

import numpy as np
import pytest

import tabi

pytest.importorskip("pinocchio")
from tabi.lab.bench import quantities
from tabi.lab.pinocchio import Referee

# rounding through thirty bodies, of forces of some hundred newtons
ROUNDING = 1e-10


def test_both_engines_are_asked_the_same():
    robot = tabi.robots.hrp2()
    ours, theirs = quantities.FreshQuantities(robot), quantities.PinocchioAsked(robot)
    asked, answered = ours.quantities(), theirs.quantities()
    assert set(asked) == set(answered)
    # each call is of the other state: the first of both engines is the same
    referee = Referee(ours.states.model, theirs.m)
    T = referee.rates(ours.states.pairs[1][0])
    assert np.allclose(asked["centre of mass"](), answered["centre of mass"](), atol=ROUNDING)
    asked["centre of mass"](), answered["centre of mass"]()
    for name in ("Jacobian of a foot", "its Jacobian", "momentum matrix"):
        one, other = asked[name](), answered[name]()
        assert np.allclose(one, other @ T, atol=ROUNDING), name
        asked[name](), answered[name]()


def test_states_are_others_in_every_call():
    states = quantities.TwoStates(tabi.robots.hrp2())
    (q1, v1), (q2, v2), (q3, v3) = states.next(), states.next(), states.next()
    assert not np.array_equal(q1, q2)
    assert not np.array_equal(v1, v2)
    assert np.array_equal(q1, q3)
    assert np.array_equal(v1, v3)


@pytest.mark.slow
def test_figures_are_whole_and_printed():
    found = quantities.measure(tabi.robots.hrp2(), blocks=3)
    assert all(row["tabi"] > 0 and row["pinocchio"] > 0 for row in found["quantities"].values())
    assert found["feet_us"] > 0
    said = "\n".join(quantities.lines(found))
    assert "mass matrix" in said
    assert "all of both feet" in said
