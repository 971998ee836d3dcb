"""SRDF files: pairs that never collide, poses with names, and what is told of the rest."""

import numpy as np
import pytest
from worlds import without_shapes

import tabi
from tabi import collision
from tabi._errors import ModelError
from tabi.formats.load import load
from tabi.formats.urdf import srdf

INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    "</inertial>"
)
BOX = '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'


def link(name):
    return f'<link name="{name}">{INERTIAL}{BOX}</link>\n'


def joint(name, kind, parent, child, more=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.05 0 0"/><axis xyz="0 0 1"/>{more}</joint>\n'
    )


# four boxes in each other; "pad" is bolted to "c"
URDF = (
    '<robot name="arm">\n'
    + "".join(map(link, ("a", "b", "c", "pad")))
    + joint("ab", "revolute", "a", "b", '<limit lower="-1" upper="1" effort="9" velocity="9"/>')
    + joint("bc", "continuous", "b", "c")
    + joint("glue", "fixed", "c", "pad")
    + "</robot>\n"
)
FOLLOWER = link("d") + joint(
    "cd", "continuous", "c", "d", '<mimic joint="ab" multiplier="2" offset="0.1"/>'
)


def written(folder, lines="", urdf=URDF, name="arm.srdf", title="arm"):
    """A robot's file and an SRDF beside it."""
    file = folder / "arm.urdf"
    file.write_text(urdf)
    (folder / name).write_text(f'<robot name="{title}">\n{lines}</robot>\n')
    return file


def touching(robot):
    model = robot.compile()
    return {
        frozenset((c.link_a, c.link_b)) for c in collision.contacts(model, model.initial(), 1e-3)
    }


def pair(a, b):
    return f'<disable_collisions link1="{a}" link2="{b}" reason="Never"/>\n'


def state(name, *joints, group="all"):
    told = "".join(f'<joint name="{j}" value="{value}"/>' for j, value in joints)
    return f'<group_state name="{name}" group="{group}">{told}</group_state>\n'


# ---- pairs --------------------------------------------------------------------------------------


def test_a_disabled_pair_does_not_touch_and_links_on_fixed_joints_keep_their_own(tmp_path):
    file = written(tmp_path, pair("c", "a"))
    assert touching(load(file, srdf=False)) == {frozenset("ac"), frozenset(("a", "pad"))}
    assert touching(load(file)) == {frozenset(("a", "pad"))}
    # those that hang together by a joint never touch
    file = written(tmp_path, pair("c", "a") + pair("pad", "a"))
    assert touching(load(file)) == set()


def test_a_link_that_collides_with_nothing_by_default_collides_where_it_is_enabled(tmp_path):
    alone = '<disable_default_collisions link="a"/>\n'
    robot = load(written(tmp_path, alone))
    assert robot.excluded == {frozenset(("a", other)) for other in ("b", "c", "pad")}
    assert touching(robot) == set()
    enabled = alone + '<enable_collisions link1="pad" link2="a"/>\n'
    assert touching(load(written(tmp_path, enabled))) == {frozenset(("a", "pad"))}


def test_links_that_are_not_there_are_a_note(tmp_path):
    robot = load(written(tmp_path, pair("a", "c") + pair("a", "x") + pair("b", "b")))
    assert robot.excluded == {frozenset("ac")}
    assert "arm.srdf: links that the robot has not, passed over (1): 'x'" in robot.notes
    assert any("<disable_collisions> with themselves" in note for note in robot.notes)


def test_exclude_takes_names_and_bodies_and_refuses_others_by_the_nearest_name(tmp_path):
    robot = load(written(tmp_path), srdf=False)
    robot.exclude("pad", robot.body("a"))
    assert robot.excluded == {frozenset(("a", "pad"))}
    with pytest.raises(ModelError, match="body 'pat' not found in arm; bodies near that name: 'p"):
        robot.exclude("a", "pat")
    with pytest.raises(ModelError, match="'a' of arm is excluded from collisions with itself"):
        robot.exclude("a", "a")


# ---- poses --------------------------------------------------------------------------------------


def test_a_group_state_is_a_pose_and_states_of_one_name_are_one(tmp_path):
    told = state("home", ("ab", 0.5), group="one") + state("home", ("bc", -3.5), group="two")
    robot = load(written(tmp_path, told))
    assert robot.poses["home"] == {"ab": 0.5, "bc": -3.5}
    robot.set_pose("home")
    np.testing.assert_array_equal(robot.joint("bc").position, [-3.5])


@pytest.mark.parametrize("name", ["half_sitting", "half-sitting", "standing"])
def test_the_pose_to_start_from_is_half_sitting_under_each_of_its_names(tmp_path, name):
    robot = load(written(tmp_path, state("up", ("ab", 0.1)) + state(name, ("ab", 0.7))))
    assert robot.half_sitting == {"ab": 0.7}
    assert name in robot.poses


def test_a_continuous_joint_may_be_given_by_cosine_and_sine(tmp_path):
    told = state("turned", ("bc", f"{np.cos(2.5):.15f} {np.sin(2.5):.15f}"))
    robot = load(written(tmp_path, told))
    assert robot.poses["turned"]["bc"] == pytest.approx(2.5, abs=1e-14)


