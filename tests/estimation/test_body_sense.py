"""What a robot feels of itself, against the dynamics' own answers; and what it cannot feel is said
in a sentence.
"""

import numpy as np
import pytest
from bipeds import biped

import tabi
from tabi.estimation.body_sense import BodySense, cross
from tabi.estimation.body_state import FLAT, LOAD, POINT, update_body_state
from tabi.spatial.transform import about


@pytest.fixture
def robot():
    return tabi.robots.hrp2()


def measured(robot, **sensors):
    rng = np.random.default_rng(0)
    n = len(robot.joint_names)
    for sensor in robot.sensors.values():
        sensors.setdefault(sensor.name, np.zeros(6))
    return tabi.Measurement(0.3 * rng.normal(size=n), rng.normal(size=n), np.zeros(n), sensors)


def pressed_of(robot, seen, **asked):
    """Load, resting point and flatness of each foot."""
    sense = BodySense(robot, **asked)
    body_state = sense.fresh()
    sense.load_readings(body_state, seen)
    update_body_state(sense.model.arrays, body_state, 0.0)
    return {
        name: (row[LOAD], row[POINT : POINT + 3], bool(row[FLAT]))
        for name, row in zip(sense.feet, body_state.pressure, strict=True)
    }


def test_limbs_are_those_of_a_robot_whose_base_is_the_world(robot):
    sense, seen, model = BodySense(robot), measured(robot), robot.compile()
    limbs = sense.limbs(seen)
    q = np.concatenate([[0, 0, 0, 1, 0, 0, 0], seen.position])
    v = np.concatenate([np.zeros(6), seen.velocity])
    for name, frame in [("imu", limbs.imu), *zip(sense.feet, limbs.feet, strict=True)]:
        X, V = tabi.dynamics.pose(model, q, name), tabi.dynamics.velocity(model, q, v, name)
        assert pytest.approx(X.R, abs=1e-12) == frame.R
        assert frame.p == pytest.approx(X.p, abs=1e-12)
        assert frame.w == pytest.approx(V.angular, abs=1e-12)
        assert frame.v == pytest.approx(V.linear, abs=1e-12)
    assert limbs.centre == pytest.approx(tabi.dynamics.centre_of_mass(model, q), abs=1e-12)
    moved = tabi.dynamics.momentum(model, q, v).linear / robot.mass
    assert limbs.centre_velocity == pytest.approx(moved, abs=1e-12)
    # a point that is fixed in a moving frame, by a difference of places
    e, r, frame = 1e-6, np.array([0.1, -0.2, 0.3]), limbs.feet[0]
    ends = [
        tabi.dynamics.pose(model, tabi.dynamics.integrate(model, q, v, h), sense.feet[0]) @ r
        for h in (-e, e)
    ]
    place, speed = frame.point(r)
    assert place == pytest.approx(0.5 * (ends[0] + ends[1]), abs=1e-9)
    assert speed == pytest.approx((ends[1] - ends[0]) / (2 * e), abs=1e-7)


def test_a_sole_is_flat_where_its_centre_of_pressure_is_well_inside(robot):
    # the outline of the right sole of HRP-2 from its ankle [m]
    inside = [(0.0, 0.0), (0.12, 0.0), (0.0, 0.045)]
    for x, y in [*inside, (0.13, 0.0), (0.0, 0.055), (0.0, -0.075)]:
        wrench = np.array([3.0, 4.0, 200.0, 200.0 * y, -200.0 * x, 1.0])
        seen = measured(robot, right_foot_force=wrench, left_foot_force=-wrench)
        pressed = pressed_of(robot, seen)
        load, point, flat = pressed["right"]
        assert load == 200.0
        assert point == pytest.approx([x, y, 0.0], abs=1e-15)
        assert flat is ((x, y) in inside)
        assert not pressed["left"][2]


def test_sensors_that_are_turned_and_raw_tell_the_same():
    G, offset = np.diag([2.0, 2, 2, 1, 1, 1]), np.arange(6.0)
    X, robots = about((1, 1, 0), 1.0, (0.01, 0.02, 0.05)), []
    for turned in (False, True):
        robot = biped()
        foot = robot.feet["left"]
        place = foot.placement @ X if turned else foot.placement
        raw = {"matrix": G, "offset": offset} if turned else {}
        robot.add_sensor("load", "force", foot.body, place.p, place.quaternion, **raw)
        robot.add_sensor("imu", "imu", "trunk")
        robots.append(robot)
    force, torque = np.array([5.0, -3.0, 90.0]), np.array([2.0, -4.0, 0.5])
    there = X.R.T @ force, X.R.T @ (torque - np.cross(X.p, force))
    readings = np.concatenate([force, torque]), np.linalg.inv(G) @ np.concatenate(there) - offset
    for robot, reading in zip(robots, readings, strict=True):
        load, point, _ = pressed_of(robot, measured(robot, load=reading))["left"]
        assert load == pytest.approx(90.0)
        assert point == pytest.approx([4.0 / 90, 2.0 / 90, 0.0])


