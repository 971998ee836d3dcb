"""Files of motions: those that were written as their formats say, real ones, and broken ones."""

import warnings

import numpy as np
import pytest
from bipeds import biped

import tabi
from tabi.control import playback, read_pattern
from tabi.control.pattern_files import PatternFileWarning, columns

TABLE = np.column_stack([0.002 * np.arange(3), 0.01 * np.arange(30).reshape(3, 10)])


def text_of(table):
    return "\n".join(" ".join(repr(float(x)) for x in row) + " " for row in table) + "\n"


def seq_of(table, **changed):
    rows = "\n".join(f"      - [ {', '.join(repr(float(x)) for x in row)} ]" for row in table)
    told = {"content": "JointDisplacement", "numParts": table.shape[1], "rate": 500, "extra": ""}
    told |= changed
    return (
        f"type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\nframeRate: {told['rate']}\n"
        f"components: \n  - \n    type: MultiValueSeq\n    content: {told['content']}\n"
        f"    numParts: {told['numParts']}\n{told['extra']}    frames: \n{rows}\n"
    )


def test_a_table_of_openhrp_is_read_with_its_companions(tmp_path):
    (tmp_path / "walk.pos").write_text(text_of(TABLE), encoding="utf-8")
    (tmp_path / "walk.waist").write_text(text_of(TABLE[:, :7]), encoding="utf-8")
    (tmp_path / "walk.zmp").write_text(text_of(TABLE[:, :4]), encoding="utf-8")
    robot = biped()
    read = read_pattern(tmp_path / "walk.pos", robot)
    assert read.joints == tuple(robot.joint_names)
    assert np.array_equal(read.times, TABLE[:, 0])
    assert np.array_equal(read.position, TABLE[:, 1:])
    assert np.array_equal(read.extra["waist"], TABLE[:, 1:7])
    assert np.array_equal(read.extra["zmp"], TABLE[:, 1:4])


def test_columns_are_in_the_order_of_the_joints_numbers(tmp_path):
    robot = biped()
    for k, name in enumerate(reversed(robot.joint_names)):
        robot.joint(name).number = k
    assert columns(robot) == tuple(reversed(robot.joint_names))
    (tmp_path / "walk.pos").write_text(text_of(TABLE), encoding="utf-8")
    seen = tabi.Measurement(*np.zeros((3, 10)))
    command = playback(robot, read_pattern(tmp_path / "walk.pos", robot))(0.0, seen)
    assert command.position.tolist() == TABLE[0, :0:-1].tolist()
    named = read_pattern(tmp_path / "walk.pos", robot, joints=robot.joint_names)
    assert named.joints == tuple(robot.joint_names)


@pytest.mark.parametrize("content", ["JointDisplacement", "JointPosition"])
def test_a_motion_of_choreonoid_is_read(tmp_path, content):
    (tmp_path / "walk.seq").write_text(seq_of(TABLE[:, 1:], content=content), encoding="utf-8")
    read = read_pattern(tmp_path / "walk.seq", biped())
    assert np.array_equal(read.times, [0.0, 0.002, 0.004])
    assert np.array_equal(read.position, TABLE[:, 1:])


def test_places_of_links_and_zmp_beside_joints_are_kept_and_times_may_be_in_the_frames(tmp_path):
    timed = seq_of(TABLE, numParts=10, extra="    hasFrameTime: true\n")
    zmp = (
        "  - \n    type: Vector3Seq\n    content: ZMP\n    frames: \n" + 3 * "      - [ 1, 2, 3 ]\n"
    )
    links = "  - \n    type: MultiSE3Seq\n    purpose: LinkPosition\n    frames: \n"
    links += 3 * "      - [ [ 0, 0, 0.7, 1, 0, 0, 0 ] ]\n"
    (tmp_path / "walk.seq").write_text(timed + zmp + links, encoding="utf-8")
    read = read_pattern(tmp_path / "walk.seq", biped())
    assert np.array_equal(read.times, TABLE[:, 0])
    assert read.extra["ZMP"].tolist() == [[1.0, 2.0, 3.0]] * 3
    assert read.extra["LinkPosition"][0].tolist() == [0.0, 0.0, 0.7, 1.0, 0.0, 0.0, 0.0]


def numbered(numbers):
    """A biped of ten joints with these numbers."""
    robot = biped()
    for name, number in zip(robot.joint_names, numbers, strict=True):
        robot.joint(name).number = number
    return robot


