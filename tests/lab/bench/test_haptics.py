"""Figures of a hand that pulls in real time: they are there, and add up."""

import pytest

from tabi.lab.bench import haptics


@pytest.mark.process
@pytest.mark.slow
def test_a_second_of_pulling_has_all_figures():
    found = haptics.HapticsBench(seconds=1.0, scenes=("standing",)).run()
    one = found["cases"]["standing"]
    assert one["contacts"] == 8
    assert one["missed"] == 0
    # it did hold on, and the hand felt it
    assert one["strongest_on_body_n"] > 0.5
    assert one["strongest_felt_n"] > 0.05
    assert sum(one["period_histogram"]) == one["periods"] > 500
    # whoever pulls to and fro through springs and dampers gives energy
    assert one["energy_to_the_hand_j"] < 1e-3
    told = haptics.HapticsBench().text(found)
    assert "real time" in told
    assert "mJ" in told
