"""``tabi check``: motions that a robot can make, and those it cannot."""

from dataclasses import replace

import numpy as np
import pytest

import tabi
from tabi import ModelError, TabiError, control, scenes
from tabi.analysis import motion_check
from tabi.analysis.motion_check import check, of_pattern, of_scene
from tabi.analysis.motion_margins import KINDS
from tabi.analysis.motion_variation import MotionVariation

AS_IT_IS = (MotionVariation(),)


def pattern_file(folder, by=-0.15, joint="RARM_ELBOW_P", seconds=0.3):
    """HRP-2 bends a joint and comes back."""
    robot = tabi.robots.hrp2()
    times = np.linspace(0.0, seconds, round(200 * seconds) + 1)
    start = np.array([robot.half_sitting.get(name, 0.0) for name in robot.joint_names])
    motion = np.tile(start, (len(times), 1))
    k = robot.joint_names.index(joint)
    motion[:, k] += by * 0.5 * (1 - np.cos(2 * np.pi * times / seconds))
    file = folder / "bend.pos"
    free = motion_check._unlimited(robot)
    control.write_pattern(control.pattern(free, times, motion), file, free)
    return file


def test_a_small_motion_of_an_arm_is_feasible(tmp_path):
    found = check(of_pattern(pattern_file(tmp_path), tabi.robots.hrp2()), AS_IT_IS)
    assert found["feasible"], found
    assert (found["refused"], found["interrupted"]) == ("", False)
    (run,) = found["runs"]
    assert run["time_s"] == pytest.approx(0.3)
    assert [margin["name"] for margin in run["margins"]] == list(KINDS)


def test_a_motion_beyond_travel_or_speed_is_not_feasible_before_it_is_played(tmp_path, monkeypatch):
    robot = tabi.robots.hrp2()
    monkeypatch.setattr(motion_check, "run", lambda *_: pytest.fail("it was played"))
    too_far = check(of_pattern(pattern_file(tmp_path, by=3.0), robot))
    assert not too_far["feasible"]
    assert "RARM_ELBOW_P" in too_far["refused"]
    assert "within its travel" in too_far["refused"]
    too_fast = check(of_pattern(pattern_file(tmp_path, by=-1.0, seconds=0.1), robot))
    assert not too_fast["feasible"]
    assert "rad/s" in too_fast["refused"] or "velocities" in too_fast["refused"]


@pytest.mark.slow
def test_less_friction_leaves_less_of_it_by_its_factor():
    """Small forces do not change with the cone around them: ‖f_t‖/(μ f_n) is as 1/μ."""
    motion = of_scene(scenes.load("squat", ["duration_s=0.3"]))
    found = check(motion, (MotionVariation(), MotionVariation(friction=0.8)))
    used = [
        1.0 - next(m["margin"] for m in run["margins"] if m["name"] == "friction")
        for run in found["runs"]
    ]
    assert used[1] == pytest.approx(used[0] / 0.8, rel=1e-3)
    worst = next(m for m in found["least"] if m["name"] == "friction")
    assert worst["run"] == "friction -20 %"


def test_a_robot_that_falls_is_not_feasible_and_its_run_ends_there():
    found = check(of_scene(scenes.load("fall")), AS_IT_IS)
    (run,) = found["runs"]
    assert not found["feasible"]
    assert run["fallen_at_s"] == pytest.approx(0.5, abs=0.2)
    assert run["time_s"] < run["fallen_at_s"] + 2 * motion_check.CHECK_PERIOD_S
    fall = next(m for m in run["margins"] if m["name"] == "fall")
    assert (fall["within"], fall["at_s"]) == (False, run["fallen_at_s"])


def test_told_to_stop_it_gives_what_is_done_and_no_verdict():
    motion = of_scene(scenes.load("standing", ["duration_s=0.1"]))
    found = check(
        motion, (MotionVariation(), MotionVariation(mass=1.05)), lambda run, time: run == 1
    )
    assert found["interrupted"]
    assert not found["feasible"]
    assert len(found["runs"]) == 1


def test_a_simulation_that_stops_is_not_feasible():
    def raising(time, measurement):
        raise RuntimeError("no battery")

    motion = of_scene(scenes.load("standing", ["duration_s=0.1"]))

    def begin():
        sim, robot = motion.begin()
        sim.set_controller(robot, raising)
        return sim, robot

    found = check(motion_check.CheckedMotion("m", "hrp2", 0.1, begin), AS_IT_IS)
    assert not found["feasible"]
    assert "no battery" in found["runs"][0]["stopped"]


@pytest.mark.slow
def test_jaws_may_grip_and_nothing_else_may():
    motion = of_scene(scenes.load("grasp", ["duration_s=0.6"]))
    assert motion.jaws == ("RARM_GRIPPER",)
    found = check(motion, AS_IT_IS)
    assert found["feasible"], found["least"]
    careless = check(replace(motion, jaws=()), AS_IT_IS)
    (gap,) = [one for one in careless["least"] if not one["within"]]
    assert (gap["name"], set(gap["where"].split(" and "))) == ("collision", {"can", "right_jaw"})


def test_bad_input_is_refused(tmp_path):
    with pytest.raises(TabiError, match=r"scene slide has no robot"):
        of_scene(scenes.load("slide"))
    with pytest.raises(ModelError, match=r"robot 'hrp3' not found in scene standing"):
        of_scene(scenes.load("standing"), "hrp3")
    (tmp_path / "a.pos").write_text("0 1 2\n1 2 3\n", encoding="utf-8")
    with pytest.raises(ModelError, match="is it a pattern of another robot"):
        of_pattern(tmp_path / "a.pos", tabi.robots.hrp2())
    fixed = tabi.model.robot.Robot("arm")
    fixed.add_body("base", tabi.model.joint.Joint("root", "fixed"), None, tabi.Inertia(1.0))
    with pytest.raises(ModelError, match="arm has no feet"):
        of_pattern(tmp_path / "a.pos", fixed)
