"""Estimates against the truth of simulations, and against what perfect sensors must give."""

import numpy as np
import pytest
from bipeds import biped

import tabi
from tabi.control import Estimator, EstimatorGains, hold, sway
from tabi.estimation.kernels import rotation
from tabi.model.joint import Motor
from tabi.spatial.transform import about, from_rpy

# of a real HRP-2 at rest, 200 Hz: rad/s and m/s2
NOISE = (1.45e-3, 1.42e-3, 2.23e-3, 8.0e-3, 4.7e-3, 10.2e-3)
BIAS = np.radians(0.5)
# a bias that wanders by 0.34 degrees a second within an hour, as that of a gyro that warms up
DRIFT = 1e-4


def noisy(robot, name="imu"):
    robot.set_sensor(
        name,
        rate=200.0,
        delay=0.005,
        noise=NOISE,
        bias=(BIAS, -BIAS, BIAS, 0, 0, 0),
        drift=(DRIFT, DRIFT, DRIFT, 0, 0, 0),
    )


def errors_of(estimate, truth, model, q, v):
    """Rotation [rad] and place of the base [m], their rates, the centre of mass [m] and its
    velocity [m/s]: estimate less truth.
    """
    turned = estimate.base.R @ truth.base.R.T
    vector = 0.5 * np.array(
        [turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]]
    )
    moved = tabi.dynamics.momentum(model, q, v).linear / model.mass
    return np.concatenate(
        [
            vector,
            estimate.base.p - truth.base.p,
            estimate.base_velocity.angular - truth.base_velocity.angular,
            estimate.base_velocity.linear - truth.base_velocity.linear,
            estimate.centre_of_mass - tabi.dynamics.centre_of_mass(model, q),
            estimate.centre_of_mass_velocity - moved,
        ]
    )


def follow(world, robot, motion, seconds, rate=None, pushes=(), estimator=None, seed=7):
    """Errors at each moment, shape (n, 18), and the estimates."""
    sim = tabi.Simulator(world, seed=seed)
    estimator = estimator or Estimator(robot)
    errors, estimates = [], []

    def controller(time, measurement):
        # the estimator does not get the truth
        blind = tabi.Measurement(
            measurement.position, measurement.velocity, measurement.effort, measurement.sensors
        )
        estimates.append(estimator(time, blind))
        state = sim.state
        errors.append(errors_of(estimates[-1], measurement.truth, sim.model, state.q, state.v))
        return motion(time, measurement)

    sim.set_controller(robot, controller, rate=rate, truth=True)
    for body, at, force in pushes:
        sim.apply_force(robot.body(body), force, duration=0.2, at=at)
    sim.run(seconds)
    return np.array(errors), estimates


def on_ground(robot):
    world = tabi.World()
    world.add_ground()
    return world, world.add_robot(robot)


def rms(x):
    return np.sqrt((np.asarray(x) ** 2).mean(axis=0))


def tell(name, errors):
    """Print what the documentation says."""
    roll, pitch = np.degrees(rms(errors[:, :2]))
    base, centre, speed = (
        1e3 * rms(np.linalg.norm(errors[:, k : k + 3], axis=1)) for k in (3, 12, 15)
    )
    print(
        f"{name}: roll {roll:.3f}°, pitch {pitch:.3f}°, yaw at the end "
        f"{np.degrees(errors[-1, 2]):.3f}°, base {base:.2f} mm, centre of mass {centre:.2f} mm, "
        f"{speed:.2f} mm/s (root mean squares)"
    )


PUSHES = [("chest", 1.0, (40, 0, 0)), ("chest", 2.0, (0, 30, 0)), ("waist", 3.0, (-40, 0, 0))]
PUSHES += [("chest", 4.0, (0, -30, 0)), ("chest", 5.0, (-20, 20, 0))]


@pytest.mark.slow
def test_perfect_sensors_at_rest_tell_everything():
    world, robot = on_ground(tabi.robots.hrp2())
    errors, estimates = follow(world, robot, hold(robot.half_sitting), 1.0)
    # the robot settles in the first tenths of a second; contacts are good to 1e-6
    assert np.abs(errors[-300:, :6]).max() < 1e-6
    assert np.abs(errors[-300:, 6:12]).max() < 1e-6
    assert np.abs(errors[-300:, 12:]).max() < 2e-6
    assert estimates[-1].gyro_bias == pytest.approx(np.zeros(3), abs=1e-6)
    assert estimates[-1].stance == pytest.approx({"left": 0.5, "right": 0.5}, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["standing", "swaying"])
