"""Nature knows no north and no left: every law of contact does the same in a world that is turned,
shifted or seen in a mirror.
"""

from functools import cache

import numpy as np
import pytest

import tabi
from tabi import control
from tabi.spatial.transform import Transform, about, translation
from tabi.walking.balance.stabiliser_tables import Stabiliser
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import Footstep, other, walk
from tabi.walking.plan.gait import gait_for
from tabi.walking.plan.pattern import walking_pattern
from tabi.walking.walker import Walker

LAWS = ("coulomb", "pyramid", "penalty", "selection", "soft")
MOTIONS = ("stand", "squat", "walk")
PLACES = {
    "yaw 37": about((0, 0, 1), np.radians(37)),
    "yaw 90": about((0, 0, 1), np.radians(90)),
    "yaw -141": about((0, 0, 1), np.radians(-141)),
    "shift": translation((100.0, -37.0, 0.0)),
}
# walks and soft soles take as long as all else: two places that stand for all
OF_LONG = ("yaw -141", "shift")
LONGEST = [("soft", "walk"), ("pyramid", "walk"), ("selection", "walk")]
CASES = [
    pytest.param(law, motion, marks=[pytest.mark.slow] * ((law, motion) in LONGEST))
    for law in LAWS
    for motion in MOTIONS
]
FLIP = np.diag([1.0, -1.0, 1.0])
SECONDS, PUSH = 0.5, np.array([25.0, 15.0, 0.0])
# a law is as exact as its solver's tolerance of 1e-8 m/s over the time of the run; where a solution
# is unique rounding is all that is left. What a walk makes of that is allowed for; on springs its
# landings, which follow what sensors say, grow it twice as far
NEAR = 1e-6


def swapped(name):
    """The name of the body on the other side."""
    for a, b in (("left", "right"), ("LARM", "RARM"), ("LLEG", "RLEG")):
        for one, its in ((a, b), (b, a)):
            if name.startswith(one):
                return its + name[len(one) :]
    return name


def started(law, motion, X, mirrored):
    """A simulator of HRP-2 at X, or seen in a mirror, and what it does."""
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(tabi.robots.hrp2())
    if law == "soft":
        robot.add_soles(viscosity=0.003, poisson_ratio=0.3)
    robot.stand_on_ground()
    base = X @ robot.placements()[robot.base]
    robot.place(base.p, base.quaternion)
    sim = tabi.Simulator(world, contact="coulomb" if law == "soft" else law)
    if motion == "walk":
        biped = Biped(robot)
        gait = gait_for(biped)
        steps = walk(biped.stance, 2, gait.length, turn=0.1)
        if mirrored:
            steps = [
                Footstep(other(s.foot), Transform(FLIP @ s.pose.R @ FLIP, FLIP @ s.pose.p))
                for s in steps
            ]
        pattern = walking_pattern(biped, steps, gait)
        sim.set_controller(robot, Walker(pattern, Stabiliser()), rate=1 / gait.tick)
        seconds = pattern.duration
    else:
        does = control.squat(robot) if motion == "squat" else control.hold(robot.half_sitting)
        sim.set_controller(robot, does)
        seconds = SECONDS
    push = FLIP @ PUSH if mirrored else X.R @ PUSH
    sim.apply_force(robot.base, force=push, duration=0.1, at=0.1)
    return sim, robot, seconds


@cache
def ran(law, motion, place="", mirrored=False):
    """Where all bodies are, five times in the run, brought back to the place of the original."""
    X = PLACES.get(place, Transform())
    sim, robot, seconds = started(law, motion, X, mirrored)
    back, found = X.inverse(), []
    for _ in range(5):
        sim.run(seconds / 5)
        if mirrored:
            own = [FLIP @ sim.position(robot.body(swapped(body.name))) for body in robot.bodies]
        else:
            own = [back @ sim.position(body) for body in robot.bodies]
        found.append(own)
    return np.array(found)


@pytest.mark.parametrize(("law", "motion"), CASES)
def test_a_turned_or_shifted_robot_does_the_same(law, motion):
    original = ran(law, motion)
    # it moves, or nothing would be seen
    assert np.ptp(original, axis=0).max() > 1e-4
    for place in OF_LONG if motion == "walk" or law == "soft" else PLACES:
        away = np.linalg.norm(ran(law, motion, place) - original, axis=2).max()
        assert away < NEAR, f"{law}, {motion}, {place}: {away:.1e} m"


@pytest.mark.parametrize(("law", "motion"), CASES)
def test_a_robot_seen_in_a_mirror_does_the_same(law, motion):
    away = np.linalg.norm(ran(law, motion, "", True) - ran(law, motion), axis=2).max()
    # the tetrahedra of a soft sole are no mirror images of each other
    near = {"soft": 1e-4, "penalty": 5e-6}.get(law, NEAR)
    assert away < near, f"{law}, {motion}: {away:.1e} m"
