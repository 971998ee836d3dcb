"""A robot walks from one line of Python, or says what stops it."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tabi
from tabi.analysis import walk_alone, walk_measures
from tabi.analysis.walk_alone import Advice, reason
from tabi.model.joint import Joint, Motor
from tabi.robots.files import quietly
from tabi.spatial.transform import about, translation

MENAGERIE = "data/robots/menagerie"


def bare(shared, file, **told) -> tabi.Robot:
    """A robot of MuJoCo Menagerie, as a user loads it."""
    with quietly():
        return tabi.load(shared / MENAGERIE / file, **told)


@pytest.mark.slow
def test_a_robot_walks_from_one_line_and_the_one_that_was_given_stays_as_it_is():
    robot = tabi.robots.hrp2()
    before = robot.base.joint.position.copy()
    sim = robot.walk(steps=3, length=0.15)
    (walking,) = sim.world.robots
    assert sim.missed_count == 0
    # two steps of 0.15 m, and the last one brings the feet together
    for side in ("left", "right"):
        assert sim.pose(walking.feet[side]).p[0] - before[0] == pytest.approx(0.3, abs=0.05)
    assert np.array_equal(robot.base.joint.position, before)


@pytest.mark.slow
def test_it_waits_before_the_first_step_unless_it_is_to_run():
    sim = tabi.robots.hrp2().walk(2, turn=0.1, run=False)
    (walker,) = walk_measures.walkers(sim).values()
    assert sim.time == 0.0
    assert not walker.begun
    assert walker.pattern.steps[0].yaw == pytest.approx(0.1)


@pytest.mark.slow
def test_what_a_file_leaves_out_is_added_to_the_copy_and_told(shared):
    robot = bare(shared, "fourier_n1/n1.xml")
    assert not any(sensor.kind == "force" for sensor in robot.sensors.values())
    with pytest.warns(tabi.RobotFileWarning, match="N1 walks: stand-in: sensors to walk with"):
        sim = robot.walk(steps=2)
    assert not any(sensor.kind == "force" for sensor in robot.sensors.values())
    assert sim.missed_count == 0


@pytest.mark.slow
def test_a_robot_whose_feet_turn_on_the_ground_knows_where_it_heads(shared):
    """Feet of H1 turn by two degrees and back as it steps: no bias of its gyro."""
    with quietly():
        sim = bare(shared, "unitree_h1/h1.xml").walk(steps=6)
    (walker,) = walk_measures.walkers(sim).values()
    believed = walker._walk.estimator.base[:9].reshape(3, 3)
    off = believed.T @ sim.pose(sim.world.robots[0].base).R
    assert abs(np.degrees(np.arctan2(off[1, 0], off[0, 0]))) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("turn", [5.0, -5.0])
def test_soles_that_lean_with_their_legs_walk_along_an_arc_and_stand_at_its_end(shared, turn):
    """H1 has no ankle roll. Its trunk turns against the legs that swing, and its feet stay."""
    with quietly():
        sim = bare(shared, "unitree_h1/h1.xml").walk(steps=10, turn=np.radians(turn))
    (walker,) = walk_measures.walkers(sim).values()
    robot, plan = sim.world.robots[0], walker.pattern.schedule
    sim.run(2.0)
    feet = [sim.pose(robot.feet[side]).p for side in ("left", "right")]
    assert not sim.fallen(robot)
    # from the plan of the whole way
    assert np.mean(feet, axis=0) == pytest.approx(plan.position[-1].mean(axis=0), abs=0.01)
    line, planned = feet[0] - feet[1], plan.position[-1, 0] - plan.position[-1, 1]
    off = np.arctan2(planned[0] * line[1] - planned[1] * line[0], planned[:2] @ line[:2])
    assert abs(np.degrees(off)) < 1.0


@pytest.mark.slow
def test_turns_that_such_soles_do_not_bear_are_rejected_before_the_walk(shared):
    why = "h1 does not walk: in a trial of 10 steps it falls .* 'left_ankle' .* smaller turns"
    with pytest.raises(tabi.ModelError, match=why):
        bare(shared, "unitree_h1/h1.xml").walk(turn=0.3, run=False)


@pytest.mark.slow
@pytest.mark.parametrize("run", [True, False])
def test_motors_that_are_too_soft_are_rejected_with_the_gains_that_hold(shared, run):
    with pytest.raises(tabi.ModelError, match="T1 does not walk: in a trial of 10 steps") as told:
        bare(shared, "booster_t1/t1.xml", gains=(40.0, 2.0)).walk(run=run)
    assert str(told.value).endswith("tabi.load(path, gains=(140, 7)) holds it as it stands")


def test_a_quadruped_is_rejected_for_the_foot_that_it_has_not(shared):
    with pytest.raises(tabi.ModelError, match="robot 'a1' has no foot 'left' to walk on"):
        bare(shared, "unitree_a1/a1.xml").walk()


@pytest.mark.parametrize(
    ("told", "what"),
    [
        ({"steps": 0}, "steps of a walk are 0; expected a whole number from 1 to 1000"),
        ({"steps": True}, "steps of a walk are True"),
        ({"steps": 2.5}, "steps of a walk are 2.5"),
        ({"length": float("nan")}, "length of a walk's steps is nan; expected metres"),
        ({"turn": float("inf")}, "turn of a walk's steps is inf; expected radians"),
    ],
)
def test_what_is_no_walk_is_refused(told, what):
    with pytest.raises(tabi.ModelError, match=what):
        tabi.robots.hrp2().walk(**told)


def test_a_robot_that_falls_in_the_trial_is_rejected_with_its_weakest_motor():
    robot = tabi.robots.hrp2()
    pattern = tabi.walking.walking_pattern(
        robot, tabi.walking.walk(tabi.walking.Biped(robot).stance, 2, 0.1)
    )
    found: Any = SimpleNamespace(fell=1.25, stopped="", steps=1, pattern=pattern)
    advice = Advice("--length", "--gains", "--gains {0:g}")
    told = reason(robot, found, {"LLEG_KNEE_P": 0.4, "RLEG_KNEE_P": 0.1}, advice)
    assert "hrp2 does not walk: in a trial of 2 steps it falls after 1.25 s" in told
    assert "the motor of joint 'LLEG_KNEE_P' is at its limit for 40% of the time" in told
    assert "shorter steps (--length)" in reason(robot, found, {}, advice)
    assert "shorter steps (robot.walk(length=…))" in reason(robot, found, {}, walk_alone.IN_PYTHON)


@pytest.mark.slow
def test_hips_may_slant_and_toes_stay_still():
    robot = tabi.robots.hrp2()
    lean = about((0, 1, 0), 0.3).R
    for side, foot in (("L", "left"), ("R", "right")):
        for joint in (robot.joint(f"{side}LEG_HIP_{name}") for name in "YR"):
            joint.axis = tuple(lean @ np.asarray(joint.axis, float))
        toes = Joint(f"{side}TOE", "revolute", translation((0.13, 0.0, -0.09)), (0, 1, 0))
        toes.motor = Motor(kp=500.0, kd=5.0)
        inertia = tabi.Inertia(0.2, np.array([0.02, 0.0, 0.0]), 1e-4 * np.eye(3))
        robot.add_body(f"{foot}_toes", toes, robot.feet[foot].body.name, inertia)
    sim = robot.walk(steps=3)
    (walking,) = sim.world.robots
    (walker,) = walk_measures.walkers(sim).values()
    last = walker.pattern.steps[-1]
    assert np.linalg.norm(sim.pose(walking.feet[last.foot]).p - last.pose.p) < 1e-3
    joint = walking.joint_names.index("LTOE")
    assert abs(sim.data.joint_state(sim.drivers[walking.name].rows)[0][joint]) < 0.02


@pytest.mark.parametrize("other", [tabi.robots.hrp1s, lambda: tabi.robots.hrp2(grippers=True)])
def test_a_walk_of_another_robot_is_refused(other):
    own = tabi.robots.hrp2()
    pattern = tabi.walking.walking_pattern(own, [])
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(other())
    sim = tabi.Simulator(world)
    with pytest.raises(tabi.ModelError, match="was made for another robot, with 30 joints in"):
        sim.set_controller(robot, tabi.walking.Walker(pattern), rate=200)
        sim.step()