def test_a_gyro_and_an_accelerometer_on_one_body_are_an_imu_and_touch_tells_a_load():
    robot, X = biped(), about((0, 0, 1), 0.5 * np.pi)
    robot.add_sensor("gyro", "gyro", "trunk", quaternion=X.quaternion)
    robot.add_sensor("accelerometer 2", "accelerometer", "trunk", (0.0, 0.1, 0.0))
    robot.add_sensor("left touch", "touch", robot.feet["left"].body)
    for asked in (None, ("gyro", "accelerometer 2")):
        sense = BodySense(robot, asked)
        sensors = {"gyro": np.array([1.0, 0, 0]), "accelerometer 2": np.array([0, 0, 9.81])}
        seen = measured(robot, **sensors, **{"left touch": np.array([70.0])})
        body_state = sense.fresh()
        sense.load_readings(body_state, seen)
        # in the accelerometer's axes
        assert body_state.to_imu.reshape(3, 3) @ body_state.gyro == pytest.approx([0.0, 1.0, 0.0])
        assert body_state.acceleration == pytest.approx([0.0, 0.0, 9.81])
        load, _, flat = pressed_of(robot, seen, imu=asked)["left"]
        assert (load, flat) == (70.0, True)
        assert sense.limbs(seen).imu.p == pytest.approx([0.0, 0.1, 0.0])


def test_rubber_bends_by_what_the_sensor_below_it_feels():
    """A standing robot's own rubber, when it has settled, and how it gets there."""
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2(bush=True))
    sim = tabi.Simulator(world)
    sense = BodySense(robot)
    body_state = sense.fresh()
    joints = [name for feet in robot.bush.feet.values() for name in (feet.roll, feet.pitch, feet.z)]
    rows = [sim.model.q_index(name) for name in joints]
    # standing, and pushed
    sim.apply_force(robot.base, force=(40.0, 30.0, 0.0), duration=0.1, at=0.5)
    worst, bend = 0.0, 0.0
    for k in range(1000):
        sim.step()
        sense.load_readings(body_state, sim.measure(robot))
        update_body_state(sense.model.arrays, body_state, 1e-3 if k else 0.0)
        if k > 100:
            worst = np.maximum(worst, np.abs(body_state.q[rows] - sim.q[rows]))
            bend = np.maximum(bend, np.abs(sim.q[rows]))
    # backward differences of 1 ms in a spring of D/K = 10 ms: 5 % while it moves
    assert (worst < 0.05 * bend + 1e-6).all()
    assert bend.max() > 2e-3


def test_cross_is_the_cross_product():
    a, b = np.random.default_rng(1).normal(size=(2, 3))
    assert cross(a, b) == pytest.approx(np.cross(a, b), abs=1e-15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"imu": "imo"}, "sensor 'imo' not found in hrp2; sensors near that name: 'imu'"),
        ({"imu": "left_foot_force"}, "'left_foot_force' of hrp2 is of kind 'force'; expected an"),
        ({"imu": ("imu", "gyro")}, "sensor 'gyro' not found in hrp2"),
        ({"imu": ("left_foot_force", "left_wrist_force")}, "has no IMU among 'left_foot_force'"),
        ({"feet": {"middle": "left_foot_force"}}, "foot 'middle' not found in hrp2"),
        ({"feet": {"left": "foot"}}, "sensor 'foot' not found in hrp2"),
        (
            {"feet": {"left": "imu"}},
            "'imu' of kind 'imu' on body 'chest' does not measure the load",
        ),
        ({"feet": {"left": "right_foot_force"}}, "on body 'left_foot'"),
        ({"feet": {}}, "robot 'hrp2' has no load sensor at a foot"),
    ],
)
def test_what_a_robot_does_not_have_is_said_in_one_sentence(robot, arguments, message):
    with pytest.raises(tabi.ModelError, match=message):
        BodySense(robot, **arguments)


def test_robots_without_imu_feet_or_a_base_that_moves_are_refused():
    robot = biped()
    with pytest.raises(tabi.ModelError, match="robot 'biped' has no IMU; expected a sensor of"):
        BodySense(robot)
    robot.add_sensor("imu", "imu", "trunk")
    with pytest.raises(tabi.ModelError, match="has no load sensor at a foot, so its stance feet"):
        BodySense(robot)
    robot.feet.clear()
    with pytest.raises(tabi.ModelError, match="robot 'biped' has no feet"):
        BodySense(robot)
    robot.base.joint.kind = "fixed"
    with pytest.raises(tabi.ModelError, match="bolted to the world by its base 'trunk'"):
        BodySense(robot)
