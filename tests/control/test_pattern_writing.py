"""Patterns written are read back the same to the last bit; what cannot be written is told."""

import errno
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from bipeds import biped

import tabi
from tabi.control import pattern, read_pattern, write_pattern
from tabi.control.pattern_files import columns

RNG = np.random.default_rng(11)


def wave(robot, joints=None, times=None, **others):
    """Small smooth motions with all digits of a double, some of them tiny, inside all limits."""
    names = list(joints or robot.joint_names)
    t = np.arange(40) / 250.0 if times is None else times
    middle = [float(robot.half_sitting.get(name, 0.0)) for name in names]
    size = 10.0 ** RNG.uniform(-9, -3, len(names))
    q = middle + size * np.sin(2 * np.pi * t[:, None] + RNG.uniform(0, 6, len(names)))
    return pattern(robot, t, q, None, names, others)


def same(a, b):
    order = [a.joints.index(name) for name in b.joints]
    assert np.array_equal(a.times, b.times)
    assert np.array_equal(a.position[:, order], b.position)
    assert a.extra.keys() == b.extra.keys()
    for name, rows in a.extra.items():
        assert np.array_equal(rows, b.extra[name])


@pytest.mark.parametrize("suffix", [".pos", ".seq"])
@pytest.mark.parametrize("make", [tabi.robots.hrp2, biped])
def test_what_is_written_is_read_back_to_the_last_bit(tmp_path, make, suffix):
    robot = make()
    told = wave(robot, waist=RNG.normal(size=(40, 6)), zmp=1e-6 * RNG.normal(size=(40, 3)))
    write_pattern(told, tmp_path / f"walk{suffix}", robot)
    same(told, read_pattern(tmp_path / f"walk{suffix}", robot))
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("suffix", [".pos", ".seq"])
def test_columns_are_in_the_order_of_the_joints_numbers_whatever_the_patterns_is(tmp_path, suffix):
    robot = biped()
    for k, name in enumerate(reversed(robot.joint_names)):
        robot.joint(name).number = k
    told = wave(robot, joints=sorted(robot.joint_names))
    write_pattern(told, tmp_path / f"a{suffix}", robot)
    read = read_pattern(tmp_path / f"a{suffix}", robot)
    assert read.joints == columns(robot) == tuple(reversed(robot.joint_names))
    same(told, read)


@pytest.mark.parametrize("times", [0.3 + np.arange(40) / 250.0, np.cumsum(RNG.random(40))])
def test_times_that_are_no_multiples_of_a_period_stand_in_the_frames(tmp_path, times):
    robot = biped()
    told = wave(robot, times=times, ZMP=RNG.normal(size=(40, 3)))
    write_pattern(told, tmp_path / "a.seq", robot)
    assert "hasFrameTime: true" in (tmp_path / "a.seq").read_text(encoding="utf-8")
    same(told, read_pattern(tmp_path / "a.seq", robot))


def test_a_motion_of_choreonoid_has_its_types_and_numbers_that_are_numbers(tmp_path):
    robot = biped()
    links = np.tile([0.0, 0.0, 0.7, 1.0, 0.0, 0.0, 1e-5], (40, 2))
    told = wave(robot, ZMP=np.full((40, 3), 1e-20), LinkPosition=links, load=np.ones((40, 2)))
    write_pattern(told, tmp_path / "a.seq", robot)
    top = yaml.safe_load((tmp_path / "a.seq").read_text(encoding="utf-8"))
    assert (top["type"], top["frameRate"], top["numFrames"]) == ("CompositeSeq", 250, 40)
    kinds = {part["content"]: part["type"] for part in top["components"]}
    assert kinds == {
        "JointDisplacement": "MultiValueSeq",
        "ZMP": "Vector3Seq",
        "LinkPosition": "MultiSE3Seq",
        "load": "MultiValueSeq",
    }
    assert top["components"][0]["numParts"] == 10
    # 1e-20 without a point is a word in YAML
    assert top["components"][1]["frames"][0] == [1e-20] * 3
    places = top["components"][2]
    assert places["numParts"] == 2
    assert places["frames"][0] == [[0.0, 0.0, 0.7, 1.0, 0.0, 0.0, 1e-5]] * 2
    same(told, read_pattern(tmp_path / "a.seq", robot))


