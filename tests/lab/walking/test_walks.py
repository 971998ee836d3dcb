"""Bipeds from files that nobody here wrote walk, and what cannot walk is told why."""

import numpy as np
import pytest

import tabi
from tabi.lab.study import reported
from tabi.lab.walking import walks
from tabi.robots import bipeds
from tabi.walking import Biped, gait_for


@pytest.fixture(scope="module")
def found(example_robots):
    seen = []
    files = [
        tabi.robots.example_file(name)
        for name in ("talos_reduced.urdf", "g1_29dof_rev_1_0.urdf", "panda.urdf")
    ]
    with reported(lambda *told: seen.append(told)):
        result = walks.Walks(files=files, steps=3).run()
    assert seen[-1] == ("robots", 3, 3)
    return result


@pytest.mark.slow
@pytest.mark.parametrize("row", [0, 1])
def test_talos_and_g1_walk_with_gaits_of_their_own_legs(found, row):
    one = found["robots"][row]
    assert one["outcome"] == "walks"
    assert one["share_of_length"] == one["share_of_height"] == 1.0
    for walk in one["walks"].values():
        assert walk["steps"] == 3
        # the bounds of HRP-2's steps
        assert walk["landing_m"] < 2e-3
        assert walk["slip_m"] < 2e-3
        assert walk["missed"] == 0
    assert found["within"]


@pytest.mark.slow
def test_what_has_no_feet_is_refused_with_a_reason(found):
    arm = found["robots"][2]
    assert arm["outcome"] == "refused"
    assert "has no foot 'left' to walk on" in arm["reason"]
    told = walks.Walks(files=[]).text(found)
    assert "2 of 3 walk 3 steps" in told
    assert arm["reason"] in told


@pytest.mark.slow
def test_legs_that_cannot_make_their_steps_make_smaller_ones(example_robots):
    # Romeo's ankles turn by 30°, too little for steps of its legs' length
    robot = walks.stage(tabi.robots.example_file("romeo_small.urdf"))
    own = gait_for(robot)
    with pytest.raises(tabi.ModelError, match="AnklePitch"):
        tabi.walking.walking_pattern(robot, tabi.walking.walk(Biped(robot).stance, 3, own.length))
    gait, footsteps = walks.plan(robot, 3)
    assert gait.length < own.length
    assert gait.lift < own.lift
    assert len(footsteps) == 3


@pytest.mark.slow
def test_feet_inside_of_each_other_are_put_apart(example_robots):
    biped = Biped(walks.stage(tabi.robots.example_file("icub_reduced.urdf")))
    apart = bipeds.apart(biped)
    edges = {side: apart[side] @ outline(biped, side) for side in apart}
    across = apart["left"].R[:, 1]
    gap = (edges["left"] @ across).min() - (edges["right"] @ across).max()
    assert gap == pytest.approx(bipeds.MIN_SOLE_GAP_M)
    hrp2 = Biped(tabi.robots.hrp2())
    assert all(bipeds.apart(hrp2)[side].p == pytest.approx(hrp2.stance[side].p) for side in apart)


def outline(biped, side):
    return np.column_stack([biped.outline[side], np.zeros(len(biped.outline[side]))])


@pytest.mark.slow
def test_a_robot_gets_the_sensors_that_it_lacks(example_robots):
    robot = tabi.robots.hrp2()
    before = set(robot.sensors)
    bipeds.add_sensors(robot)
    assert set(robot.sensors) == before
    robot = walks.stage(tabi.robots.example_file("talos_reduced.urdf"))
    kinds = sorted(sensor.kind for sensor in robot.sensors.values())
    assert kinds == ["force", "force", "imu"]


def test_folders_stand_for_their_robots(tmp_path):
    for name in ("b.urdf", "a.urdf", "c.txt"):
        (tmp_path / name).touch()
    found = walks.robot_files([tmp_path, tmp_path / "c.txt"])
    assert [path.name for path in found] == ["a.urdf", "b.urdf", "c.txt"]


def test_a_fall_is_told():
    one = {
        "walks": False,
        "steps": 2,
        "fell_s": 3.5,
        "fault": "",
        "landing_m": 0.1,
        "slip_m": 0.2,
        "missed": 0,
        "times_real_time": 3.0,
    }
    row = {"file": "x.urdf", "outcome": "falls", "reason": "", "length_m": 0.2, "step_time_s": 0.8}
    result = {
        "steps": 3,
        "robots": [row | {"walks": {"open loop": one, "stabiliser": one}}],
        "walk": 0,
        "within": False,
        "interrupted": True,
    }
    told = walks.Walks(files=[]).text(result)
    assert "fell at  3.50 s after  2 steps" in told
    assert "NOT WITHIN" in told
    assert told.endswith("interrupted: these are the robots done before")


def test_a_reason_does_not_repeat_the_path_of_the_file(tmp_path):
    file = tmp_path / "broken.urdf"
    file.write_text("<robot name='r'>\n<link name='a'/>\n<link name='a'/></robot>")
    row = walks.check(file)
    assert row["outcome"] == "refused"
    assert row["file"] == "broken.urdf"
    assert row["reason"].startswith("line 3")
