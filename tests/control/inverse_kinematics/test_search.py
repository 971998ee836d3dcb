"""Inverse kinematics against closed forms, an independent optimiser, and its own laws."""

import numpy as np
import pytest
from bipeds import standing_hrp2
from control.inverse_kinematics.arms import BALL, planar_arm, within_limits
from scipy.optimize import least_squares

import tabi
from tabi import dynamics
from tabi.control.inverse_kinematics import search
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform, translation

InverseKinematics = tabi.control.InverseKinematics


def reach(robot, point, q=None, **options):
    ik = InverseKinematics(robot, **options)
    ik.pose("tip", orientation="").target = point
    return ik.solve(q)


# ---- closed forms -------------------------------------------------------------------------------


def elbow(x, y, side, a=0.5, b=0.4):
    """Both joints of a planar arm of two links, by the law of cosines."""
    bend = side * np.arccos((x * x + y * y - a * a - b * b) / (2 * a * b))
    return np.array([np.arctan2(y, x) - np.arctan2(b * np.sin(bend), a + b * np.cos(bend)), bend])


@pytest.mark.parametrize("side", [1, -1])
def test_planar_arm_finds_the_elbow_on_the_side_that_it_starts_from(side):
    for x, y in ((0.6, 0.3), (0.2, -0.5), (0.4, 0.0), (0.1, 0.3)):
        start = elbow(x, y, side) + np.array([0.2, 0.2 * side])
        found = reach(planar_arm(), (x, y, 0.0), start)
        assert found.reached
        assert found.starts == 1
        np.testing.assert_allclose(found.q, elbow(x, y, side), atol=1e-7)


def test_what_is_beyond_a_planar_arm_ends_on_the_ray_with_the_arm_straight():
    for angle in (0.0, 0.7, -2.0):
        ray = np.array([np.cos(angle), np.sin(angle), 0.0])
        robot = planar_arm()
        found = reach(robot, 1.3 * ray, np.array([0.3, 0.5]))
        assert found.converged
        assert not found.reached
        # of 1.3 m, the links have 0.9
        assert found.errors["tip"]["position"] == pytest.approx(0.4, abs=1e-9)
        # bent by φ the arm is c φ² shorter, and costs differ by 1e-12: φ below 1e-5
        tip = dynamics.pose(found.model, found.q, "tip").p
        np.testing.assert_allclose(tip, 0.9 * ray, atol=1e-5)


def test_what_is_too_near_to_a_planar_arm_ends_at_its_inner_circle():
    found = reach(planar_arm(lower=-np.pi, upper=np.pi), (0.04, 0.0, 0.0), np.array([0.3, 2.0]))
    assert found.converged
    assert found.errors["tip"]["position"] == pytest.approx(0.06, abs=1e-9)


def test_limit_of_the_elbow_is_where_the_nearest_point_is():
    # an elbow that stops at 1 rad reaches no nearer than this
    robot = planar_arm(upper=1.0, lower=-1.0)
    nearest = np.sqrt(0.5**2 + 0.4**2 + 2 * 0.5 * 0.4 * np.cos(1.0))
    found = reach(robot, (0.5, 0.0, 0.0), np.array([0.0, 0.3]))
    assert found.converged
    assert abs(found.q[1]) == 1.0
    assert found.errors["tip"]["position"] == pytest.approx(nearest - 0.5, abs=1e-9)


def test_spherical_joint_turns_to_any_rotation():
    robot = Robot("ball")
    robot.add_body("base", Joint("base_joint", "fixed"), None, BALL)
    robot.add_body("ball", Joint("socket", "spherical"), robot.bodies[0], BALL)
    robot.add_body("tip", Joint("end", "fixed", translation((0.3, 0, 0))), robot.bodies[1], BALL)
    ik = InverseKinematics(robot)
    task = ik.pose("tip", position="")
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = within_limits(ik.model, rng)
        task.target = dynamics.pose(ik.model, q, "tip")
        found = ik.solve(ik.model.neutral())
        assert found.reached
        # the same rotation, whatever the quaternion's sign
        assert abs(found.q @ q) == pytest.approx(1.0, abs=1e-12)


# ---- an independent optimiser -------------------------------------------------------------------


