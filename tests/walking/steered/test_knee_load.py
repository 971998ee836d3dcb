"""Knees of a robot that may have to stand on one leg."""

import numpy as np
import pytest

import tabi
from tabi.lab.walking import pushes
from tabi.lab.walking.rough_robots import rough_robot
from tabi.spatial.transform import about
from tabi.walking.legs.leg import LEFT, RIGHT, sole
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.steered.knee_load import MAX_RISE, MAX_TORQUE_RATIO, knee_torque, required_rise
from tabi.walking.steered.walker import SteeredWalker

# of zero moment points, from the middle between the feet [m]
PLACES = [(0.05, 0.02), (-0.05, 0.1), (0.0, -0.08), (-0.3, 0.0)]


def standing(yaw=0.0):
    robot = tabi.robots.hrp2()
    base = about((0, 0, 1), yaw) @ robot.placements()[robot.base]
    robot.place(base.p, base.quaternion)
    walker = SteeredWalker(robot)
    return walker, walker._walk.plan, walker._walk.loop


def put(plan, loop, x, y, yaw=0.0):
    """The wanted zero moment point, from the middle between the feet."""
    c, s = np.cos(yaw), np.sin(yaw)
    middle, off = plan.foot[:, :2].mean(axis=0), np.array([c * x - s * y, s * x + c * y])
    loop.zmp[:2] = middle + off


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("side", [LEFT, RIGHT])
def test_a_knee_needs_what_the_force_of_the_ground_does_as_it_turns(place, side):
    """Virtual work: τ dθ = F · dx of the point of the sole where the force acts."""
    walker, plan, loop = standing()
    put(plan, loop, *place)
    found = knee_torque(plan, loop, side)
    legs, box, s = loop.body.legs, loop.box[side], plan.settings[0]
    at = loop.zmp[:2] - plan.foot[side, :2]
    at = np.clip(at, box[[0, 2]] + s["margin"], box[[1, 3]] - s["margin"])
    force = plan.pendulum[:2, 0] - (plan.foot[side, :2] + at)
    F = s["weight"] * np.array([*force / s["height"], 1.0])

    def place_of(angle):
        angles = loop.reference.q[1][legs.q_at[side]].copy()
        angles[legs.knee[side]] += angle
        R, p = sole(legs, side, angles)
        return np.array(p) + np.reshape(R, (3, 3)) @ np.array([*at, 0.0])

    # central differences: h² of a leg of 0.7 m
    h = 1e-4
    moved = (place_of(h) - place_of(-h)) / (2.0 * h)
    assert found == pytest.approx(abs(F @ walker.biped.base_rotation @ moved), rel=1e-6)


@pytest.mark.parametrize("place", PLACES)
def test_the_other_knee_needs_the_same_of_a_mirrored_point(place):
    _, plan, loop = standing()
    put(plan, loop, *place)
    found = knee_torque(plan, loop, LEFT)
    put(plan, loop, place[0], -place[1])
    # soles of both sides, from a file with five digits
    assert knee_torque(plan, loop, RIGHT) == pytest.approx(found, rel=1e-4)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("yaw", [0.7, -2.5])
def test_the_direction_in_which_a_robot_stands_does_not_matter(place, yaw):
    _, plan, loop = standing()
    put(plan, loop, *place)
    found = knee_torque(plan, loop, LEFT)
    _, plan, loop = standing(yaw)
    put(plan, loop, *place, yaw=yaw)
    assert knee_torque(plan, loop, LEFT) == pytest.approx(found, rel=1e-6)


def test_a_robot_whose_knees_bear_it_stays_where_it_is_and_another_rises():
    walker, plan, loop = standing()
    bounds = walker._walk.progress.bounds.copy()
    put(plan, loop, -0.3, 0.0)
    assert required_rise(plan, loop, bounds) == 0.0
    columns = loop.body.legs.columns[[0, 1], loop.body.legs.knee]
    needed = knee_torque(plan, loop, LEFT)
    heights = []
    for limit in needed / np.linspace(0.7, 1.1, 9):
        bounds[columns, 3] = limit
        heights.append(required_rise(plan, loop, bounds))
    assert heights[0] == 0.0 < heights[-1]
    assert (np.diff(heights) >= 0.0).all()
    # 0.95 of what there is, and more
    assert needed / bounds[columns[0], 3] > MAX_TORQUE_RATIO
    assert heights[-1] == pytest.approx(MAX_RISE * plan.settings[0]["leg"])
    # ahead of the knee the force bends it less
    put(plan, loop, 0.3, 0.0)
    assert required_rise(plan, loop, bounds) == 0.0


@pytest.mark.slow
def test_a_robot_with_weak_knees_steps_back_without_sinking():
    robot = rough_robot("hrp2")
    for side in SIDES:
        knee = robot.joint(f"{side[0].upper()}LEG_KNEE_P")
        # with its weight on one heel a knee needs 97 N·m
        knee.effort_limit = 100.0
    stepping = pushes.stand(robot, adapts=True)
    bound = pushes.bounds(stepping, 180).with_step
    assert [stepping.survives(share * bound, 180) for share in (0.7, 0.8)] == [True, True]
