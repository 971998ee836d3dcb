"""The stabiliser: it finds the body, leaves a walk that goes as planned alone, and corrects what
does not, in the right sense.
"""

import numpy as np
import pytest

import tabi
from tabi.dynamics import Configuration
from tabi.spatial.transform import about
from tabi.walking.balance.course import update_soles
from tabi.walking.balance.stabiliser import ankle_torque, rotation_by, stabilise, tilt_rotation
from tabi.walking.balance.stabiliser_tables import DcmStabiliser, Stabiliser, loop_of
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import SIDES, walk
from tabi.walking.plan.pattern import walking_pattern

LEFT, RIGHT = 0, 1


@pytest.fixture(scope="module", params=[False, True], ids=["rigid", "rubber"])
def pattern(request):
    biped = Biped(tabi.robots.hrp2(bush=request.param))
    return walking_pattern(biped, walk(biped.stance, 3, 0.2))


def as_planned(pattern, loop, k):
    """Readings of a robot that walks as planned: rubber gives way under its load only where its
    torque says so.
    """
    model, T = pattern.biped.model, pattern.gait.tick
    q, v = pattern.q[k].copy(), np.zeros(model.v_count)
    base = Configuration(model, q).pose(pattern.robot.base)
    loop.attitude[:], loop.course.base[:] = base.R.ravel(), base.p
    loop.angular_velocity[:] = (0.0, 0.0, (pattern.yaw[k + 1] - pattern.yaw[k - 1]) / (2 * T))
    v[6:] = (pattern.q[k + 1] - pattern.q[k - 1])[7:] / (2 * T)
    loop.joint[7:], loop.joint_velocity[:] = q[7:], v
    weight = loop.settings["weight"][0]
    update_soles(loop, k)
    for side in (LEFT, RIGHT):
        share = pattern.share[k, side]
        zmp = (*pattern.zmp[k], pattern.schedule.zmp[k, 2])
        n = ankle_torque(loop, k, side, pattern.share[k, LEFT], share, zmp)
        loop.smooth_wrench[side] = (0.0, 0.0, share * weight, *n, 0.0)
        pivot = loop.pivot[side]
        loop.wrench[side] = loop.smooth_wrench[side]
        loop.wrench[side, 3:] += np.cross(pivot, loop.wrench[side, :3])
    return q, v


@pytest.mark.parametrize("moment", [0.5, 0.75])
def test_the_body_is_found_from_joints_and_inclination(pattern, moment):
    loop = loop_of(pattern, Stabiliser())
    k = round(moment * pattern.count)
    as_planned(pattern, loop, k)
    model = pattern.biped.model.arrays
    stabilise(model, loop, k)
    sunk = np.zeros(3)
    if pattern.robot.bush is not None:
        sunk[2] = sum(pattern.share[k] * loop.smooth_wrench[:, 2]) / 1e5
    assert loop.centre[:3] + sunk == pytest.approx(pattern.centre[k], abs=1e-6)
    # velocities are central differences: errors of third derivatives, some 10 m/s³ times (5 ms)²/6
    assert loop.centre[3:5] == pytest.approx(pattern.centre_velocity[k, :2], abs=2e-3)


def test_a_walk_that_goes_as_planned_is_left_alone(pattern):
    """Of a rigid robot; rubber has to be made up for, by what it gives way."""
    loop = loop_of(pattern, Stabiliser())
    k = pattern.schedule.lift[1] + 60
    for tick in range(k - 40, k):
        as_planned(pattern, loop, tick)
        stabilise(pattern.biped.model.arrays, loop, tick)
    if pattern.robot.bush is None:
        # 2e-3 m/s of the divergent component's error over ω, times k: millimetres of the zero
        # moment point, 58 kg on them over an ankle of 4,300 N·m/rad
        assert np.abs(loop.q_desired - pattern.q[k])[7:].max() < 2e-3
        assert np.abs(loop.effort).max() < 2.0
    else:
        stands, q = pattern.schedule.support[k] - 1, pattern.q[k].copy()
        q[7:] = loop.q_desired[7:]
        sole = Configuration(pattern.biped.model, q).pose(pattern.robot.feet[SIDES[stands]])
        gives = (
            np.array(ankle_torque(loop, k - 1, stands, 1.0 - stands, 1.0, tuple(loop.zmp))) / 500.0
        )
        # turned about its pivot by what rubber gives way, against its torque, and lowered by 5.7 mm
        assert [sole.R[2, 1], -sole.R[2, 0]] == pytest.approx(-gives, abs=2e-3)
        pivot = sole @ loop.pivot[stands]
        assert pivot[2] - 0.105 == pytest.approx(-58 * 9.81 / 1e5, abs=1e-4)


