"""``tabi validate playback``: a piece of each walk, and what the figures mean."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tabi
from tabi.analysis import pattern_playback as experiment
from tabi.control.pattern_dynamics import pattern_dynamics
from tabi.lab.walking import playback
from tabi.lab.walking.playback import PatternPlayback


def piece(pattern, begin, end):
    """Samples of a pattern, with what its files tell."""
    rows = slice(begin, end)
    return replace(
        pattern,
        times=pattern.times[rows],
        position=pattern.position[rows],
        velocity=pattern.velocity[rows],
        extra={name: x[rows] for name, x in pattern.extra.items()},
    )


def as_asked(row):
    """Whether the study is content with a walk."""
    return PatternPlayback(folder=Path()).result([{"walk": "one"} | row])["within"]


@pytest.mark.slow
def test_openhrps_sample_robot_walks_with_the_zmp_of_its_file(shared):
    walk = experiment.WALKS[0]
    world, robot, pattern = experiment.stage(shared / "data", walk)
    gains = experiment.read_gains(shared / "data" / walk.gains, robot)
    assert {float(x) for x in np.ravel(gains)} == {12000.0, 700.0}
    # its two steps, without the second at rest behind them
    row = experiment.measure(world, robot, piece(pattern, 0, 1500), gains)
    assert row["reference"] == "its file"
    assert as_asked(row), row


@pytest.mark.slow
def test_sr1_walks_with_the_zmp_of_its_inverse_dynamics(shared):
    world, robot, pattern = experiment.stage(shared / "data", experiment.WALKS[1])
    # two steps: its pattern rests until 3 s, and swings feet from 4.2 to 5.3 and 5.5 to 6.6 s
    row = experiment.measure(world, robot, piece(pattern, 1500, 3360))
    assert row["reference"] == "inverse dynamics"
    assert as_asked(row), row


@pytest.mark.slow
def test_without_efforts_fed_forward_the_loops_lag(shared):
    world, robot, pattern = experiment.stage(shared / "data", experiment.WALKS[0])
    row = experiment.measure(world, robot, piece(pattern, 0, 1000), feed_forward=False)
    assert not as_asked(row)
    assert min(row["correlation"]) < playback.CORRELATION


def test_the_zmp_of_openhrp_is_turned_with_the_waist():
    robot = tabi.robots.hrp2()
    q = np.zeros((9, len(robot.joint_names)))
    told = tabi.control.pattern(robot, np.arange(9) / 200.0, q)
    asked = pattern_dynamics(robot, told)
    # a quarter turn about z: x of the waist is y of the world
    waist, zmp = np.tile([1.0, 2, 0.7, 0, 0, np.pi / 2], (9, 1)), np.tile([0.1, 0, -0.7], (9, 1))
    told = replace(told, extra={"waist": waist, "zmp": zmp})
    assert experiment.zmp_reference(told, asked)[1] == pytest.approx(np.tile([0.0, 0.1], (9, 1)))
    # the waist leans forwards by 0.1 rad, and its z axis with it
    waist = np.tile([1.0, 2, 0.7, 0, 0.1, 0.0], (9, 1))
    told = replace(told, extra={"waist": waist, "zmp": zmp})
    x = 0.1 * np.cos(0.1) - 0.7 * np.sin(0.1)
    assert experiment.zmp_reference(told, asked)[1] == pytest.approx(np.tile([x, 0.0], (9, 1)))


def test_slip_is_the_furthest_way_while_a_foot_stands():
    feet = np.zeros((6, 1, 3))
    feet[:, 0, 0] = [0.0, 3e-4, 0.0, 0.5, 1.0, 1.0]
    standing = np.array([[1], [1], [1], [0], [1], [1]], bool)
    assert experiment.slip(feet, standing) == pytest.approx(3e-4)


def test_a_table_of_gains_has_a_row_for_each_joint(tmp_path):
    (tmp_path / "a.dat").write_text("1 2\n3 4\n", encoding="utf-8")
    with pytest.raises(tabi.ModelError, match=r"expected kp and kd of 30 joints of hrp2"):
        experiment.read_gains(tmp_path / "a.dat", tabi.robots.hrp2())
