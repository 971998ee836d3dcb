"""Sensors and force plates of scene files."""

import numpy as np
import pytest
from msgspec import inspect

from tabi import scenes
from tabi.model.sensor_kinds import SENSOR_KINDS
from tabi.model.sensors import OPTIONS as KNOWN
from tabi.scenes import SceneError
from tabi.scenes.keys.sensors import SensorKeys
from tabi.scenes.sensing import OPTIONS

HRP2 = "title: t\nrobots:\n  - robot: hrp2\n    position_m: [0, 0, 1]\n    sensors:\n"


def robot_with(sensors: str):
    return scenes.loads(HRP2 + sensors).world().robots[0]


def test_every_kind_and_option_of_a_sensor_can_be_said():
    fields = {field.name: field.type for field in inspect.type_info(SensorKeys).fields}
    told = next(kind.values for kind in fields["kind"].types if hasattr(kind, "values"))
    assert set(told) == set(SENSOR_KINDS) - {"plate"}
    assert set(OPTIONS.values()) == set(KNOWN)


def test_sensors_that_a_robot_has_are_changed():
    robot = robot_with(
        "      imu: {rate_hz: 200, delay_s: 0.005, noise: [1, 2, 3, 4, 5, 6], bias: -0.5}\n"
        "      left_foot_force: {bandwidth_hz: 50, limit: 1000, drift: 0.1, resolution: 0.5}\n"
    )
    imu, foot = robot.sensors["imu"], robot.sensors["left_foot_force"]
    assert (imu.rate, imu.delay, imu.bias) == (200.0, 0.005, -0.5)
    assert imu.each("noise").tolist() == [1, 2, 3, 4, 5, 6]
    assert imu.kind == "imu"
    assert imu.body.name == "chest"
    assert (foot.bandwidth, foot.limit, foot.drift, foot.resolution) == (50.0, 1000.0, 0.1, 0.5)


def test_new_sensors_are_added_where_they_are():
    diagonal = "[[2, 0, 0], [0, 2, 0], [0, 0, 2]]"
    robot = robot_with(
        "      knee: {kind: encoder, body: right_shank, resolution: [1e-4, 0]}\n"
        "      toe: {kind: switch, body: left_foot, threshold_n: 20}\n"
        "      wrist: {kind: force, body: left_hand, position_m: [0, 0, -0.1], "
        f"quaternion: [0, 1, 0, 0], part: torque, matrix: {diagonal}, offset: [1, 2, 3]}}\n"
    )
    knee, toe, wrist = (robot.sensors[name] for name in ("knee", "toe", "wrist"))
    assert knee.each("resolution").tolist() == [1e-4, 0.0]
    assert (toe.kind, toe.threshold, toe.body.name) == ("switch", 20.0, "left_foot")
    assert wrist.placement.p.tolist() == [0.0, 0.0, -0.1]
    assert np.allclose(wrist.placement.R, np.diag([1.0, -1.0, -1.0]))
    assert wrist.calibrated([0.0, 0.0, 0.0]).tolist() == [2.0, 4.0, 6.0]


def test_a_scene_with_sensors_comes_back_from_its_own_file():
    text = (
        HRP2 + "      imu: {noise: [1, 2, 3, 4, 5, 6], rate_hz: 100}\n      knee: {kind: encoder, "
    )
    scene = scenes.loads(text + "body: right_shank, bias: 0.1}\n")
    assert scenes.loads(scene.to_yaml()) == scene


@pytest.mark.parametrize(
    ("sensors", "line", "words"),
    [
        ("      imu:\n        rate_hz: 300\n", 7, "expected one that divides 1000 Hz.*333.3.* 250"),
        ("      eye: {kind: gyro,\n            body: chst}\n", 7, "'chst' not found.*'chest'"),
        ("      imux: {noise: 1}\n", 6, "'imux' not found in hrp2.*'imu'.*a kind and a body"),
        ("      imu: {\n        body: chest}\n", 7, "has this sensor.*leave body out"),
        ("      imu:\n        noise: [1, 2]\n", 7, "sensors.imu.noise is .*one number, or 6"),
        ("      imu:\n        noise: [1, -2]\n", 7, "noise.1 is -2; expected a number"),
        ("      imu:\n        noise: much\n", 7, "'much'; expected a number.* or a list"),
        ("      imu: {kind: imx}\n", 6, "'imx'; expected one of accelerometer, camera"),
        ("      k: {kind: encoder, body: waist}\n", 6, "joint with one degree of freedom"),
        ("      imu: {quaternion: [0, 0, 0, 0]}\n", 6, "is zero"),
        ("      imu: {rate: 3}\n", 6, "key 'rate' in .*; did you mean 'rate_hz'"),
    ],
)
def test_sensors_that_cannot_be_are_refused_with_their_line(sensors, line, words):
    with pytest.raises(SceneError, match=words) as fault:
        robot_with(sensors)
    assert fault.value.line == line


