"""Legs found by geometry, and the half-sitting pose made of them, by where it puts the centre of
mass, the trunk and the soles.
"""

from math import pi

import numpy as np
import pytest
from bipeds import biped

import tabi
from tabi import ModelError, dynamics
from tabi.model.feet import legs
from tabi.spatial.inertia import Inertia


def standing(robot):
    """Centre of mass, corners of the soles and trunk's orientation in the world,
    as the compiled model has them.
    """
    model = robot.compile()
    X = robot.placements()
    corners = np.concatenate([X[foot.body] @ foot.corners() for foot in robot.feet.values()])
    return dynamics.centre_of_mass(model, model.initial()), corners, X[robot.base].R


def test_hips_knees_and_ankles_are_found_by_their_axes():
    for leg, side in zip(
        legs.find(biped(0.4, 0.3, flipped=("knee", "ankle_roll"))), "lr", strict=True
    ):
        assert (leg.hip, leg.ankle) == (
            legs.Turn(f"{side}_hip", 1.0),
            legs.Turn(f"{side}_ankle", 1.0),
        )
        assert leg.knee == legs.Turn(f"{side}_knee", -1.0)
        assert leg.rolls == (
            legs.Turn(f"{side}_hip_roll", 1.0),
            legs.Turn(f"{side}_ankle_roll", -1.0),
        )
        assert (leg.thigh, leg.shank) == pytest.approx((0.4, 0.3))


@pytest.mark.parametrize("heading", [0.0, pi / 2, -2.0])
@pytest.mark.parametrize("flipped", [(), ("hip", "knee", "ankle")])
def test_half_sitting_balances_upright_on_level_soles(heading, flipped):
    robot = biped(heading=heading, flipped=flipped)
    robot.stand_on_ground()
    centre, corners, R = standing(robot)
    assert np.allclose(corners[:, 2], 0.0, atol=1e-12)
    assert np.allclose(R, np.eye(3), atol=1e-12)
    assert np.allclose(centre[:2], corners.mean(axis=0)[:2], atol=1e-8)
    # knees go forward
    front = np.array([np.cos(heading), np.sin(heading), 0.0])
    X = robot.placements()
    assert (X[robot.body("l_knee_link")].p - X[robot.body("l_hip_link")].p) @ front > 0.1


def test_half_sitting_is_made_once_until_the_robot_changes(monkeypatch):
    robot, made = biped(), []
    monkeypatch.setattr(
        legs, "_balanced", lambda *a, make=legs._balanced: made.append(a) or make(*a)
    )
    first = robot.half_sitting
    count = len(made)
    again = robot.half_sitting
    assert again == first
    assert len(made) == count > 0
    # it is the caller's own
    again.clear()
    assert robot.half_sitting == first
    assert robot.copied().half_sitting == first
    assert len(made) == count
    trunk, knee = robot.base, robot.joint(legs.find(robot)[0].knee.joint)
    foot = robot.feet["left"]
    for change in (
        lambda: setattr(trunk, "inertia", Inertia(50.0, np.array([0.05, 0, 0.1]), np.eye(3))),
        lambda: setattr(knee, "lower", -0.2) or setattr(knee, "upper", 0.2),
        lambda: setattr(foot, "polygon", foot.polygon + 0.01),
    ):
        before, count = robot.half_sitting, len(made)
        change()
        assert robot.half_sitting != before
        assert len(made) > count
        assert robot.half_sitting == legs.half_sitting(robot)


def test_half_sitting_made_for_hrp2_is_the_published_one_within_a_degree():
    robot = tabi.robots.hrp2()
    made = legs.half_sitting(robot)
    assert set(made) == {
        f"{side}LEG_{part}_P" for side in "LR" for part in ("HIP", "KNEE", "ANKLE")
    }
    for name, angle in made.items():
        assert angle == pytest.approx(robot.half_sitting[name], abs=np.radians(1.0))


def test_narrow_limits_make_the_knees_bend_less():
    robot = biped(knee=(0.0, 0.5), ankle=(-0.4, 0.4))
    pose = robot.half_sitting
    assert 0.1 < pose["l_knee"] <= 0.5
    assert all(-0.4 <= pose[f"{side}_ankle"] <= 0.4 for side in "lr")
    robot.stand_on_ground()
    centre, corners, _ = standing(robot)
    assert centre[0] == pytest.approx(corners[:, 0].mean(), abs=1e-8)


def test_joints_that_cannot_be_at_zero_stand_at_their_nearest_limit():
    assert biped(hip_roll=(0.1, 0.5), ankle_roll=(-0.5, -0.1)).half_sitting["r_hip_roll"] == 0.1


@pytest.mark.parametrize("robot", [biped(ahead=2.0), biped(ankle=(0.2, 0.4), hip=(-0.1, 0.1))])
def test_a_biped_that_cannot_balance_is_named_and_a_pose_asked_for(robot):
    with pytest.raises(
        ModelError,
        match=r"'half_sitting' not found in biped, and none can be made: .*give a pose: "
        r"robot.stand_on_ground",
    ):
        _ = robot.half_sitting


def test_a_pose_that_is_given_is_stood_in():
    robot = biped()
    robot.stand_on_ground(
        {
            f"{side}_{part}": angle
            for side in "lr"
            for part, angle in (("hip", -0.3), ("knee", 0.5), ("ankle", -0.2))
        }
    )
    _, corners, R = standing(robot)
    assert robot.joint("r_knee").position[0] == 0.5
    assert np.allclose(corners[:, 2], 0.0, atol=1e-12)
    assert np.allclose(R, np.eye(3), atol=1e-12)


def test_what_cannot_be_half_sitting_stands_as_it_is():
    robot = biped()
    robot.feet.pop("left")
    robot.set_pose({"r_knee": 0.7, "r_hip": -0.7})
    robot.stand_on_ground()
    assert robot.joint("r_knee").position[0] == 0.7


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r.feet.clear(), "no feet declared; expected feet 'left' and 'right'"),
        (
            lambda r: r.feet.pop("right"),
            "its only foot is 'left'; expected feet 'left' and 'right'",
        ),
        (lambda r: r.feet.update(right=r.feet["left"]), "its feet stand in one place"),
        (
            lambda r: setattr(r.joint("l_knee"), "kind", "prismatic"),
            "leg 'left' of biped has 2 joints that pitch ('l_hip', 'l_ankle')",
        ),
    ],
)
def test_what_is_missing_of_a_leg_is_said(change, words):
    robot = biped()
    change(robot)
    with pytest.raises(ModelError) as said:
        legs.find(robot)
    assert words in str(said.value)
    assert "\n" not in str(said.value)


def test_a_robot_file_without_soles_says_why_it_has_no_feet(shared):
    with pytest.raises(
        ModelError,
        match=r"legs of HRP4 are not known: no feet declared: .*'L_ANKLE_R_LINK' \(its mesh is "
        r"missing\)",
    ):
        legs.find(tabi.load(shared / "data" / "robots" / "hrp4c" / "HRP4Cmain.urdf"))