@pytest.mark.parametrize("suffix", [".pos", ".seq", ".yaml"])
def test_columns_of_more_joints_than_the_robot_has_are_taken_by_their_numbers(tmp_path, suffix):
    numbers = [11, 2, 3, 0, 5, 6, 12, 8, 9, 10]
    wide = np.tile(0.01 * np.arange(14), (3, 1)) + 0.001 * np.arange(3)[:, None] * (
        np.arange(14) != 4
    )
    # what the robot has not stands still
    wide[:, [1, 4, 7, 13]] = 0.5
    file = tmp_path / f"walk{suffix}"
    table = np.column_stack([TABLE[:, 0], wide])
    file.write_text(text_of(table) if suffix == ".pos" else seq_of(wide), encoding="utf-8")
    robot = numbered(numbers)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = read_pattern(file, robot)
    for name, number in zip(robot.joint_names, numbers, strict=True):
        assert np.array_equal(read.position[:, read.joints.index(name)], wide[:, number])


def test_columns_that_move_and_belong_to_no_joint_are_told(tmp_path):
    wide = np.column_stack([TABLE, TABLE[:, 1]])
    (tmp_path / "walk.pos").write_text(text_of(wide), encoding="utf-8")
    robot = numbered([0, *range(2, 11)])
    with pytest.warns(PatternFileWarning, match="moves joints of numbers 1 that biped does not"):
        read = read_pattern(tmp_path / "walk.pos", robot)
    # after the time, the columns of 0 and of 2 to 10
    assert np.array_equal(read.position, wide[:, [1, *range(3, 12)]])


@pytest.mark.parametrize("numbers", [None, [*range(9), 40]])
def test_a_pattern_of_another_robot_is_refused_with_what_to_do(tmp_path, numbers):
    wide = np.column_stack([TABLE, TABLE[:, 1]])
    (tmp_path / "walk.pos").write_text(text_of(wide), encoding="utf-8")
    robot = biped() if numbers is None else numbered(numbers)
    with pytest.raises(tabi.ModelError) as refused:
        read_pattern(tmp_path / "walk.pos", robot)
    assert "has positions of 11 joints; expected those of 10 of biped" in str(refused.value)
    assert "is it a pattern of another robot?" in str(refused.value)
    assert "joints=[…]" in str(refused.value)


def zmp_of(rows, extra=""):
    lines = "".join(f"      - {row}\n" for row in np.asarray(rows, float).tolist())
    head = "  - \n    type: Vector3Seq\n    content: ZMP\n"
    return f"{head}    frameRate: {250 * (len(rows) - 1)}\n{extra}    frames: \n{lines}"


@pytest.mark.parametrize(
    ("rows", "extra", "relative"),
    [
        ([[0.01, 0.0, -0.7], [0.02, 0.0, -0.7]], "    isRootRelative: true\n", True),
        ([[0.01, 0.0, -0.7], [0.02, 0.0, -0.7]], "    is_root_relative: false\n", False),
        ([[0.01, 0.0, -0.7], [0.02, 0.0, -0.7]], "", True),
        ([[0.01, 0.0, 0.0], [0.02, 0.0, 0.0]], "", False),
        ([[0.01, 0.0, 0.0], [0.02, 0.0, 0.0]], "    isRootRelative: true\n", True),
    ],
)
@pytest.mark.parametrize("suffix", [".seq", ".yaml"])
def test_a_zmp_below_the_root_is_the_patterns_at_the_times_of_its_joints(
    tmp_path, rows, extra, relative, suffix
):
    file = tmp_path / f"walk{suffix}"
    file.write_text(seq_of(TABLE[:, 1:]) + zmp_of(rows, extra), encoding="utf-8")
    read = read_pattern(file, biped())
    if not relative:
        assert read.zmp is None
        return
    # two rows over 4 ms, three samples of the joints
    assert read.zmp[:, 0] == pytest.approx([0.01, 0.015, 0.02])
    assert read.zmp[:, 2] == pytest.approx(rows[0][2])


