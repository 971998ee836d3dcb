"""``tabi identify sensor | joint | friction``: from tables and recordings to numbers, and one
sentence for each mistake.
"""

import json
from math import cos, sin

import numpy as np
import pytest
from apps.sentences import mistake
from apps.test_identify import told
from tests.step.forces.test_motors import arm

import tabi
from tabi.model.joint import Motor

READINGS = "fx,fy,fz,tx,ty,tz"


def write(path, header, rows):
    lines = [",".join(f"{x:.17g}" for x in row) for row in np.asarray(rows)]
    path.write_text("\n".join([header, *lines]))
    return path


@pytest.fixture
def weights(tmp_path):
    """Weights at four places on a sensor whose channels read twice the load, less one."""
    rng, rows = np.random.default_rng(0), []
    places = [(0.0, 0.0, 0.1), (0.2, 0.0, 0.1), (0.0, 0.2, 0.1), (0.1, 0.1, 0.0)]
    for k in range(20):
        g, c = rng.normal(size=3), np.array(places[k % 4])
        force = 3.0 * 9.81 * g / np.linalg.norm(g)
        rows.append([*(2.0 * np.array([*force, *np.cross(c, force)]) - 1.0), *g, 3.0, *c])
    return write(tmp_path / "poses.csv", f"{READINGS},gx,gy,gz,mass_kg,cx_m,cy_m,cz_m", rows)


def test_sensor_from_weights_and_from_known_loads(weights, tmp_path):
    found = json.loads(told("identify", "sensor", weights, "--json"))
    np.testing.assert_allclose(found["matrix"], 0.5 * np.eye(6), atol=1e-9)
    np.testing.assert_allclose(found["offset"], 1.0, atol=1e-9)
    text = told("identify", "sensor", weights)
    assert "f = G (reading + offset), from 20 poses (95 % intervals)" in text
    loads = np.random.default_rng(1).normal(size=(12, 6))
    names = ",".join(f"load_{n}_{'n' if n[0] == 'f' else 'nm'}" for n in READINGS.split(","))
    path = write(tmp_path / "loads.csv", f"{READINGS},{names}", np.hstack([4 * loads, loads]))
    found = json.loads(told("identify", "sensor", path, "--json"))
    np.testing.assert_allclose(found["matrix"], 0.25 * np.eye(6), atol=1e-9)


def test_one_weight_tells_a_diagonal_matrix_only(weights, tmp_path, monkeypatch, capsys):
    table = np.loadtxt(weights, delimiter=",", skiprows=1)
    rng = np.random.default_rng(3)
    g = rng.normal(size=(20, 3))
    force = 3.0 * 9.81 * g / np.linalg.norm(g, axis=1, keepdims=True)
    load = np.hstack([force, np.cross((0.1, 0.2, 0.3), force)])
    path = write(tmp_path / "one.csv", f"{READINGS},gx,gy,gz", np.hstack([2 * load - 1, g]))
    how = ("--mass", 3.0, "--centre", 0.1, 0.2, 0.3)
    found = json.loads(told("identify", "sensor", path, *how, "--diagonal", "--json"))
    np.testing.assert_allclose(found["matrix"], 0.5 * np.eye(6), atol=1e-9)
    assert "span 3 of 6" in mistake(monkeypatch, capsys, "identify", "sensor", path, *how)
    said = mistake(monkeypatch, capsys, "identify", "sensor", path, "--mass", 3.0)
    assert "no column cx_m, cy_m, cz_m; its columns are fx, fy" in said
    few = write(tmp_path / "few.csv", weights.read_text().splitlines()[0], table[:5])
    assert "has 5 poses; expected 12" in mistake(monkeypatch, capsys, "identify", "sensor", few)


@pytest.mark.slow
def test_joint_from_a_recording_of_tabi(tmp_path):
    # an arm under gravity, from rest along two cosines, by a loop with gear and frictions
    motor = Motor(rotor_inertia=1e-5, gear_ratio=80.0, motor_kp=10.0, motor_kd=0.5)
    world, robot = arm(motor=motor, damping=1.5, friction=0.8)
    sim = tabi.Simulator(world)
    path = tmp_path / "run.h5"

    def swing(t, m):
        rate = 0.8 * 3.0 * sin(3 * t) + 0.4 * 7.0 * sin(7 * t)
        return tabi.Command(position=-0.8 * cos(3 * t) - 0.4 * cos(7 * t) + 1.2, velocity=rate)

    sim.set_controller(robot, swing)
    with sim.record(path):
        sim.run(6.0)
    found = json.loads(told("identify", "joint", path, "--json"))
    assert found["kp"] == pytest.approx(800.0, rel=2e-3)
    assert found["kd"] == pytest.approx(40.0, rel=5e-3)
    assert found["viscous"] == pytest.approx(1.5, rel=0.02)
    assert found["dry"] == pytest.approx(0.8, rel=0.02)
    # link, and rotor times gear ratio squared
    assert found["inertia"] == pytest.approx(0.01 + 2.0 * 0.25 + 1e-5 * 80**2, rel=0.01)