def test_a_singular_matrix_is_refused_with_its_line():
    rows = ", ".join(["[1, 0, 0, 0, 0, 0]"] * 6)
    with pytest.raises(SceneError, match=r"sensors\.left_foot_force\.matrix is singular") as fault:
        robot_with(f"      left_foot_force:\n        delay_s: 0\n        matrix: [{rows}]\n")
    assert fault.value.line == 8
    assert fault.value.key == "robots.hrp2.sensors.left_foot_force.matrix"


BOX = "title: t\nobjects:\n  - {shape: box, size_m: [0.2, 0.2, 0.2], mass_kg: 4, position_m: "


def test_a_box_stands_on_a_force_plate():
    plate = "{name: scale, size_m: [0.5, 0.5], position_m: [1, 0, 0.05], rotation_deg: [0, 0, 90]}"
    sim = scenes.loads(f"{BOX}[1.1, 0, 0.15]}}\nforce_plates:\n  - {plate}\n").simulator()
    sim.run(0.1)
    told = sim.sensor("scale")
    assert told.force == pytest.approx([0.0, 0.0, 39.0])
    # x of the world is −y of a plate that looks to the left; forces are rounded, moments are not
    assert told.centre_of_pressure == pytest.approx([0.0, -0.1 * 4 * 9.81 / 39], abs=1e-6)


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        ("ground: {force_plate: true}", "ground"),
        ("ground: {}\nforce_plates: [{of: ground, resolution_n: 0}]", "ground"),
        ("fixed: [{shape: box, name: table, size_m: [1, 1, 0.1], position_m: [0, 0, -0.05], "
         "force_plate: true}]", "table"),
        ("fixed: [{shape: box, name: table, size_m: [1, 1, 0.1], position_m: [0, 0, -0.05]}]\n"
         "force_plates: [{of: table, resolution_n: 0}]", "table"),
    ],
)  # fmt: skip
def test_any_fixed_thing_is_a_force_plate(keys, name):
    sim = scenes.loads(f"{BOX}[0, 0, 0.1]}}\n{keys}\n").simulator()
    sim.run(0.1)
    assert np.linalg.norm(sim.sensor(name).force) == pytest.approx(4 * 9.81, rel=0.02)


@pytest.mark.parametrize(
    ("plate", "words"),
    [
        ("{of: grund}", "fixed thing 'grund' not found"),
        ("{of: ground, friction: 0.1}", "is given beside of: ground"),
        ("{name: ground}", "is 'ground', which is taken"),
        ("{rate_hz: 300}", "nearest are 333.333 and 250 Hz"),
        ("{quaternion: [0, 0, 0, 0]}", "quaternion is zero"),
        ("{rotation_deg: [1, 0, 0], quaternion: [1, 0, 0, 0]}", "beside quaternion"),
        ("{thickness_m: 0}", "thickness_m is 0; expected a number > 0"),
    ],
)
def test_force_plates_that_cannot_be_are_refused_with_their_line(plate, words):
    text = f"{BOX}[0, 0, 1]}}\nground: {{}}\nforce_plates:\n  - {plate}\n"
    with pytest.raises(SceneError, match=words) as fault:
        scenes.loads(text).world()
    assert fault.value.line == 6


def test_the_seed_of_a_scene_is_that_of_the_noise():
    def told(seed: int) -> np.ndarray:
        text = HRP2 + f"      imu: {{noise: 1}}\nsimulation: {{seed: {seed}}}\n"
        sim = scenes.loads(text).simulator()
        sim.run(0.002)
        return sim.sensor("imu").values

    assert np.array_equal(told(3), told(3))
    assert not np.array_equal(told(3), told(4))
    with pytest.raises(SceneError, match=r"simulation.seed is -1; expected a whole number"):
        scenes.loads(HRP2 + "      imu: {}\nsimulation: {seed: -1}\n")