def test_attitude_is_right_to_three_tenths_of_a_degree_with_real_noise_under_pushes(name):
    world, robot = on_ground(tabi.robots.hrp2())
    noisy(robot)
    motion = hold(robot.half_sitting) if name == "standing" else sway(robot, 0.08, 0.5)
    errors, estimates = follow(world, robot, motion, 6.0, rate=200.0, pushes=PUSHES)
    tell(name, errors)
    assert np.degrees(rms(errors[:, :2])).max() < 0.3
    # at every moment, also where a push lifts an edge of a sole
    assert np.degrees(np.abs(errors[:, :2])).max() < 0.6
    # a gyro with that bias alone would be 3 degrees off
    assert np.degrees(abs(errors[-1, 2])) < 0.3
    assert estimates[-1].gyro_bias == pytest.approx([BIAS, -BIAS, BIAS], abs=0.15 * BIAS)
    # at 0.8 m above the feet the noise of the gyro is 2 mm/s
    assert rms(errors[:, 3:6]).max() < 3e-3
    assert rms(errors[:, 12:15]).max() < 3e-3
    assert rms(errors[:, 15:18]).max() < 5e-3


@pytest.mark.slow
def test_all_errors_of_hrp2_together_leave_it_within_three_tenths_of_a_degree():
    world, robot = on_ground(tabi.robots.hrp2(sensor_noise=True))
    errors, _ = follow(world, robot, sway(robot), 2.0, pushes=PUSHES[:1])
    tell("hrp2 with all errors, 1 kHz", errors)
    assert np.degrees(rms(errors[:, :2])).max() < 0.3
    assert rms(errors[:, 12:15]).max() < 3e-3


def other(heading=0.4):
    """A biped of other dimensions, names and axes, with sensors that are turned on their bodies."""
    robot = biped(heading=heading, flipped=("knee",), ahead=0.0)
    for body in robot.bodies[1:]:
        body.joint.motor = Motor(0.0, 1.0, 500.0, 3000.0, 100.0)
    turned = about((1, 2, -1), 2.0).quaternion
    robot.add_sensor("attitude unit", "imu", "trunk", (0.05, -0.02, 0.3), turned)
    for side in "lr":
        robot.add_sensor(
            f"{side} load", "force", f"{side}_ankle_roll_link", (0, 0.01, 0.02), turned
        )
    robot.stand_on_ground()
    return robot


@pytest.mark.slow
def test_another_biped_with_turned_sensors_is_followed_too():
    world, robot = on_ground(other())
    estimator = Estimator(robot, imu="attitude unit", feet={"left": "l load", "right": "r load"})
    motion = sway(robot, 0.03, 0.5)
    errors, _ = follow(world, robot, motion, 2.0, 500.0, [("trunk", 1.0, (8, 0, 0))], estimator)
    # perfect sensors at 500 Hz: what is left are differences over a period
    assert np.degrees(rms(errors[:, :3])).max() < 0.02
    assert rms(errors[:, 3:6]).max() < 5e-4
    noisy(robot, "attitude unit")
    errors, _ = follow(world, robot, motion, 4.0, 200.0, [("trunk", 1.0, (8, 0, 0))])
    tell("another biped", errors)
    assert np.degrees(rms(errors[:, :2])).max() < 0.3


def still(robot, gyro=(0.0, 0.0, 0.0), up=(0.0, 0.0, 1.0), load=0.5):
    """A measurement of a robot at rest whose IMU has its z axis along ``up``."""
    n = len(robot.joint_names)
    position = np.array([robot.half_sitting.get(name, 0.0) for name in robot.joint_names])
    values = {name: np.zeros(6) for name in robot.sensors}
    values["imu"] = np.array([*gyro, *(9.81 * np.array(up))])
    for side in ("left", "right"):
        values[f"{side}_foot_force"] = np.array([0, 0, load * 9.81 * robot.mass, 0, 0, 0])
    return tabi.Measurement(position, np.zeros(n), np.zeros(n), values)


def test_the_start_is_as_told_with_the_tilt_and_height_that_are_measured():
    robot = tabi.robots.hrp2()
    tilt = from_rpy((0.03, -0.05, 0.0)).R
    start = from_rpy((0.0, 0.0, 2.0), (3.0, -1.0, 9.0))
    base = Estimator(robot, start=start)(0.0, still(robot, up=tilt[2])).base
    assert base.R[2] == pytest.approx(tilt[2], abs=1e-12)
    assert np.arctan2(base.R[1, 0], base.R[0, 0]) == pytest.approx(2.0, abs=2e-3)
    assert base.p[:2] == pytest.approx([3.0, -1.0])
    # some corner of a sole is on the ground, and none below
    model = robot.compile()
    X_0B = tabi.dynamics.pose(model, model.initial(), "waist").inverse()
    corners = [
        base @ (X_0B @ tabi.dynamics.pose(model, model.initial(), foot.body.name)) @ foot.corners()
        for foot in robot.feet.values()
    ]
    assert np.concatenate(corners)[:, 2].min() == pytest.approx(0.0, abs=1e-12)


