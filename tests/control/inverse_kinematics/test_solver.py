"""The face of inverse kinematics: what it takes, what it gives, and what it refuses."""

import numpy as np
import pytest
from control.inverse_kinematics.arms import planar_arm
from worlds import random_robot

import tabi
from tabi import ModelError, dynamics
from tabi.control.inverse_kinematics.solution import JointSolution
from tabi.control.inverse_kinematics.tasks import PoseTask
from tabi.spatial.transform import Transform, about

InverseKinematics = tabi.control.InverseKinematics


def with_tip(**options):
    ik = InverseKinematics(planar_arm(), **options)
    return ik, ik.pose("tip", orientation="")


def test_targets_are_at_first_where_the_robot_is():
    robot = tabi.robots.hrp2()
    robot.stand_on_ground()
    ik = InverseKinematics(robot)
    ik.pose(robot.feet["left"])
    ik.pose(robot.body("left_hand"), point=(0.1, 0.0, 0.0))
    ik.centre_of_mass()
    ik.gaze("head")
    ik.posture()
    found = ik.solve()
    assert isinstance(found, JointSolution)
    assert found.reached
    assert found.iterations == 0
    np.testing.assert_allclose(found.q, ik.model.initial(), atol=1e-15)


def test_a_robot_and_its_model_are_the_same_to_it():
    robot = planar_arm()
    answers = []
    for given in (robot, robot.compile()):
        ik = InverseKinematics(given)
        ik.pose("tip", orientation="").target = (0.4, 0.5, 0.0)
        answers.append(ik.solve(np.array([0.1, 0.2])).q)
    np.testing.assert_array_equal(*answers)


def test_a_point_of_a_body_goes_where_it_is_told():
    ik = InverseKinematics(planar_arm())
    task = ik.pose("link1", orientation="", point=(0.4, 0.1, 0.0))
    task.target = (0.4, 0.5, 0.0)
    found = ik.solve(np.array([0.1, 0.2]))
    assert found.reached
    point = dynamics.pose(ik.model, found.q, "link1") @ np.array([0.4, 0.1, 0.0])
    np.testing.assert_allclose(point, (0.4, 0.5, 0.0), atol=1e-8)


def test_orientation_alone_leaves_the_position():
    ik = InverseKinematics(planar_arm())
    task = ik.pose("tip", position="")
    task.target = about((0, 0, 1), 1.2)
    found = ik.solve(np.array([0.1, 0.2]))
    assert found.reached
    assert found.q.sum() == pytest.approx(1.2, abs=1e-8)


def test_axes_that_do_not_count_are_free():
    ik = InverseKinematics(planar_arm())
    task = ik.pose("tip", position="y", orientation="")
    task.target = (77.0, 0.5, -5.0)
    found = ik.solve(np.array([0.1, 0.2]))
    assert found.reached
    assert dynamics.pose(ik.model, found.q, "tip").p[1] == pytest.approx(0.5, abs=1e-8)


def test_positions_are_for_a_command():
    ik, task = with_tip()
    task.target = (0.4, 0.5, 0.0)
    found = ik.solve(np.array([0.1, 0.2]))
    assert found.positions == {"joint0": found.q[0], "joint1": found.q[1]}
    assert tabi.Command(position=found.positions).position is not None


def test_tasks_added_and_removed_between_solutions_keep_their_targets():
    ik, task = with_tip()
    task.target = (0.4, 0.5, 0.0)
    first = ik.solve(np.array([0.1, 0.2]))
    posture = ik.posture({"joint0": 0.5}, priority=1)
    second = ik.solve(np.array([0.1, 0.2]))
    assert second.reached
    np.testing.assert_array_equal(task.target.p, (0.4, 0.5, 0.0))
    assert posture.target["joint0"] == 0.5
    ik.remove(posture)
    np.testing.assert_array_equal(ik.solve(np.array([0.1, 0.2])).q, first.q)
    with pytest.raises(ModelError, match="no task of this inverse kinematics"):
        ik.remove(posture)


def test_a_solution_keeps_what_it_said_when_the_next_is_asked_for():
    ik, task = with_tip()
    task.target = (0.4, 0.5, 0.0)
    found = ik.solve(np.array([0.1, 0.2]))
    q, errors = found.q.copy(), dict(found.errors)
    task.target = (1.5, 0.5, 0.0)
    assert ik.solve(q).errors["tip"]["position"] > 0.1
    np.testing.assert_array_equal(found.q, q)
    assert found.errors == errors