def test_a_zmp_in_the_bases_frame_stays_there(tmp_path):
    robot, rows = biped(), RNG.normal(size=(40, 3))
    told = replace(wave(robot, ZMP=rows), planned_zmp="ZMP")
    write_pattern(told, tmp_path / "a.seq", robot)
    assert np.array_equal(read_pattern(tmp_path / "a.seq", robot).zmp, rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot_file", "motion", "suffix"),
    [
        ("SR1.body", "sr1/SR1WalkPattern1.seq", ".seq"),
        ("sample1.wrl", "sample_robot/samplerobot-gopos000.pos", ".pos"),
    ],
)
def test_real_patterns_written_again_read_the_same(shared, tmp_path, robot_file, motion, suffix):
    with pytest.warns(tabi.RobotFileWarning):
        robot = tabi.load(shared / "data/robots/sr1" / robot_file)
    told = read_pattern(shared / "data/motions" / motion, robot)
    write_pattern(told, tmp_path / f"again{suffix}", robot)
    read = read_pattern(tmp_path / f"again{suffix}", robot)
    assert read.joints == told.joints
    same(told, read)


@pytest.mark.parametrize("name", ["walk.csv", "walk", "walk.POS"])
def test_another_suffix_is_refused(tmp_path, name):
    robot = biped()
    with pytest.raises(tabi.ModelError, match=r"cannot be written as .*; expected a name that"):
        write_pattern(wave(robot), tmp_path / name, robot)
    assert not list(tmp_path.iterdir())


def test_joints_that_are_missing_or_have_no_column_are_named(tmp_path):
    robot = biped()
    with pytest.raises(tabi.ModelError, match=f"has no joint '{robot.joint_names[0]}'"):
        write_pattern(wave(robot, robot.joint_names[1:]), tmp_path / "a.pos", robot)
    for k, name in enumerate(robot.joint_names[1:]):
        robot.joint(name).number = k
    with pytest.raises(tabi.ModelError, match="has no column in a file"):
        write_pattern(wave(robot), tmp_path / "a.seq", robot)


def test_what_a_format_has_no_place_for_is_refused_not_lost(tmp_path):
    robot = biped()
    told = wave(robot, LinkPosition=np.zeros((40, 7)))
    with pytest.raises(tabi.ModelError, match=r"'LinkPosition' of the pattern has no place beside"):
        write_pattern(told, tmp_path / "a.pos", robot)
    with pytest.raises(tabi.ModelError, match="is the name of joint positions; rename it"):
        write_pattern(wave(robot, JointPosition=np.zeros((40, 1))), tmp_path / "a.seq", robot)
    for rows in (np.zeros((39, 3)), np.full((40, 3), np.nan)):
        with pytest.raises(tabi.ModelError, match="expected finite numbers in 40 rows"):
            write_pattern(replace(wave(robot), extra={"zmp": rows}), tmp_path / "a.pos", robot)


def test_a_companion_of_an_older_pattern_is_not_taken_for_this_ones(tmp_path):
    robot = biped()
    write_pattern(wave(robot, zmp=np.zeros((40, 3))), tmp_path / "a.pos", robot)
    with pytest.raises(tabi.ModelError, match=r"a\.zmp: lies beside a\.pos, and would be read"):
        write_pattern(wave(robot), tmp_path / "a.pos", robot)
    write_pattern(wave(robot, zmp=np.ones((40, 3))), tmp_path / "a.pos", robot)
    assert read_pattern(tmp_path / "a.pos", robot).extra["zmp"].all()


def test_a_full_disk_and_a_place_that_is_none_are_one_sentence(tmp_path, monkeypatch):
    robot = biped()
    told = wave(robot)
    with pytest.raises(tabi.ModelError, match="cannot be written: No such file or directory"):
        write_pattern(told, tmp_path / "missing" / "a.pos", robot)
    (tmp_path / "b.seq").mkdir()
    with pytest.raises(tabi.ModelError, match="cannot be written: Is a directory"):
        write_pattern(told, tmp_path / "b.seq", robot)
    write_pattern(told, tmp_path / "c.pos", robot)
    before = (tmp_path / "c.pos").read_bytes()

    def full(self, *_args, **_keys):
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(tabi.ModelError, match="No space left on device; expected a place on a"):
        write_pattern(wave(robot), tmp_path / "c.pos", robot)
    # what was there is as it was, and nothing is left behind
    assert (tmp_path / "c.pos").read_bytes() == before
    assert not list(tmp_path.glob(".*"))
