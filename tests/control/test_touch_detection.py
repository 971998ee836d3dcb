"""A touch is detected by force sensors, wherever it is, and the head turns to what touches."""

import numpy as np
import pytest

import tabi
from tabi import ModelError, control


def standing(probe=(0.6, -0.5, 1.2)):
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = tabi.robots.hrp2()
    robot.stand_on_ground()
    robot = world.add_robot(robot)
    sim = tabi.Simulator(world)
    touch = control.touch_detector(robot)
    sees = control.attend(robot, "head", lambda time: probe, touch)
    sim.set_controller(
        robot, control.together(robot, control.hold(robot.half_sitting), sees), rate=200
    )
    return sim, touch


def off_target(sim, probe):
    """Angle between the head's axis and the probe [rad]."""
    X = sim.pose("head")
    way = np.asarray(probe) - X.p
    return float(np.arccos(X.R[:, 0] @ way / np.linalg.norm(way)))


@pytest.mark.parametrize("body", ["chest", "right_hand", "left_forearm"])
def test_a_touch_anywhere_is_noticed_soon_and_not_before(body):
    sim, touch = standing()
    sim.apply_force(body, (0.0, 25.0, 0.0), at=1.0, duration=0.4)
    for _ in range(1000):
        sim.step()
        assert not touch.touched
    sim.run(0.15)
    assert touch.touched
    assert touch.sensor


@pytest.mark.slow
def test_the_head_turns_to_the_probe_when_touched_and_back_when_left_alone():
    probe = (0.6, -0.5, 1.2)
    sim, touch = standing(probe=probe)
    sim.run(1.0)
    assert off_target(sim, probe) > 0.4
    assert off_target(sim, sim.pose("waist") @ np.array([3.0, 0.0, 0.3])) < 0.03
    sim.apply_force("right_hand", (15.0, 0.0, 0.0), duration=0.5)
    sim.run(1.0)
    # the neck's motors carry the head with a small error
    assert off_target(sim, probe) < 0.03
    sim.run(15.0)
    assert not touch.touched
    assert off_target(sim, probe) > 0.4


@pytest.mark.slow
def test_a_steady_touch_is_not_forgotten_and_a_faint_one_not_noticed():
    sim, touch = standing()
    sim.apply_force("right_hand", (0.0, 0.0, -14.0), at=1.0, duration=10.0)
    sim.run(5.0)
    assert touch.touched
    sim, touch = standing()
    sim.apply_force("right_hand", (0.0, 0.0, -2.0), at=1.0, duration=10.0)
    sim.run(2.0)
    assert not touch.touched


def test_time_that_goes_back_begins_anew():
    sim, touch = standing()
    start = sim.save()
    sim.apply_force("right_hand", (20.0, 0.0, 0.0), at=0.8, duration=0.2)
    sim.run(1.0)
    assert touch.touched
    sim.restore(start)
    sim.run(0.3)
    assert not touch.touched


def test_bad_input_is_named():
    robot = tabi.robots.hrp2()
    with pytest.raises(ModelError, match="right_wrist_forse"):
        control.touch_detector(robot, ["right_wrist_forse"])
    with pytest.raises(ModelError, match="expected a force and a torque > 0"):
        control.touch_detector(robot, force=0.0)
    bare = tabi.Robot("post")
    bare.add_body("post", tabi.Joint("post", "fixed"))
    with pytest.raises(ModelError, match="post has no force sensor to detect a touch"):
        control.touch_detector(bare)


def test_the_old_name_of_the_detector_prints_the_new_one():
    with pytest.warns(
        FutureWarning, match=r"notices in tabi\.control is now called touch_detector"
    ):
        assert control.notices is control.touch_detector
