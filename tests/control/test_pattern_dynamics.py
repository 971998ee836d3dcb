"""What patterns ask for: laws of momentum and energy, and the ZMP in OpenHRP's own files."""

from dataclasses import replace

import numpy as np
import pytest
from bipeds import biped

import tabi
from tabi.analysis.pattern_playback import zmp_reference
from tabi.control import pattern, pattern_dynamics, read_pattern
from tabi.dynamics.configuration import Configuration
from tabi.spatial.transform import from_quaternion
from tabi.spatial.twist import Twist

RATE = 200.0


def squat(robot, depth=0.3, seconds=2.0):
    """Knees that bend and stretch twice, with flat feet and an upright trunk."""
    t = np.arange(int(seconds * RATE)) / RATE
    bend = depth * np.sin(np.pi * t / seconds) ** 4
    pose = {name: float(robot.half_sitting.get(name, 0.0)) for name in robot.joint_names}
    q = np.tile([pose[name] for name in robot.joint_names], (len(t), 1))
    for side in "RL":
        for joint, share in (("HIP_P", -1.0), ("KNEE_P", 2.0), ("ANKLE_P", -1.0)):
            q[:, robot.joint_names.index(f"{side}LEG_{joint}")] += share * bend
    # arms swing as well
    q[:, robot.joint_names.index("RARM_SHOULDER_P")] += 0.5 * bend
    return pattern(robot, t, q)


def states(robot, told, asked):
    """A configuration at each sample, with the base where it was found."""
    here, t = Configuration(robot), told.times
    moves = np.gradient(asked.base[:, :3], t, axis=0)
    for k in range(len(t)):
        X = from_quaternion(asked.base[k, 3:], asked.base[k, :3])
        here.set_joints(told.position[k], told.velocity[k], X, Twist(moves[k], np.zeros(3)))
        yield here


def test_at_rest_the_zmp_is_below_the_centre_of_mass_and_the_ground_bears_the_weight():
    robot = tabi.robots.hrp2()
    pose = [float(robot.half_sitting.get(name, 0.0)) for name in robot.joint_names]
    told = pattern(robot, np.arange(40) / RATE, np.tile(pose, (40, 1)))
    asked = pattern_dynamics(robot, told)
    centre = next(states(robot, told, asked)).centre_of_mass()
    # no motion: what is left is rounding of the filters
    assert asked.zmp == pytest.approx(np.tile(centre[:2], (40, 1)), abs=1e-9)
    assert asked.force[:, 2] == pytest.approx(robot.mass * 9.81, rel=1e-9)
    assert asked.standing.all()
    assert asked.foot[:, :, 2] == pytest.approx(0.0, abs=1e-6)


def test_the_zmp_of_a_file_is_the_reference_below_the_base_wherever_that_is():
    robot = tabi.robots.hrp2()
    told = squat(robot)
    own = pattern_dynamics(robot, told)
    assert own.zmp_reference is own.zmp
    assert zmp_reference(told, own)[0] == "inverse dynamics"
    # 30 mm ahead of the base and 20 mm left of it; the trunk stays upright
    planned = np.tile([0.03, 0.02, -0.6], (len(told.times), 1))
    file = replace(told, extra={"ZMP": planned}, planned_zmp="ZMP")
    asked = pattern_dynamics(robot, file)
    expected = asked.base[:, :2] + [0.03, 0.02]
    assert asked.zmp_reference == pytest.approx(expected, abs=1e-5)
    assert np.array_equal(asked.zmp, own.zmp)
    where, reference = zmp_reference(file, asked)
    assert where == "its file"
    assert reference == pytest.approx(expected - asked.base[0, :2], abs=1e-5)


def test_while_both_feet_stand_the_joints_power_is_what_the_energy_gains():
    """However the ground's forces are shared by the feet: they stand still, and do no work."""
    robot = tabi.robots.hrp2()
    told = squat(robot)
    asked = pattern_dynamics(robot, told)
    power = (asked.effort * told.velocity).sum(axis=1)
    energy = np.array(
        [
            tabi.dynamics.energy(here.model, here.q, here.v).total
            for here in states(robot, told, asked)
        ]
    )
    gained = np.gradient(energy, told.times)
    assert np.abs(power).max() > 50.0
    # second differences at 200 Hz of what moves within a second, and a low-pass of 20 Hz
    assert power[20:-20] == pytest.approx(gained[20:-20], abs=0.01 * np.abs(power).max())


