"""Bipeds of files get what they need to walk, from a scene as from a validation."""

import pytest

import tabi
from tabi import scenes, walking
from tabi.robots import bipeds
from tabi.robots.files import quietly

SCENE = """title: x
duration_s: 1
ground: {{}}
robots:
- robot: {file}
  motion: {{kind: walk, path: [{{go: steps, count: 2}}]{more}}}
"""


def walk_of(name, more=""):
    """The simulator of a scene in which a robot of example-robot-data walks."""
    file = tabi.robots.example_file(name)
    return scenes.loads(SCENE.format(file=file, more=more)).simulator()


def notes(sim):
    return [note for note in sim.world.robots[0].notes if "stand-in" in note]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["g1_29dof_rev_1_0.urdf", "icub_reduced.urdf"])
def test_a_robot_without_sensors_gets_those_of_its_walk_with_a_note(name):
    sim = walk_of(name)
    (driver,) = sim.drivers.values()
    assert isinstance(driver.controller, walking.Walker)
    assert any("walking_imu, left_walking_force, right_walking_force" in n for n in notes(sim))


@pytest.mark.slow
def test_a_walk_without_a_stabiliser_adds_no_sensor():
    assert not walk_of("g1_29dof_rev_1_0.urdf", ", stabiliser: false").world.robots[0].sensors


def test_a_gait_that_a_file_fixes_stays_as_it_is():
    robot = tabi.robots.hrp2()
    robot.stand_on_ground()
    biped = walking.Biped(robot)
    own = walking.gait_for(biped)
    tried = list(bipeds._gaits(own, ["lift"]))
    assert tried[0] == own
    assert {gait.lift for gait in tried} == {own.lift}
    assert min(gait.length for gait in tried) == pytest.approx(0.5 * own.length, abs=1e-3)


@pytest.mark.slow
def test_what_is_told_comes_before_what_is_added():
    file = tabi.robots.example_file("g1_29dof_rev_1_0.urdf")
    with quietly():
        assert bipeds.load_biped(file).base.joint.kind == "floating"
        assert bipeds.load_biped(file, base="fixed").base.joint.kind == "fixed"


@pytest.mark.parametrize("angle", [0.0, 0.05, 0.6])
def test_a_pose_that_stretches_the_knees_is_bent_to_walk_and_another_one_is_kept(angle):
    robot = tabi.robots.hrp2()
    given = {f"{side}LEG_KNEE_P": angle for side in "LR"}
    robot.poses["half_sitting"] = dict(given)
    bipeds.bend_knees(robot)
    # the law of cosines: thigh and shank of 0.3 m are 99 % of their sum apart at 0.28 rad
    if angle < 0.28:
        assert robot.poses["half_sitting"]["LLEG_KNEE_P"] == pytest.approx(0.87)
        assert sum("stretches its knees" in note for note in robot.notes) == 1
    else:
        assert robot.poses["half_sitting"] == given
        assert not any("stretches its knees" in note for note in robot.notes)