def test_without_feet_on_the_ground_the_gyro_turns_and_the_robot_falls_as_a_stone():
    robot = tabi.robots.hrp2()
    estimator, spin = Estimator(robot), np.array([0.1, -0.3, 0.2])
    first = estimator(0.0, still(robot)).base
    flying = still(robot, spin, (0, 0, 0), load=0.0)
    # the first reading is taken as that of a robot at rest
    dt, n = 1e-3, 500
    for k in range(1, n + 1):
        estimate = estimator(k * dt, flying)
    assert estimate.stance == {"left": 0.0, "right": 0.0}
    turned = np.array(rotation(tuple(n * dt * spin))).reshape(3, 3)
    assert pytest.approx(turned @ first.R, abs=1e-9) == estimate.base.R
    # symplectic sum of a constant acceleration
    fallen = 9.81 * dt**2 * n * (n + 1) / 2
    assert first.p[2] - estimate.base.p[2] == pytest.approx(fallen, rel=1e-9)


def test_a_foot_that_steps_carries_the_base_from_where_it_landed():
    robot = tabi.robots.hrp2()
    estimator, weight = Estimator(robot), 9.81 * robot.mass
    hip = {side: robot.joint_names.index(f"{side[0].upper()}LEG_HIP_P") for side in robot.feet}

    def seen(time, loads, bends):
        measurement = still(robot)
        for side in robot.feet:
            measurement.sensors[f"{side}_foot_force"][2] = loads.get(side, 0.0) * weight
            measurement.position[hip[side]] += bends.get(side, 0.0)
        return estimator(time, measurement)

    first = seen(0.0, {"left": 0.5, "right": 0.5}, {}).base.p
    swung = seen(0.01, {"left": 1.0}, {"right": -0.2})
    assert swung.base.p == pytest.approx(first, abs=1e-12)
    assert swung.stance == {"right": 0.0, "left": 1.0}
    # landed in front: nothing moves, also once it carries alone and the other swings
    bends = {"right": -0.2, "left": -0.1}
    for k, loads in enumerate(({"left": 0.5, "right": 0.5}, {"right": 1.0}, {"right": 1.0})):
        told = seen(0.02 + 0.01 * k, loads, bends if k else {"right": -0.2})
        assert told.base.p == pytest.approx(first, abs=1e-12)
    # the leg swings back under the base: the foot stands, so that the base goes to it
    model, places = robot.compile(), []
    for bend in (-0.2, 0.0):
        q = model.initial()
        q[model.q_index("RLEG_HIP_P")] += bend
        places.append(tabi.dynamics.pose(model, q, "right").p)
    moved = seen(0.05, {"right": 1.0}, {"left": -0.1}).base.p - first
    assert moved == pytest.approx(places[0] - places[1], abs=1e-12)


def test_a_constant_reading_at_rest_is_all_bias_and_a_repeated_time_changes_nothing():
    robot, bias = tabi.robots.hrp2(), np.array([0.01, -0.02, 0.03])
    estimator = Estimator(robot)
    at_rest = still(robot, bias)
    for k in range(400):
        estimate = estimator(5e-3 * k, at_rest)
    assert estimate.gyro_bias == pytest.approx(bias, abs=1e-12)
    assert pytest.approx(np.eye(3), abs=1e-9) == estimate.base.R
    assert estimator(5e-3 * 399, still(robot, 5 * bias)) is estimate
    # back in time: a new start, with another attitude
    again = estimator(0.0, still(robot, up=about((1, 0, 0), 0.1).R[2]))
    assert again.base.R[2] == pytest.approx(about((1, 0, 0), 0.1).R[2], abs=1e-12)


def test_level_ground_mends_what_a_wrong_accelerometer_tells():
    robot, wrong = tabi.robots.hrp2(), about((0, 1, 0), np.radians(1.0)).R[2]
    tilts, measured = [], still(robot, up=wrong)
    for level in (0.0, 5.0):
        estimator = Estimator(robot, gains=EstimatorGains(gravity=0.5, level=level, bias=0.0))
        for k in range(800):
            estimate = estimator(1e-2 * k, measured)
        tilts.append(np.degrees(np.arcsin(-estimate.base.R[2, 0])))
    # where both pull, the tilt is their mean, by their gains
    assert tilts == pytest.approx([1.0, 0.5 / 5.5], abs=0.01)


def test_a_delay_is_made_up_for_by_the_gyro():
    robot, spin = tabi.robots.hrp2(), np.array([0.0, 0.0, 0.5])
    turned = []
    for delay in (0.0, 0.02):
        estimator = Estimator(robot, delay=delay)
        estimator(0.0, still(robot))
        estimate = estimator(1e-9, still(robot, spin, load=0.0))
        turned.append(np.arctan2(estimate.base.R[1, 0], estimate.base.R[0, 0]))
    assert turned == pytest.approx([0.0, 0.01], abs=1e-7)
    noisy(robot)
    # and half of a period, by which samples are old on the average
    assert Estimator(robot).delay == pytest.approx(0.0075)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delay": -1.0}, "delay of the estimator is -1.0 s; expected a number ≥ 0"),
        ({"delay": "short"}, "delay of the estimator is 'short'; expected a number"),
    ],
)
def test_a_delay_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(tabi.ModelError, match=message):
        Estimator(tabi.robots.hrp2(), **arguments)


def test_gains_that_cannot_be_are_refused():
    with pytest.raises(tabi.ModelError, match="gain 'stance' of the estimator is -1; expected"):
        EstimatorGains(stance=-1)
