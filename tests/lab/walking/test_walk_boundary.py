"""Rubber that is stiff enough to walk on blindly: found between two stiffnesses, and where."""

import pytest

import tabi
from tabi.lab.study import reported
from tabi.lab.walking import walk_boundary
from tabi.lab.walking.walk_boundary import AS_IT_IS, Variation
from tabi.walking import gait_for


def test_ankles_of_hrp2_are_its_own():
    mgh, kp = walk_boundary.ankle("hrp2")
    robot = tabi.robots.hrp2()
    foot = robot.body("left_foot").inertia.mass
    # all but one foot, with the centre of mass 0.79 m above soles that are 0.105 m below the ankle;
    # without one foot of 2 kg near the ground it is 3 % higher
    assert mgh == pytest.approx((58.0 - foot) * 9.81 * (0.79 - 0.105), rel=0.06)
    assert kp == [robot.joint(f"LLEG_ANKLE_{axis}").motor.kp for axis in "PR"]


@pytest.mark.slow
def test_boundary_is_between_one_that_falls_and_one_that_walks():
    found = walk_boundary.boundary("hrp2", AS_IT_IS, 6, close=4.0, span=(1.5, 12.0))
    assert found["falls"] < found["walks"] <= 4.0 * found["falls"]
    # softer than that cannot stand on one foot at all
    assert found["falls"] > walk_boundary.ankle("hrp2")[0]
    assert [one["walks"] for one in found["trials"]][:2] == [False, True]
    none = walk_boundary.boundary("hrp2", AS_IT_IS, 2, span=(15.0, 16.0))
    assert none["falls"] is None


def test_a_variation_changes_what_it_names():
    changed = Variation(damping=0.05, stiffer=3.0, time=1.5, length=0.5, zmp=(0.0, 0.0))
    robot = walk_boundary.robot_with("hrp2", 1000.0, changed)
    own = tabi.robots.hrp2()
    assert robot.bush.rubber.stiffness == 1000.0
    assert robot.bush.rubber.damping == pytest.approx(50.0)
    for name, times in (("LLEG_ANKLE_R", 3.0), ("LLEG_KNEE_P", 1.0)):
        a, b = robot.joint(name).motor, own.joint(name).motor
        assert (a.kp, a.kd) == pytest.approx((times * b.kp, times * b.kd))
    gait, usual = walk_boundary.gait_of(robot, changed), gait_for(robot)
    assert gait.step_time == pytest.approx(1.2)
    assert gait.double_support == pytest.approx(0.15)
    assert gait.length == pytest.approx(0.5 * usual.length)
    assert gait.zmp == (0.0, 0.0)
    assert walk_boundary.gait_of(robot, AS_IT_IS) == usual


def test_all_of_it_is_told(monkeypatch):
    """The arithmetic of a pretended robot that walks from 1,000 N·m/rad on."""

    class Found:
        steps, fell, tilt = 20, None, 0.0

        def __init__(self, walked):
            self.walked = walked

    def trial(name, stiffness, how, steps):
        return Found(stiffness >= 1000.0 or how.exact)

    monkeypatch.setattr(walk_boundary, "trial", trial)
    seen = []
    with reported(lambda *one: seen.append(one)):
        found = walk_boundary.boundaries("hrp2", 20, ("damping K/20",), (1.0, 8.0))
    assert seen[-1] == ("hrp2 boundary", 6, 6)
    edge = found["edges"]["as it is"]
    assert edge["falls"] < 1000.0 <= edge["walks"] < 1.05 * edge["falls"]
    assert [one["walks"] for one in found["scans"]["servos"]] == [False, True]
    # (1), with the softer motor
    series = 1 / (1 / found["standing_nm_rad"] + 1 / min(found["ankle_kp_nm_rad"]))
    assert series == pytest.approx(found["mgh_nm_rad"])
    assert "damping K/20" in "\n".join(walk_boundary.lines(found))
    found["edges"]["as it is"] = {"falls": None, "walks": None}
    assert "no boundary in between" in "\n".join(walk_boundary.lines(found))