def test_passive_joints_are_never_moved():
    robot = tabi.robots.hrp2()
    robot.add_bush()
    robot.stand_on_ground()
    ik = InverseKinematics(robot)
    foot = ik.pose("left")
    ik.pose("right")
    foot.target = Transform(foot.target.R, foot.target.p + np.array([0.05, 0.0, 0.05]))
    found, start = ik.solve(), ik.model.initial()
    assert found.reached
    bush = robot.bush.feet["left"]
    for name in (bush.roll, bush.pitch):
        at = ik.model.q_index(name)
        assert found.q[at] == start[at]


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda ik: ik.pose("tipp"), "body 'tipp' not found in the model; bodies near that name"),
        (lambda ik: ik.gaze("hed"), "body 'hed' not found"),
        (lambda ik: ik.posture({"elbow": 1.0}), "joint 'elbow' not found in the model"),
        (lambda ik: ik.posture(joints=["elbow"]), "joint 'elbow' not found in the model"),
        (lambda ik: ik.posture({"joint0": np.nan}), "'joint0'.*expected 1 finite number"),
        (lambda ik: ik.pose("tip", priority=-1), "priority of task 'tip' is -1; expected 0"),
        (lambda ik: ik.pose("tip", priority=0.5), "priority of task 'tip' is 0.5; expected 0"),
        (lambda ik: ik.pose("tip", priority=True), "priority of task 'tip' is True"),
        (lambda ik: ik.pose("tip", weight=-1.0), "weight of task 'tip' is -1.0; expected a finite"),
        (lambda ik: ik.pose("tip", weight=np.nan), "weight of task 'tip' is nan"),
        (lambda ik: ik.pose("tip", rotation_weight=0), "weight of task 'tip' is 0"),
        (lambda ik: ik.pose("tip", position="xw"), "position of task 'tip' is 'xw'; expected axes"),
        (lambda ik: ik.pose("tip", position="", orientation=""), "neither a position nor"),
        (lambda ik: ik.pose("tip", point=(0, 0)), "point of 'tip' is .*three finite numbers"),
        (lambda ik: ik.centre_of_mass(axes=""), "task 'centre of mass' has no axes"),
        (lambda ik: ik.gaze("tip", axis=(0, 0, 0)), "axis of the gaze of 'tip' is zero"),
    ],
)
def test_tasks_that_cannot_be_are_refused_in_a_sentence(make, words):
    ik = InverseKinematics(planar_arm())
    with pytest.raises(ModelError, match=words):
        make(ik)
    assert ik.tasks == []


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ((np.nan, 0, 0), "target of 'tip' is .*nan.*; expected three finite numbers in metres"),
        ((1, 2), "target of 'tip' is .*expected three finite numbers"),
        ("here", "target of 'tip' is 'here'"),
        (Transform(np.eye(3), np.array([0, np.inf, 0])), "target of 'tip' is .*inf"),
    ],
)
def test_targets_that_are_none_are_refused_and_the_old_one_stays(target, words):
    _, task = with_tip()
    before = task.target.p
    with pytest.raises(ModelError, match=words):
        task.target = target
    np.testing.assert_array_equal(task.target.p, before)


def test_a_pose_needs_a_rotation_that_is_one():
    ik = InverseKinematics(planar_arm())
    task = ik.pose("tip")
    assert isinstance(task, PoseTask)
    for wrong in (2 * np.eye(3), np.diag([1.0, 1.0, -1.0]), np.full((3, 3), np.nan)):
        with pytest.raises(ModelError, match="expected a rotation matrix"):
            task.target = Transform(wrong, np.zeros(3))
    with pytest.raises(ModelError, match="expected a Transform, or three numbers"):
        task.target = (0.1, 0.2, 0.3)


@pytest.mark.parametrize(
    ("q", "words"),
    [
        (np.zeros(3), r"q has shape \(3,\); expected \(2,\)"),
        ([0.0, np.nan], r"q\[1\] \(joint 'joint1'\) is nan"),
        ("home", "q is str; expected 2 numbers"),
    ],
)
def test_starts_that_are_no_configuration_are_refused(q, words):
    ik, _ = with_tip()
    with pytest.raises(ModelError, match=words):
        ik.solve(q)


def test_lists_of_numbers_are_configurations_too():
    ik, task = with_tip()
    task.target = (0.4, 0.5, 0.0)
    assert ik.solve([0.1, 0.2]).reached


def test_no_task_no_robot_and_no_tolerance_are_refused():
    with pytest.raises(ModelError, match="has no task; expected at least one"):
        InverseKinematics(planar_arm()).solve()
    with pytest.raises(ModelError, match="was given str; expected a robot or a compiled model"):
        InverseKinematics("hrp2")
    with pytest.raises(ModelError, match="tolerance is 0"):
        InverseKinematics(planar_arm(), tolerance=0)
    with pytest.raises(ModelError, match="iterations and restarts are 0 and 60"):
        InverseKinematics(planar_arm(), iterations=0)
    with pytest.raises(ModelError, match="joint 'elbow' not found"):
        InverseKinematics(planar_arm(), locked=["elbow"])
    with pytest.raises(ModelError, match="locked is 'joint0'; expected a list of joints"):
        InverseKinematics(planar_arm(), locked="joint0")


def test_a_posture_of_a_joint_that_floats_is_refused():
    robot = random_robot(0, bodies=6, kinds=("floating",))
    with pytest.raises(ModelError, match="which floats; expected joints"):
        InverseKinematics(robot).posture(joints=["joint1"])
