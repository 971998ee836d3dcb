"""The walks of Hirukawa (2003), a few steps of each, and the arithmetic of what is told of them."""

from dataclasses import replace

import numpy as np
import pytest

import tabi
from tabi.analysis.walk_trial import try_walk
from tabi.lab.study import reported
from tabi.lab.walking import hirukawa_walk


@pytest.fixture(scope="module")
def found():
    """HRP-2, without the search for the boundary."""
    seen = []
    with reported(lambda *told: seen.append(told)):
        result = hirukawa_walk.HirukawaWalk(robots=("hrp2",), steps=6, bisect=False).run()
    assert seen[-1] == ("hrp2 rows", 6, 6)
    return result


@pytest.mark.slow
def test_it_walks_falls_and_walks_as_published(found):
    rows = found["robots"]["hrp2"]["rows"]
    assert [rows[key]["walks"] for key in ("1", "2", "4")] == [True, False, True]
    assert rows["2"]["fell_s"] is not None
    assert all(rows[key]["as_published"] for key in ("1", "2", "4"))
    # where nothing gives way soles land where joints put them; with rubber the bound of a step
    assert rows["1"]["landing_m"] < 1e-8
    assert rows["4"]["landing_m"] < 2e-3
    assert found["robots"]["hrp2"]["patterns_differ_rad"] < 1e-9


@pytest.mark.slow
def test_a_sharper_stabiliser_shakes_with_exact_joints_and_not_with_servos(found):
    rows = found["robots"]["hrp2"]["rows"]
    assert rows["3 sharp"]["shake_ratio"] >= hirukawa_walk.MIN_SHAKE_RATIO
    assert rows["4 sharp"]["walks"]
    # with its own gains it is calm either way, unlike the paper's
    assert rows["3"]["walks"]
    assert rows["3"]["shake_ratio"] < hirukawa_walk.MIN_SHAKE_RATIO
    assert not rows["3"]["as_published"]


@pytest.mark.slow
def test_force_is_zero_in_the_air_and_the_weight_in_single_support(found):
    force = found["robots"]["hrp2"]["force"]["4"]
    assert force["weight_n"] == pytest.approx(58.0 * 9.81)
    assert force["share"]["swing"] == 0.0
    # while both feet stand they share it, and one of them stands alone the rest of the time
    assert force["share"]["double"] == pytest.approx(0.5, abs=0.05)
    assert force["share"]["single"] == pytest.approx(1.0, abs=0.1)
    assert force["within"]


@pytest.mark.slow
def test_curves_are_of_three_steps(found):
    kept = found["robots"]["hrp2"]["curves"]["4"]
    times = np.array(kept["time_s"])
    # lift of the third step to landing of the fifth, 0.8 s each without one double support
    assert times[-1] - times[0] == pytest.approx(3 * 0.8 - 0.1, abs=0.01)
    assert np.diff(times) == pytest.approx(np.full(len(times) - 1, 2e-3), abs=1e-6)
    assert {len(x) for x in kept.values()} == {len(times)}


@pytest.mark.slow
def test_hrp1s_walks_as_it_did():
    """Row 1 in small: rigid feet, exact joints, no stabiliser."""
    walked = try_walk(tabi.robots.hrp1s(), 2, exact=True, lowest=hirukawa_walk.MIN_WAIST_HEIGHT_M)
    assert walked.walked
    assert walked.landing < 1e-8


@pytest.mark.slow
def test_torque_inwards_turns_the_robot_towards_its_other_foot():
    walked = try_walk(tabi.robots.hrp2(), 2, exact=True, curves=True)
    # 500 N, 2 cm outside of both ankles, r × f: y points outwards on the left, inwards on the right
    made = np.column_stack([np.full(len(walked.times), 10.0), np.full(len(walked.times), -10.0)])
    told = hirukawa_walk.roll_figures(replace(walked, roll=made))
    assert told["mean_nm"] == pytest.approx(10.0)
    assert told["part_inwards"] == 1.0


@pytest.mark.slow
def test_what_is_not_as_published_is_told(found):
    told = hirukawa_walk.HirukawaWalk().text(found)
    assert "NOT as published" in told
    assert "of the weight" in told
    told = hirukawa_walk.HirukawaWalk().text(found | {"within": True})
    assert told.endswith("as published, but for row 3 with gains of its own")
