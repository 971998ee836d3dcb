"""Random closed chains are what they say, and the watch over them can fail."""

import pytest

from tabi.lab.validate import closed_chains


def test_a_hundredth_of_the_chains_holds():
    found = closed_chains.ClosedChains(chains=12).run()
    assert found["chains"] == 12
    assert found["steps"] == 12 * closed_chains.STEPS
    assert not found["broken"]
    assert not found["gained"]
    assert not found["missed"]
    assert max(found["redundant"]) >= 3
    assert "12 closed chains" in closed_chains.ClosedChains().text(found)


def test_chains_are_closed_up_to_their_offset_and_the_same_again():
    offsets = set()
    for seed in range(24):
        robot, case, offset = closed_chains.random_chain(seed)
        offsets.add((case, offset))
        X = robot.placements()
        assert 1 <= len(robot.bonds) <= 2
        for bond in robot.bonds:
            assert bond.gap(X) == pytest.approx(offset, abs=1e-12)
        again, *_ = closed_chains.random_chain(seed)
        assert [body.joint.kind for body in again.bodies] == [b.joint.kind for b in robot.bodies]
    assert len(offsets) == 12


def test_energy_that_does_not_fall_with_the_step_and_a_slow_step_are_found(monkeypatch):
    monkeypatch.setattr(closed_chains, "MAX_ENERGY_RISE", -1.0)
    monkeypatch.setattr(closed_chains, "MAX_RISE_RATIO", -1e9)
    monkeypatch.setattr(closed_chains, "LONGEST_STEP", 0.0)
    found = closed_chains.ClosedChains(chains=1).run()
    assert len(found["gained"]) == 1
    assert list(found["finer"]) == [0]
    assert not found["within"]
    assert found["slowest_s"] > 0.0


def test_a_rise_falls_in_proportion_to_the_step():
    # 37 joints that swing with 30 rad/s
    rise, finer = (closed_chains.run(440, finer=k)["rise"] for k in (1, 4))
    assert rise > 0.1
    assert finer < 0.35 * rise