@pytest.mark.slow
def test_nearest_points_are_those_of_scipy():
    """A leg of HRP-2 from its waist, asked for places below the ground."""
    robot = standing_hrp2()
    ik = InverseKinematics(robot, locked=[robot.name], restarts=0)
    task = ik.pose("left", rotation_weight=0.1)
    model, home = ik.model, task.target
    free = ik._ready().free
    at = model.arrays.dof["q"][free]
    limits = (ik._ready().lower[free], ik._ready().upper[free])
    rng = np.random.default_rng(4)
    for _ in range(6):
        shift = np.array([*rng.uniform(-0.3, 0.3, 2), rng.uniform(-0.4, -0.15)])
        task.target = Transform(home.R, home.p + shift)

        def residual(x, there=home.p + shift):
            q = model.initial()
            q[at] = x
            X = dynamics.pose(model, q, "left")
            turn = Transform(home.R @ X.R.T).quaternion
            sine = np.linalg.norm(turn[1:])
            vector = 2 * np.arctan2(sine, turn[0]) * turn[1:] / max(sine, 1e-300)
            return np.concatenate([there - X.p, np.sqrt(0.1) * vector])

        found = ik.solve()
        assert found.converged
        start = np.clip(model.initial()[at], *limits)
        best = least_squares(residual, start, bounds=limits, xtol=1e-15, ftol=1e-15, gtol=1e-12)
        ours = 0.5 * float(np.sum(residual(found.q[at]) ** 2))
        assert best.cost > 1e-4
        # scipy keeps off its bounds: never better, and no worse than that
        assert ours <= best.cost + 1e-9
        assert ours == pytest.approx(best.cost, rel=1e-4)


# ---- priorities ---------------------------------------------------------------------------------


def test_a_lower_priority_never_disturbs_a_higher_one():
    robot = standing_hrp2()
    rng = np.random.default_rng(1)
    for far in (0.1, 0.5, 2.0):
        ik = InverseKinematics(robot, restarts=0)
        feet = [ik.pose(foot) for foot in ("left", "right")]
        hand = ik.pose("left_hand", orientation="", priority=1)
        hand.target = hand.target.p + far * rng.normal(size=3)
        # held to a thousandth of the tolerance, and where they are met to the tolerance itself
        alone = ik.solve().errors
        ik.centre_of_mass(priority=2).target = rng.normal(size=3)
        ik.gaze("head", priority=2).target = 5.0 * rng.normal(size=3)
        ik.posture(priority=3)
        together = ik.solve().errors
        for task in (*feet, hand):
            for kind, size in together[task.name].items():
                assert size == pytest.approx(alone[task.name][kind], abs=1e-8)
        assert together["centre of mass"]["position"] > 0.01


def test_weights_share_what_two_tasks_of_one_priority_cannot_both_have():
    """A slider pulled to 0 and to 1 by weights a and b stands at b/(a + b)."""
    robot = Robot("slider")
    robot.add_body("base", Joint("base_joint", "fixed"), None, BALL)
    robot.add_body("cart", Joint("rail", "prismatic", axis=(1, 0, 0)), robot.bodies[0], BALL)
    ik = InverseKinematics(robot)
    for target, weight in ((0.0, 1.0), (1.0, 3.0)):
        ik.pose("cart", orientation="", weight=weight).target = (target, 0.0, 0.0)
    found = ik.solve()
    assert found.converged
    # costs are minimal to 1e-12, so places to 1e-6
    assert found.positions["rail"] == pytest.approx(0.75, abs=1e-6)


def test_centre_of_mass_moves_over_feet_that_stand_still():
    robot = standing_hrp2()
    ik = InverseKinematics(robot)
    feet = {side: ik.pose(robot.feet[side]) for side in ("left", "right")}
    centre = ik.centre_of_mass(axes="xy", priority=1)
    posture = ik.posture(robot.half_sitting, priority=2)
    before = {side: task.target for side, task in feet.items()}
    middle = centre.target
    for shift in ((0.03, 0.0, 0.0), (0.0, 0.05, 0.0), (-0.02, -0.05, 0.0)):
        centre.target = middle + np.array(shift)
        found = ik.solve()
        assert found.reached
        c = dynamics.centre_of_mass(ik.model, found.q)
        np.testing.assert_allclose(c[:2], (middle + np.array(shift))[:2], atol=1e-8)
        for side, X in before.items():
            here = dynamics.pose(ik.model, found.q, side)
            np.testing.assert_allclose(here.p, X.p, atol=1e-8)
            np.testing.assert_allclose(here.R, X.R, atol=1e-8)
        assert found.errors["posture"]["joints"] < 1.0
    assert posture.target["LLEG_KNEE_P"] == robot.half_sitting["LLEG_KNEE_P"]