def test_a_body_that_leans_ahead_is_pushed_back_from_the_toes(pattern):
    answers = []
    for lean in (0.0, 0.01, -0.01):
        loop = loop_of(pattern, Stabiliser())
        k = pattern.schedule.lift[1] + 60
        as_planned(pattern, loop, k)
        R = about((0, 1, 0), lean).R @ loop.attitude.reshape(3, 3)
        loop.attitude[:] = R.ravel()
        stabilise(pattern.biped.model.arrays, loop, k)
        answers.append((loop.zmp.copy(), loop.effort.copy(), loop.q_desired.copy()))
    # the zero moment point goes ahead of a body that leans ahead, by twice its centre's 8 mm
    ahead = answers[1][0][0] - answers[0][0][0]
    centre = 0.01 * (pattern.gait.centre_height - 0.105)
    assert ahead == pytest.approx(2.0 * centre, rel=0.05)
    assert answers[2][0][0] - answers[0][0][0] == pytest.approx(-ahead, rel=0.05)
    stands = pattern.schedule.support[k] - 1
    pitch = pattern.biped.legs.columns[stands, 4]
    # positive is toes down: the ankle presses them down
    assert answers[1][1][pitch] > answers[0][1][pitch] + 5.0
    assert answers[2][1][pitch] < answers[0][1][pitch] - 5.0


OFF = {"zmp_damping": 0.0, "foot_adjusting": 0.0, "swing": 0.0, "course": 0.0}


@pytest.mark.parametrize(
    "off", [Stabiliser(inclination=0.0, **OFF), DcmStabiliser(poles=None, **OFF)]
)
def test_a_loop_whose_gain_is_0_is_off(pattern, off):
    loop = loop_of(pattern, off)
    k = pattern.schedule.lift[1] + 60
    as_planned(pattern, loop, k)
    loop.attitude[:] = (about((0, 1, 0), 0.05).R @ loop.attitude.reshape(3, 3)).ravel()
    loop.wrench[:] = np.random.default_rng(0).normal(size=(2, 6))
    stabilise(pattern.biped.model.arrays, loop, k)
    assert loop.q_desired[7:] == pytest.approx(pattern.q[k + 1][7:], abs=1e-7)
    assert (loop.effort == 0.0).all()


@pytest.mark.parametrize("stabiliser", [Stabiliser(), DcmStabiliser()])
def test_no_foot_presses_outside_of_its_sole(stabiliser):
    biped = Biped(tabi.robots.hrp2())
    pattern = walking_pattern(biped, walk(biped.stance, 3, 0.2))
    loop, rng = loop_of(pattern, stabiliser), np.random.default_rng(1)
    weight, margin = loop.settings["weight"][0], stabiliser.margin
    for k in (20, pattern.schedule.lift[1] - 8, pattern.schedule.lift[1] + 30):
        as_planned(pattern, loop, k)
        for _ in range(5):
            turn = about(rng.normal(size=3), 0.2).R
            loop.attitude[:] = turn.ravel()
            stabilise(biped.model.arrays, loop, k)
            assert loop.wanted[:, 0].min() >= 0.0
            for side in (LEFT, RIGHT):
                load = weight * loop.wanted[side, 0]
                # farthest that an edge and the pull sideways can turn it, but for rounding
                most = np.abs(loop.box[side]).reshape(2, 2).max(axis=1) - margin
                pull = 0.105 * max(0.5, np.abs(loop.centre[:2] - loop.zmp[:2]).max() / 0.79)
                limit = load * (most[::-1] + pull) + 1e-6
                assert (np.abs(loop.wanted[side, 1:]) <= limit).all()


def test_a_foot_that_swings_is_held_where_it_was_planned_in_the_world():
    biped = Biped(tabi.robots.hrp2())
    pattern = walking_pattern(biped, walk(biped.stance, 3, 0.2))
    only = Stabiliser(inclination=0.0, **(OFF | {"swing": 1.0}))
    loop, lean = loop_of(pattern, only), about((1, 0, 0), 0.02).R
    first = pattern.schedule.lift[1] + 40
    for k in range(first, first + 60):
        as_planned(pattern, loop, k)
        loop.attitude[:] = (lean @ loop.attitude.reshape(3, 3)).ravel()
        stabilise(biped.model.arrays, loop, k)
    # the body turned about the ankle that stands
    stands = pattern.schedule.support[k] - 1
    swings, q = 1 - stands, pattern.q[k].copy()
    pivot = pattern.schedule.position[k, stands] + (0.0, 0.0, 0.105)
    q[:3] = pivot + lean @ (q[:3] - pivot)
    q[3:7] = tabi.spatial.transform.Transform(lean, np.zeros(3)).quaternion
    q[7:] = loop.q_desired[7:]
    sole = Configuration(biped.model, q).pose(biped.robot.feet[("left", "right")[swings]])
    # what is left after three time constants of 50 ms over ... six: e^-6 of 4 mm and 0.02 rad
    assert sole.p == pytest.approx(pattern.schedule.position[k + 1, swings], abs=1.5e-3)
    assert sole.R[2, 2] == pytest.approx(1.0, abs=1e-5)


def test_small_rotations():
    a, b = 0.02, -0.03
    own = np.array(tilt_rotation(a, b)).reshape(3, 3)
    wanted = about((0, 1, 0), b).R @ about((1, 0, 0), a).R
    assert own == pytest.approx(wanted, abs=1e-15)
    phi = np.array([0.1, 0.2, -0.3])
    own = np.array(rotation_by(tuple(phi))).reshape(3, 3)
    assert own == pytest.approx(about(phi, float(np.linalg.norm(phi))).R, abs=1e-12)
    assert np.array(rotation_by((0.0, 0.0, 0.0))).reshape(3, 3) == pytest.approx(np.eye(3))
