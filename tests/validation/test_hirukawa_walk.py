"""The walks of Hirukawa (2003), a few steps of each, and the arithmetic of what is told of them."""

from dataclasses import replace

import numpy as np
import pytest

import tabi
from tabi.validation import hirukawa_walk
from tabi.validation.walk_trial import try_walk


@pytest.fixture(scope="module")
def found():
    """HRP-2, without the search for the boundary."""
    seen = []
    result = hirukawa_walk.validate(
        ("hrp2",), 6, False, lambda what, done, count: seen.append((what, done, count))
    )
    assert seen[-1] == ("hrp2 rows", 6, 6)
    return result


def test_it_walks_falls_and_walks_as_published(found):
    rows = found["robots"]["hrp2"]["rows"]
    assert [rows[key]["walks"] for key in ("1", "2", "4")] == [True, False, True]
    assert rows["2"]["fell_s"] is not None
    assert all(rows[key]["as_published"] for key in ("1", "2", "4"))
    # where nothing gives way soles land where joints put them; with rubber the bound of a step
    assert rows["1"]["landing_m"] < 1e-8
    assert rows["4"]["landing_m"] < 2e-3
    assert found["robots"]["hrp2"]["patterns_differ_rad"] < 1e-9


def test_a_sharper_stabiliser_shakes_with_exact_joints_and_not_with_servos(found):
    rows = found["robots"]["hrp2"]["rows"]
    assert rows["3 sharp"]["shake_ratio"] >= hirukawa_walk.SHAKES
    assert rows["4 sharp"]["walks"]
    # with its own gains it is calm either way, unlike the paper's
    assert rows["3"]["walks"]
    assert rows["3"]["shake_ratio"] < hirukawa_walk.SHAKES
    assert not rows["3"]["as_published"]


def test_force_is_zero_in_the_air_and_the_weight_in_single_support(found):
    force = found["robots"]["hrp2"]["force"]["4"]
    assert force["weight_n"] == pytest.approx(58.0 * 9.81)
    assert force["share"]["swing"] == 0.0
    # while both feet stand they share it, and one of them stands alone the rest of the time
    assert force["share"]["double"] == pytest.approx(0.5, abs=0.05)
    assert force["share"]["single"] == pytest.approx(1.0, abs=0.1)
    assert force["within"]


def test_curves_are_of_two_strides(found):
    kept = found["robots"]["hrp2"]["curves"]["4"]
    times = np.array(kept["time_s"])
    # lift of the third step to landing of the sixth, 0.8 s each without one double support
    assert times[-1] - times[0] == pytest.approx(4 * 0.8 - 0.1, abs=0.01)
    assert np.diff(times) == pytest.approx(np.full(len(times) - 1, 5e-3), abs=1e-6)
    assert {len(x) for x in kept.values()} == {len(times)}


def test_hrp1s_walks_as_it_did(found):
    """Row 1 in small: rigid feet, exact joints, no stabiliser."""
    robot = hirukawa_walk.robot_with("hrp1s", rubber=False)
    walked = try_walk(robot, 2, exact=True, lowest=hirukawa_walk.LOWEST)
    assert walked.walked
    assert walked.landing < 1e-8


def test_torque_inwards_is_that_of_a_ground_that_lifts_the_inner_edges():
    walked = try_walk(tabi.robots.hrp2(), 2, exact=True, curves=True)
    # 500 N, 2 cm inside of both ankles: y of the left foot points outwards, of the right one inwards
    made = np.column_stack([np.full(len(walked.times), -10.0), np.full(len(walked.times), 10.0)])
    told = hirukawa_walk.roll_figures(replace(walked, roll=made))
    assert told["mean_nm"] == pytest.approx(10.0)
    assert told["part_inwards"] == 1.0


def test_ankles_of_hrp2_are_its_own():
    mgh, kp = hirukawa_walk.ankle("hrp2")
    robot = tabi.robots.hrp2()
    foot = robot.body("left_foot").inertia.mass
    # all but one foot, with the centre of mass 0.79 m above soles that are 0.105 m below the ankle;
    # without one foot of 2 kg near the ground it is 3 % higher
    assert mgh == pytest.approx((58.0 - foot) * 9.81 * (0.79 - 0.105), rel=0.06)
    assert kp == [robot.joint(f"LLEG_ANKLE_{axis}").motor.kp for axis in "PR"]


def test_boundary_is_between_one_that_falls_and_one_that_walks():
    edge = hirukawa_walk.boundary("hrp2", False, 6, close=4.0, span=np.array((1.5, 12.0)))
    assert edge["falls"] < edge["walks"] <= 4.0 * edge["falls"]
    # softer than that cannot stand on one foot at all
    assert edge["falls"] > edge["mgh_nm_rad"]
    assert [one["walks"] for one in edge["trials"]][:2] == [False, True]
    for series, kp in zip(edge["with_motors_nm_rad"], edge["ankle_kp_nm_rad"], strict=True):
        assert 1 / series == pytest.approx(1 / edge["walks"] + 1 / kp)
    none = hirukawa_walk.boundary("hrp2", False, 6, span=np.array((10.0, 12.0)))
    assert none["falls"] is None


def test_what_is_not_as_published_is_told(found):
    told = hirukawa_walk.text(found)
    assert "NOT as published" in told
    assert "of the weight" in told
    edge = {"falls": 900.0, "walks": 1000.0, "times_mgh": 2.5}
    one = found["robots"]["hrp2"] | {"boundary": {"servos": edge, "exact": {"falls": None}}}
    told = hirukawa_walk.text(found | {"robots": {"hrp2": one}, "within": True})
    assert "falls with 900 N·m/rad, walks with 1000, 2.5 m g h" in told
    assert "no boundary in between" in told
    assert told.endswith("as published, but for row 3 with gains of its own")