def test_what_a_pose_cannot_hold_is_told(tmp_path):
    told = state(
        "p", ("ab", 1.2), ("root_joint", "1 2 3 0 0 0 1"), ("glue", 0), ("nobody", 0), ("bc", 0.0)
    )
    robot = load(written(tmp_path, told))
    assert robot.poses["p"] == {"ab": 1.2, "bc": 0.0}
    notes = "\n".join(robot.notes)
    assert "joints that pose 'p' puts out of their limits, kept (1): 'ab'" in notes
    assert "robot.place([1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 0.0]) does" in notes
    assert "joints of a pose that are fixed, passed over (1): 'glue'" in notes
    assert "joints that the robot has not, passed over (1): 'nobody'" in notes


@pytest.mark.parametrize(("value", "told"), [(1.1, False), (0.3, True)])
def test_a_joint_that_follows_stays_with_its_leader(tmp_path, value, told):
    urdf = URDF.replace("</robot>", FOLLOWER + "</robot>")
    file = written(tmp_path, state("p", ("cd", value), ("ab", 0.5)), urdf)
    robot = load(file)
    assert robot.poses["p"] == {"ab": 0.5}
    assert told == any("elsewhere than their leaders" in note for note in robot.notes)


@pytest.mark.slow
def test_poses_of_the_example_robots_are_those_that_pinocchio_reads(example_robots, tmp_path):
    pin = pytest.importorskip("pinocchio")
    compared = 0
    for file in sorted(example_robots.rglob("*.urdf")):
        found = srdf.beside(file)
        if found is None or file.stem in ("alex_psyonic_hands", "pr2"):
            # a mimic of a joint that is not there; more joints than are worth the time
            continue
        bare = without_shapes(file, tmp_path / file.stem)
        robot, model = load(bare, srdf=found), pin.buildModelFromUrdf(str(file))
        pin.loadReferenceConfigurations(model, str(found), False)
        for name in robot.poses:
            if name not in model.referenceConfigurations:
                # half_sitting under another name
                assert name == "half_sitting"
                continue
            q = model.referenceConfigurations[name]
            for joint_name, value in robot.poses[name].items():
                k = model.getJointId(joint_name)
                start, count = model.idx_qs[k], model.nqs[k]
                turned = np.arctan2(q[start + 1], q[start]) if count == 2 else q[start]
                if count == 2 and np.hypot(*q[start : start + 2]) != pytest.approx(1.0):
                    # one number for a joint that pinocchio wants two of
                    continue
                assert value == pytest.approx(turned, abs=1e-12), (file.name, name, joint_name)
                compared += 1
    assert compared > 300


# ---- the file -----------------------------------------------------------------------------------


def test_the_file_is_found_beside_or_in_a_folder_of_its_own_and_a_note_says_so(tmp_path):
    folders = [tmp_path / "robots", tmp_path / "srdf"]
    for folder in folders:
        folder.mkdir()
    file = written(folders[0], name="other.srdf")
    assert not any("SRDF" in note for note in load(file).notes)
    written(folders[1], pair("a", "c"))
    said = "SRDF arm.srdf found beside the robot's file; pairs that never collide: 1, poses: none"
    assert said in load(file).notes
    # the one in the robot's own folder comes first
    written(folders[0], pair("a", "c") + pair("a", "pad"))
    assert len(load(file).excluded) == 2
    assert load(file, srdf=folders[1] / "arm.srdf").excluded == {frozenset("ac")}
    assert not load(file, srdf=False).excluded
    # and the world's own door finds it too
    assert len(tabi.World().add_robot(file).excluded) == 2


def test_a_file_of_another_robot_and_elements_nobody_reads_are_notes(tmp_path):
    lines = '<group name="all"><chain base_link="a" tip_link="c"/></group><rotor_params/>\n'
    robot = load(written(tmp_path, lines, title="leg"))
    assert "arm.srdf: is of a robot called 'leg', this one is 'arm'" in robot.notes
    assert "arm.srdf: ignored: 1 × <rotor_params>" in robot.notes


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('<disable_collisions link1="a"/>', "line 2: <disable_collisions> has a .* without link2"),
        ("<group_state>", "line 2: file is not well-formed XML"),
        (state("p", ("ab", "left")), "'ab' of pose 'p' has value='left' .* expected a finite num"),
        (state("p", ("ab", "1 2")), "line 2: joint 'ab' of pose 'p' has value='1 2'; expected one"),
        (state("p", ("ab", "nan")), "expected a finite number"),
        ("<group_state/>", "without name"),
    ],
)
def test_a_faulty_file_is_one_sentence_with_its_line(tmp_path, lines, said):
    file = written(tmp_path, lines)
    with pytest.raises(ModelError, match=said) as raised:
        load(file)
    assert raised.value.file == tmp_path / "arm.srdf"
    assert raised.value.line == 2
    assert str(raised.value).endswith("; srdf=False loads the robot without this file")
    with pytest.raises(ModelError, match=said) as raised:
        load(file, srdf=str(tmp_path / "arm.srdf"))
    assert "srdf=False" not in str(raised.value)
    assert load(file, srdf=False).name == "arm"


def test_a_file_that_is_not_there_and_a_path_that_is_none_are_refused(tmp_path):
    file = written(tmp_path)
    with pytest.raises(ModelError, match=r"lost\.srdf: SRDF file cannot be opened"):
        load(file, srdf=tmp_path / "lost.srdf")
    with pytest.raises(ModelError, match="srdf is 3; expected the path of a file, or False"):
        load(file, srdf=3)
    (tmp_path / "arm.srdf").write_text("<sdf/>")
    with pytest.raises(ModelError, match="line 1: root element is <sdf>; expected <robot>"):
        load(file)
