"""Files of motions: those that were written as their formats say, real ones, and broken ones."""

import numpy as np
import pytest
from bipeds import biped

import tabi
from tabi.control import playback, read_pattern
from tabi.control.pattern_files import columns

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
    assert np.array_equal(read.others["waist"], TABLE[:, 1:7])
    assert np.array_equal(read.others["zmp"], TABLE[:, 1:4])


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
    assert read.others["ZMP"].tolist() == [[1.0, 2.0, 3.0]] * 3
    assert read.others["LinkPosition"][0].tolist() == [0.0, 0.0, 0.7, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.pos", text_of(TABLE[:, :9]), "a.pos: has positions of 8 joints; expected those of 10"),
        ("a.pos", "0 1 2\n\n0.1 1 two\n", "a.pos, line 3: '0.1 1 two' is no row of numbers"),
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
    assert {name: x.shape[1] for name, x in read.others.items()} == {"waist": 6, "zmp": 3}
    heights = []
    for k in range(0, 1999, 50):
        pose = dict(zip(read.joints, read.position[k], strict=True))
        robot.set_pose(pose)
        robot.place(read.others["waist"][k, :3])
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
    told = read.others["waist"][-1, :3] - read.others["waist"][0, :3]
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