@pytest.mark.parametrize("kind", ["rad", "m"])
def test_joint_from_a_table_in_its_own_units(tmp_path, kind):
    t = np.arange(0, 8, 2e-3)
    q, v, a = 0.7 * np.sin(2 * t), 1.4 * np.cos(2 * t), -2.8 * np.sin(2 * t)
    q, v, a = q + 0.1 * np.sin(9 * t), v + 0.9 * np.cos(9 * t), a - 8.1 * np.sin(9 * t)
    torque = 0.3 * a + 2.0 * v + 0.5 * np.sign(v)
    command = q + (torque + 9.0 * v) / 300.0
    units = ("torque_nm" if kind == "rad" else "force_n", f"_{kind}")
    header = f"time_s,position{units[1]},velocity{units[1]}_s,command{units[1]},{units[0]}"
    path = write(tmp_path / "log.csv", header, np.stack([t, q, v, command, torque], 1))
    found = json.loads(told("identify", "joint", path, "--json"))
    expected = {"kp": 300.0, "kd": 9.0, "viscous": 2.0, "dry": 0.5, "inertia": 0.3}
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-3)
    text = told("identify", "joint", path)
    assert ("N·m·s/rad" in text) == (kind == "rad")
    assert "95 % intervals" in text


@pytest.mark.slow
def test_friction_from_pulls_records_and_a_recording(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(2)
    mass = rng.uniform(5, 9, 50)
    pulls = np.stack([0.45 * 9.81 * mass * (1 + 0.02 * rng.normal(size=50)), mass], 1)
    table = write(tmp_path / "pulls.csv", "force_n,mass_kg", pulls)
    found = json.loads(told("identify", "friction", table, "--json"))
    low, high = found["friction_interval"]
    assert low <= 0.45 <= high
    assert found["r_squared"] > 0.95
    assert "50 pulls" in told("identify", "friction", table)
    # two records of pulls, one after the other
    t = np.arange(0.0, 5.0, 0.01)
    records = []
    for k in range(2):
        rows = np.stack([t, 10 * t.clip(0, 3), (t - 3).clip(0) ** 2], 1) + 1e-5 * rng.normal(
            size=(500, 3)
        )
        records.append(write(tmp_path / f"pull{k}.csv", "time_s,force_n,displacement_m", rows))
    found = json.loads(told("identify", "friction", *records, "--normal", 60.0, "--json"))
    assert found["friction"] == pytest.approx(0.5, rel=0.01)
    assert found["pulls"] == 2
    said = mistake(monkeypatch, capsys, "identify", "friction", records[0])
    assert "give --normal [N] or --mass [kg]" in said
    said = mistake(monkeypatch, capsys, "identify", "friction", table, "--normal", 1, "--mass", 2)
    assert "both specified; expected one of them" in said
    said = mistake(monkeypatch, capsys, "identify", "friction", tmp_path / "no.csv")
    assert "cannot be read: No such file" in said


@pytest.mark.slow
def test_friction_of_a_box_that_slides_in_a_recording(tmp_path, monkeypatch, capsys):
    world = tabi.World()
    world.add_ground(friction=0.9)
    box = world.add_box((0.2, 0.2, 0.1), 4.0, friction=0.37, position=(0, 0, 0.05), name="crate")
    sim = tabi.Simulator(world)
    sim.apply_force(box, force=(30.0, 0, 0), duration=0.5)
    path = tmp_path / "pull.h5"
    with sim.record(path):
        sim.run(0.5)
    found = json.loads(told("identify", "friction", path, "--body", "crate", "--json"))
    assert found["friction"] == pytest.approx(0.37, rel=1e-6)
    assert "say what slides in it: --body" in mistake(
        monkeypatch, capsys, "identify", "friction", path
    )
    said = mistake(monkeypatch, capsys, "identify", "friction", path, "--body", "crat")
    assert "body 'crat' not found" in said


def test_mistakes_about_joints_are_told(tmp_path, monkeypatch, capsys):
    path = write(tmp_path / "log.csv", "time_s,position_rad,torque_nm", np.ones((5, 3)))
    said = mistake(monkeypatch, capsys, "identify", "joint", path)
    assert "no column velocity_rad_s, command_rad; its columns are time_s" in said
    said = mistake(monkeypatch, capsys, "identify", "joint", path, "--joint", "knee")
    assert "--joint is for recordings" in said