def test_posture_takes_the_joints_that_tasks_leave_free_to_the_nearest_point():
    """Four links in a plane and a point to hold: the posture found is where its gradient has no
    part in the null space of the point's rows.
    """
    robot = planar_arm((0.4, 0.3, 0.3, 0.2))
    ik = InverseKinematics(robot)
    tip = ik.pose("tip", orientation="")
    tip.target = (0.5, 0.6, 0.0)
    posture = ik.posture({f"joint{i}": x for i, x in enumerate((0.1, 0.2, 0.9, -0.4))})
    found = ik.solve()
    assert found.reached
    J = dynamics.point_jacobian(ik.model, found.q, "tip")[:2]
    left = np.array(list(posture.target.values())) - found.q
    N = np.eye(4) - np.linalg.pinv(J) @ J
    # the cost is minimal to about 1e-11, the leeway of what is held: its gradient to the root
    assert np.linalg.norm(N @ left) < 2e-5
    assert np.linalg.norm(left) > 0.1


def test_gaze_points_the_head_at_what_it_looks_at():
    robot = standing_hrp2()
    ik = InverseKinematics(robot)
    for foot in ("left", "right"):
        ik.pose(foot)
    gaze = ik.gaze("head", axis=(1.0, 0.0, 0.0), priority=1)
    for target in ((3.0, 1.0, 1.0), (1.0, -1.0, 0.0), (0.5, 0.3, 1.5)):
        gaze.target = target
        found = ik.solve()
        assert found.reached
        X = dynamics.pose(ik.model, found.q, "head")
        way = np.array(target) - X.p
        assert np.linalg.norm(np.cross(X.R[:, 0], way / np.linalg.norm(way))) < 1e-8
        assert X.R[:, 0] @ way > 0


# ---- limits, locked joints, followers -----------------------------------------------------------


@pytest.mark.slow
def test_limits_are_never_left_not_by_a_single_bit():
    robot = standing_hrp2()
    ik = InverseKinematics(robot, restarts=2)
    tasks = [ik.pose(name) for name in ("left", "right", "left_hand", "right_hand")]
    ik.posture(priority=1)
    dof, rng = ik.model.arrays.dof, np.random.default_rng(3)
    single = dof["q"] >= 0
    stands = 0
    for _ in range(40):
        for task in tasks:
            task.target = Transform(task.target.R, task.target.p + 0.2 * rng.normal(size=3))
        q = ik.solve().q[dof["q"][single]]
        assert (q >= dof["lower"][single]).all()
        assert (q <= dof["upper"][single]).all()
        stands += np.sum((q == dof["lower"][single]) | (q == dof["upper"][single]))
    assert stands > 40


def test_a_start_outside_of_the_limits_is_brought_within():
    robot = planar_arm(upper=1.0, lower=-1.0)
    found = reach(robot, (0.8, 0.1, 0.0), np.array([0.0, 2.5]))
    assert found.reached
    assert abs(found.q[1]) <= 1.0


def test_locked_joints_stand_still():
    robot = standing_hrp2()
    names = ["CHEST_P", "CHEST_Y", "LARM_ELBOW_P"]
    ik = InverseKinematics(robot, locked=[*names, robot.name])
    hand = ik.pose("left_hand", orientation="")
    hand.target = hand.target.p + np.array([0.05, 0.05, 0.05])
    start = ik.model.initial()
    found = ik.solve(start)
    assert found.errors["left_hand"]["position"] < 0.09
    for name in names:
        assert found.q[ik.model.q_index(name)] == start[ik.model.q_index(name)]
    np.testing.assert_array_equal(found.q[:7], start[:7])


