"""The bench of Python loops: that both engines do the same, whatever the clock says."""

import json

import pytest

import tabi
from tabi.lab.bench import loop

G = 9.81


@pytest.fixture(scope="module")
def found():
    pytest.importorskip("mujoco")
    return loop.LoopBench(blocks=3).run()


@pytest.mark.slow
def test_the_feet_carry_the_robot_in_both_engines(found):
    weight = tabi.robots.hrp2().mass * G
    assert set(found["normal_force_N"]) == {"tabi", "mujoco"}
    # the targets move a little all the time
    for force in found["normal_force_N"].values():
        assert force == pytest.approx(weight, rel=0.05)


@pytest.mark.slow
def test_figures_are_whole_and_printed(found):
    assert json.loads(json.dumps(found)) == found
    assert set(found["microseconds"]) == set(found["least"])
    assert all(value > 0 for value in found["microseconds"].values())
    said = loop.LoopBench().text(found)
    assert "wrenches" in said
    assert "two threads" in said


def test_targets_are_new_in_every_step():
    assert len({loop.sway(1e-3 * k) for k in range(200)}) == 200
    assert max(abs(loop.sway(1e-3 * k)) for k in range(5000)) <= loop.SWAY
