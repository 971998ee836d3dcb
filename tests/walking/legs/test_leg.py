"""A leg of six joints against the kinematics of the whole robot."""

import numpy as np
import pytest

import tabi
from tabi.dynamics import Configuration
from tabi.spatial.transform import Transform, about
from tabi.walking.legs.leg import JOINTS, POSE_TOLERANCE, reach, rotation_about, sole
from tabi.walking.plan.biped import Biped

SIDES = ("left", "right")


@pytest.fixture(scope="module", params=["hrp2", "hrp2 with rubber"])
def biped(request):
    return Biped(tabi.robots.hrp2(bush="rubber" in request.param))


def from_base(biped, side, angles):
    R, p = sole(biped.legs, side, angles)
    return Transform(np.array(R).reshape(3, 3), np.array(p))


def random_angles(biped, side, rng, size=0.2):
    return biped.q[biped.legs.q_at[side]] + size * rng.normal(size=JOINTS)


@pytest.mark.parametrize("side", [0, 1])
def test_a_sole_is_where_the_whole_robot_has_it(biped, side):
    rng, state = np.random.default_rng(side), Configuration(biped.model)
    for _ in range(5):
        angles, q = random_angles(biped, side, rng), biped.q.copy()
        q[biped.legs.q_at[side]] = angles
        state.update(q)
        X = state.pose(biped.robot.base).inverse() @ state.pose(biped.robot.feet[SIDES[side]])
        own = from_base(biped, side, angles)
        assert own.p == pytest.approx(X.p, abs=1e-12)
        # HRP-2's soles face as the robot does
        assert pytest.approx(X.R, abs=1e-12) == own.R


@pytest.mark.parametrize("side", [0, 1])
def test_its_jacobian_is_the_difference_of_places(biped, side):
    angles, e = random_angles(biped, side, np.random.default_rng(3)), 1e-6
    sole(biped.legs, side, angles)
    J = biped.legs.J.copy()
    assert J.shape == (6, JOINTS) == (6, 6)
    for i in range(JOINTS):
        there, back = (from_base(biped, side, angles + s * e * np.eye(6)[i]) for s in (1, -1))
        W = (there.R @ back.R.T - back.R @ there.R.T) / (4 * e)
        # errors of a central difference: e² and rounding over e
        assert J[:3, i] == pytest.approx((there.p - back.p) / (2 * e), abs=1e-8)
        assert J[3:, i] == pytest.approx([W[2, 1], W[0, 2], W[1, 0]], abs=1e-8)


@pytest.mark.parametrize("side", [0, 1])
def test_angles_are_found_again_from_the_sole(biped, side):
    rng = np.random.default_rng(5)
    for _ in range(5):
        wanted = random_angles(biped, side, rng, 0.1)
        R, p = sole(biped.legs, side, wanted)
        angles = biped.q[biped.legs.q_at[side]].copy()
        assert reach(biped.legs, side, angles, R, p, 20) <= POSE_TOLERANCE
        # bent knees have one solution near by
        assert angles == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("taken", "axis"), [("HIP_Y", 2), ("ANKLE_R", 0)])
def test_five_joints_reach_the_place_of_a_sole_and_all_but_one_rotation(side, taken, axis):
    robot = tabi.robots.hrp2()
    for name in "LR":
        robot.joint(f"{name}LEG_{taken}").passive = True
    biped, rng = Biped(robot), np.random.default_rng(7)
    q_at = biped.legs.q_at[side, :5]
    for _ in range(5):
        angles = biped.q[q_at] + 0.1 * rng.normal(size=5)
        wanted = from_base(biped, side, angles)
        # turned about its own free axis it stays a sole that these joints reach
        turned = wanted.R @ about(np.eye(3)[axis], rng.uniform(-0.3, 0.3)).R
        found = biped.q[q_at].copy()
        left = reach(biped.legs, side, found, tuple(turned.ravel()), tuple(wanted.p), 30)
        assert left <= POSE_TOLERANCE
        own = from_base(biped, side, found)
        assert own.p == pytest.approx(wanted.p, abs=1e-8)
        # what is left of the rotation is about that axis alone
        W = 0.5 * (own.R.T @ turned - turned.T @ own.R)
        rest = np.delete([W[2, 1], W[0, 2], W[1, 0]], axis)
        assert rest == pytest.approx(np.zeros(2), abs=1e-8)


def test_a_sole_beyond_the_stretched_leg_is_missed_by_what_is_missing(biped):
    R, p = sole(biped.legs, 0, biped.q[biped.legs.q_at[0]])
    far = np.array(p)
    far[2] = -(biped.leg_length + 0.1)
    angles = biped.q[biped.legs.q_at[0]].copy()
    left = reach(biped.legs, 0, angles, R, tuple(far), 100)
    assert left > 0.05
    assert np.isfinite(angles).all()


def test_a_rotation_is_that_of_rodrigues():
    axis = np.array([1.0, -2.0, 0.5])
    axis /= np.linalg.norm(axis)
    own = np.array(rotation_about(tuple(axis), 0.7)).reshape(3, 3)
    assert own == pytest.approx(about(axis, 0.7).R, abs=1e-15)


@pytest.mark.parametrize("side", [0, 1])
def test_a_stretched_knee_has_the_ankle_farthest_from_the_hip(biped, side):
    legs, angles = biped.legs, biped.q[biped.legs.q_at[side]].copy()

    def length(knee):
        angles[legs.knee[side]] = knee
        X = from_base(biped, side, angles)
        # the ankle lies on the axes of the last two joints
        R, p = X.R, X.p + X.R @ [0.0, 0.0, biped.ankle[SIDES[side]]]
        hip = legs.placement[side, 0, 9:]
        return np.linalg.norm(p - hip), R

    straight, sign = legs.stretched[side]
    bend = np.linspace(-0.5, 0.5, 11)
    assert np.argmax([length(straight + b)[0] for b in bend]) == 5
    # it stands with its knees bent to that side
    assert sign * (biped.q[legs.q_at[side]][legs.knee[side]] - straight) > 0.1


@pytest.mark.parametrize("side", [0, 1])
def test_a_knee_that_was_stretched_bends_the_same_way_again(biped, side):
    legs, angles = biped.legs, biped.q[biped.legs.q_at[side]].copy()
    start = angles.copy()
    R, p = sole(legs, side, angles)
    low = np.array(p)
    # down until out of reach, and back up, as a foot that is left behind and drawn after
    for z in np.concatenate([np.linspace(0.0, -0.15, 40), np.linspace(-0.15, 0.0, 40)]):
        left = reach(legs, side, angles, R, (low[0], low[1], low[2] + z), 6)
    assert left < 1e-6
    assert angles == pytest.approx(start, abs=1e-6)
