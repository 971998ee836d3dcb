"""A patch of ice: who needs more friction than there is slips, who was slowed down does not."""

import pytest

from tabi.lab.walking import slippery_patch as slippery
from tabi.lab.walking.rough_robots import rough_robot
from tabi.walking import friction_demand, gait_for, gait_for_friction


@pytest.fixture(scope="module")
def robot():
    return rough_robot("hrp2")


@pytest.mark.slow
def test_the_own_gait_slips_where_it_needs_more_friction_and_the_slowed_one_does_not(robot):
    own, slowed = gait_for(robot), gait_for_friction(robot, 0.08)
    assert friction_demand(robot, slowed) < 0.08 < friction_demand(robot, own)
    fast, slow = (slippery.cross(robot, 0.08, gait) for gait in (own, slowed))
    assert slow["crossed"]
    # soles on rubber roll by a millimetre or two; what slips goes centimetres
    assert slow["slip_m"] < slippery.STICKS < fast["slip_m"]


def test_what_was_found_is_told(monkeypatch, robot):
    one = {
        "friction": 0.1,
        "demand": 0.15,
        "length_m": 0.2,
        "step_time_s": 0.8,
        "double_support_s": 0.1,
        "crossed": False,
        "fell_s": 4.2,
        "slip_m": 0.03,
        "steps": 5,
    }
    fine = one | {"crossed": True, "fell_s": None, "slip_m": 0.0}
    own = gait_for(robot)
    monkeypatch.setattr(slippery, "cross", lambda _, mu, gait, patch: one if gait == own else fine)
    found = slippery.SlipperyPatch(frictions=(0.1, 1e-3), patches=(0.4,)).run()
    assert found["within"]
    told = slippery.SlipperyPatch().text(found)
    assert "fell at 4.2 s, slipped 30 mm" in told
    assert "too little for hrp2" in told
    assert "slowed down it crosses all without" in told


def test_an_interrupt_keeps_what_is_done(monkeypatch, robot):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(slippery, "cross", stopped)
    found = slippery.SlipperyPatch(frictions=(0.1,)).run()
    assert found["interrupted"]
    assert found["rows"] == []