def test_the_force_of_the_ground_is_mass_times_acceleration_and_weight():
    robot = tabi.robots.hrp2()
    told = squat(robot)
    asked = pattern_dynamics(robot, told)
    centre = np.array([here.centre_of_mass() for here in states(robot, told, asked)])
    v = np.gradient(centre, told.times, axis=0)
    a = np.gradient(v, told.times, axis=0) + np.array([0.0, 0.0, 9.81])
    force = robot.mass * a[20:-20]
    assert np.ptp(force[:, 2]) > 50.0
    assert asked.force[20:-20] == pytest.approx(force, abs=0.02 * np.ptp(force[:, 2]))


def test_dampers_and_springs_of_joints_are_overcome():
    plain, robot = tabi.robots.hrp2(), tabi.robots.hrp2()
    knee = robot.joint("RLEG_KNEE_P")
    knee.damping, knee.stiffness, knee.rest = 5.0, 40.0, 0.3
    told = squat(plain, seconds=1.0)
    more = pattern_dynamics(robot, told).effort - pattern_dynamics(plain, told).effort
    k = robot.joint_names.index("RLEG_KNEE_P")
    asked = 5.0 * told.velocity[:, k] + 40.0 * (told.position[:, k] - 0.3)
    assert np.ptp(asked) > 10.0
    # behind low-passes of 20 Hz, of what moves with 1 to 4 Hz
    assert more[20:-20, k] == pytest.approx(asked[20:-20], abs=0.02 * np.ptp(asked))
    assert not np.delete(more, k, axis=1).any()


def test_the_base_is_upright_and_goes_down_with_the_knees():
    robot = tabi.robots.hrp2()
    asked = pattern_dynamics(robot, squat(robot))
    assert asked.base[:, 3] == pytest.approx(1.0, abs=1e-6)
    assert asked.base[0, :2] == pytest.approx([0.0, 0.0], abs=1e-6)
    assert asked.base[0, 2] - asked.base[:, 2].min() > 0.03


@pytest.mark.slow
def test_openhrps_own_zmp_and_waist_come_out_of_its_joints_alone(shared):
    with pytest.warns(tabi.RobotFileWarning):
        robot = tabi.load(shared / "data/robots/sr1/sample1.wrl")
    told = read_pattern(shared / "data/motions/sample_robot/samplerobot-gopos000.pos", robot)
    asked = pattern_dynamics(robot, told)
    waist = told.extra["waist"][:, :3]
    # its feet lift by 0.1 mm while they stand
    assert asked.base[:, :3] - asked.base[0, :3] == pytest.approx(waist - waist[0], abs=3e-4)
    where, reference = zmp_reference(told, asked)
    apart = asked.zmp - asked.base[0, :2] - reference
    assert where == "its file"
    # its generator's model is a simpler one (Kajita's preview control): 5 and 4 mm
    assert np.sqrt((apart**2).mean(axis=0)) == pytest.approx([0.0, 0.0], abs=8e-3)
    assert min(np.corrcoef(asked.zmp[:, j], reference[:, j])[0, 1] for j in range(2)) > 0.99
    # two steps: each foot once in the air
    landings = [int((np.diff(s.astype(int)) == 1).sum()) for s in asked.standing.T]
    assert landings == [1, 1]


def test_robots_that_do_not_walk_and_uneven_times_are_refused():
    robot = biped()
    times = np.array([0.0, 0.1, 0.3])
    with pytest.raises(tabi.ModelError, match=r"times of the pattern are 100 to 200 ms apart"):
        pattern_dynamics(robot, pattern(robot, times, np.zeros((3, 10))))
    robot.feet.popitem()
    told = pattern(robot, np.arange(9) / RATE, np.zeros((9, 10)))
    with pytest.raises(tabi.ModelError, match="has 1 foot and a floating base; expected a robot"):
        pattern_dynamics(robot, told)


def test_where_the_zmp_is_far_away_or_the_robot_leaves_the_ground_efforts_are_finite():
    robot = tabi.robots.hrp2()
    t = np.arange(100) / RATE
    pose = np.array([float(robot.half_sitting.get(name, 0.0)) for name in robot.joint_names])
    # arms that are shaken so hard that the ZMP runs away, and that the ground would have to pull
    shaken = np.tile(pose, (len(t), 1))
    for side in "RL":
        robot.joint(f"{side}ARM_SHOULDER_P").velocity_limit = np.inf
        k = robot.joint_names.index(f"{side}ARM_SHOULDER_P")
        shaken[:, k] += 0.5 * np.sin(2 * np.pi * 9.0 * t)
    asked = pattern_dynamics(robot, pattern(robot, t, shaken), cutoff=60.0)
    assert np.isfinite(asked.effort).all()
    pulls = asked.force[:, 2] <= 0
    assert pulls.any()
    assert np.isnan(asked.zmp[pulls]).all()
    assert np.nanmax(np.abs(asked.zmp)) > 0.5