def test_the_zmp_of_openhrp_is_in_the_waists_frame(tmp_path):
    (tmp_path / "walk.pos").write_text(text_of(TABLE), encoding="utf-8")
    (tmp_path / "walk.zmp").write_text(text_of(TABLE[:, :4]), encoding="utf-8")
    read = read_pattern(tmp_path / "walk.pos", biped())
    assert np.array_equal(read.zmp, TABLE[:, 1:4])
    (tmp_path / "walk.zmp").unlink()
    assert read_pattern(tmp_path / "walk.pos", biped()).zmp is None


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.pos", text_of(TABLE[:, :9]), "a.pos: has positions of 8 joints; expected those of 10"),
        ("a.pos", "0 1 2\n\n0.1 1 two\n", "a.pos, line 3: '0.1 1 two' is not a row of numbers"),
        ("a.pos", "0 1 2\n0.1 1\n", "a.pos, line 2: has 2 numbers, and rows before it 3"),
        ("a.pos", "0 1 2\n0.1 1 nan\n", "a.pos, line 2: holds '0.1 1 nan'; expected finite"),
        ("a.pos", "0.1 1 2\n0.1 1 2\n", "line 2: is at 0.1 s, after 0.1 s; expected growing"),
        ("a.pos", "", "a.pos: has no two rows of a time and numbers"),
        (
            "a.pos",
            text_of(1e3 * TABLE),
            "a.pos: the pattern takes joint 'r_knee' of biped to 270 at 4 s",
        ),
        (
            "a.seq",
            "type: Walk\n",
            "a.seq, line 1: is no motion of Choreonoid; expected 'type: Comp",
        ),
        ("a.seq", "type: [1,\n2", "a.seq, line 3: is no YAML"),
        ("a.seq", seq_of(TABLE[:, 1:], numParts=9), "line 11: frame 0 of component 'JointDisplac"),
        ("a.seq", seq_of(TABLE[:, 1:]).replace("0.1,", "x,", 1), "line 12: frame 1 of component"),
        ("a.seq", seq_of(TABLE[:, 1:], rate=0), "has the frameRate 0; expected frames a second"),
        ("a.seq", seq_of(TABLE[:, 1:], content="ZMP"), "has no component with the content Joint"),
        ("a.seq", seq_of(TABLE[:1, 1:]), "component 'JointDisplacement' has no two frames"),
        ("a.csv", "1 2", "a pattern cannot be read from '.csv'; expected a file of OpenHRP"),
    ],
)
def test_broken_files_are_refused_with_their_line(tmp_path, name, text, words):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(tabi.ModelError, match=words.replace(".", r"\.")):
        read_pattern(tmp_path / name, biped(knee=(-1.0, 3.0)))


def test_a_missing_file_and_a_companion_of_another_length_are_refused(tmp_path):
    with pytest.raises(tabi.ModelError, match="no such file; expected a pattern"):
        read_pattern(tmp_path / "a.pos", biped())
    (tmp_path / "a.pos").write_text(text_of(TABLE), encoding="utf-8")
    (tmp_path / "a.zmp").write_text(text_of(TABLE[:2]), encoding="utf-8")
    with pytest.raises(tabi.ModelError, match=r"a\.zmp: has 2 rows, and a\.pos has 3; expected a"):
        read_pattern(tmp_path / "a.pos", biped())


def test_the_walk_of_openhrps_sample_robot_keeps_its_stance_foot_still(shared):
    """An oracle in the file itself: with the waist where it says, feet stand where they stand."""
    with pytest.warns(tabi.RobotFileWarning):
        robot = tabi.load(shared / "data/robots/sr1/sample1.wrl")
    read = read_pattern(shared / "data/motions/sample_robot/samplerobot-gopos000.pos", robot)
    assert read.position.shape == (1999, 29)
    assert {name: x.shape[1] for name, x in read.extra.items()} == {"waist": 6, "zmp": 3}
    heights = []
    for k in range(0, 1999, 50):
        pose = dict(zip(read.joints, read.position[k], strict=True))
        robot.set_pose(pose)
        robot.place(read.extra["waist"][k, :3])
        X = robot.placements()
        heights.append(min(X[b].p[2] for b in robot.bodies if b.name.endswith("LEG_ANKLE_R")))
    # the lower ankle stays at its height above the ground all the time; the waist's lean of 1e-3
    # rad is left out, at 0.7 m
    assert np.ptp(heights) < 2e-3


@pytest.mark.slow
def test_openhrps_sample_robot_walks_its_pattern_to_where_the_file_says(shared):
    world = tabi.World()
    world.add_ground()
    with pytest.warns(tabi.RobotFileWarning):
        robot = world.add_robot(tabi.load(shared / "data/robots/sr1/sample1.wrl"))
    read = read_pattern(shared / "data/motions/sample_robot/samplerobot-gopos000.pos", robot)
    robot.stand_on_ground(dict(zip(read.joints, read.position[0], strict=True)))
    sim, played = tabi.Simulator(world), playback(robot, read)
    sim.set_controller(robot, played)
    start = sim.pose(robot.base).p.copy()
    sim.run(played.ends)
    told = read.extra["waist"][-1, :3] - read.extra["waist"][0, :3]
    # 0.149 m in four steps; motors lag and feet slip by a millimetre or two
    assert sim.pose(robot.base).p - start == pytest.approx(told, abs=5e-3)
    assert sim.pose(robot.base).R[2, 2] > 0.999


@pytest.mark.slow
def test_the_walk_of_sr1_is_read(shared):
    with pytest.warns(tabi.RobotFileWarning):
        robot = tabi.load(shared / "data/robots/sr1/SR1.body")
    file = shared / "data/motions/sr1/SR1WalkPattern1.seq"
    read = read_pattern(file, robot)
    assert read.position.shape == (6701, 29)
    assert read.duration == pytest.approx(13.4)
    assert read.joints[0] == "RLEG_HIP_R"