def test_followers_go_with_their_leaders():
    """Three links of which the third bends as the second does: as a finger."""
    robot = planar_arm((0.4, 0.3, 0.2), mimic={2: ("joint1", 0.7, 0.1)})
    ik = InverseKinematics(robot)
    task = ik.pose("tip", orientation="")
    for a, b in ((0.3, 0.5), (-1.0, 1.2), (0.2, -0.8)):
        wanted = np.array([a, b, 0.7 * b + 0.1])
        task.target = dynamics.pose(ik.model, wanted, "tip").p
        found = ik.solve(ik.model.with_followers(np.array([a + 0.2, b + 0.2, 0.0])))
        assert found.reached
        np.testing.assert_allclose(found.q, wanted, atol=1e-6)
        # to rounding, as kernels multiply and add in one
        assert found.q[2] == pytest.approx(0.7 * found.q[1] + 0.1, abs=1e-15)


def test_limits_of_a_follower_hold_its_leader():
    robot = planar_arm((0.4, 0.3, 0.2), mimic={2: ("joint1", 2.0, 0.0)})
    robot.joint("joint2").upper = 1.0
    found = reach(robot, (0.0, 0.2, 0.0), np.array([0.2, 0.2, 0.4]), restarts=0)
    assert found.q[1] <= 0.5
    assert found.q[2] <= 1.0


# ---- the search itself --------------------------------------------------------------------------


def test_the_same_question_has_the_same_answer_to_the_last_bit():
    robot = standing_hrp2()
    answers = []
    for _ in range(2):
        ik = InverseKinematics(robot)
        hand = ik.pose("left_hand")
        ik.pose("left")
        hand.target = Transform(hand.target.R, hand.target.p + np.array([0.9, 0.0, 0.6]))
        first = ik.solve()
        again = ik.solve()
        np.testing.assert_array_equal(first.q, again.q)
        answers.append(first.q)
    np.testing.assert_array_equal(*answers)


def test_near_the_target_errors_fall_quadratically():
    robot = standing_hrp2()
    errors = []
    for count in range(1, 5):
        ik = InverseKinematics(robot, iterations=count, restarts=0, tolerance=1e-14)
        for n, name in enumerate(("left", "right", "left_hand")):
            task, shift = ik.pose(name), 0.05 * np.roll((1.0, 2.0, 3.0), n)
            task.target = Transform(task.target.R, task.target.p + shift)
        found = ik.solve()
        # a scout's steps, and as many after them
        assert found.iterations <= 2 * count
        errors.append(max(max(e.values()) for e in found.errors.values()))
    # two steps on, an error is below the square of what it was
    assert 1e-6 < errors[0] < 1e-2
    assert errors[1] < errors[0] ** 2
    assert errors[2] < 1e-12


def test_another_start_is_found_where_the_first_one_is_stuck():
    """An elbow that stops at zero has to be on its other side."""
    robot = planar_arm(lower=-3.0, upper=3.0)
    robot.joint("joint1").lower = 0.0
    robot.joint("joint0").upper = 0.5
    point = dynamics.pose(robot.compile(), np.array([-2.5, 2.0]), "tip").p
    start = np.array([0.5, 0.0])
    alone = reach(robot, point, start, restarts=0)
    found = reach(robot, point, start)
    assert found.reached
    assert not alone.reached
    assert found.starts > 1


def test_no_task_leaves_joints_of_other_limbs_where_they_are():
    robot = standing_hrp2()
    ik = InverseKinematics(robot, locked=[robot.name])
    task = ik.pose("left_hand", orientation="")
    task.target = task.target.p + 0.03
    found = ik.solve()
    assert found.reached
    moved = [n for n in ik.model.joint_names if found.positions[n] != robot.half_sitting.get(n, 0)]
    assert all(name.startswith(("LARM", "CHEST")) for name in moved)


def test_sound_configurations_are_finite_and_of_unit_length():
    model = standing_hrp2().compile()
    good = model.initial()
    assert search.is_valid(model.arrays, good)
    for at, value in ((10, np.nan), (3, 2.0), (0, np.inf)):
        bad = good.copy()
        bad[at] = value
        assert not search.is_valid(model.arrays, bad)
