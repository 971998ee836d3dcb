"""What the parts of a step do together: forces, momentum and sensors agree."""

from dataclasses import replace

import numpy as np
import pytest
from plates import MASS, THICK, plate_world
from step.test_events import G, falling_things

import tabi
from tabi.model.joint import Joint, Motor
from tabi.spatial import inertia
from tabi.spatial.transform import translation


def test_forces_of_a_step_hold_its_impacts():
    """Plate, contacts and momentum agree, with impacts and without."""
    sim, plate = falling_things()
    weight, impacts, moments = 3.0 * G, 0, 0.0
    for _ in range(400):
        before = sim.momentum().linear
        sim.step()
        force = (sim.momentum().linear - before) / sim.dt + (0.0, 0.0, weight)
        np.testing.assert_allclose(
            sum((c.force for c in sim.contacts), np.zeros(3)), force, atol=1e-6
        )
        np.testing.assert_allclose(sim.sensor(plate).force, force, atol=1e-6)
        torque = np.zeros(3)
        for c in sim.contacts:
            torque += np.cross(c.point, c.force) + c.moment
            # of the surfaces, 2 and 1 mm
            assert np.linalg.norm(c.moment) <= 3e-3 * c.force[2] + 1e-6
        np.testing.assert_allclose(sim.sensor(plate).torque, torque, atol=1e-6)
        impacts += force[2] > 5.0 * weight
        moments += np.abs(sim.data.moment).max(initial=0.0)
    assert impacts > 5
    assert moments > 0.0


def test_sensors_of_a_robot_feel_the_whole_step():
    """Mean acceleration over a step in which a plate on its foot bounces, and the force below."""
    world, robot = plate_world()
    for shape in (*world.fixed.shapes, *robot.bodies[0].shapes):
        shape.material = replace(shape.material, restitution=0.5)
    robot.add_sensor("imu", "imu", "plate", rate=1000.0)
    sim = tabi.Simulator(world, scheme="event-driven")
    q = np.array(sim.q)
    # 2 cm above the ground
    q[2] = 0.5 * THICK + 0.02
    sim.set_state(q)
    largest = 0.0
    for _ in range(150):
        before, foot = sim.v[2], next(iter(sim.model.feet))
        sim.step()
        felt = (sim.v[2] - before) / sim.dt + G
        assert sim.sensor("imu").accelerometer[2] == pytest.approx(felt, abs=1e-6)
        assert sim.foot_wrench(foot).force[2] == pytest.approx(MASS * felt, abs=1e-6)
        largest = max(largest, felt)
    # 0.63 m/s are turned round in one step
    assert largest > 500.0


def test_a_run_goes_on_from_a_saved_moment_as_before():
    sim, plate = falling_things()
    sim.run(0.11)
    saved, ends = sim.save(), []
    for _ in range(2):
        sim.restore(saved)
        sim.run(0.1)
        ends.append((*sim.q, *sim.v, *sim.sensor(plate).values))
    assert ends[0] == ends[1]


def test_a_motor_gives_what_its_joint_transmits():
    """A plate with an arm without rotor inertia bounces: effort is the mean over the step, to what
    the arm turns in it.
    """
    world, robot = plate_world()
    for shape in (*world.fixed.shapes, *robot.bodies[0].shapes):
        shape.material = replace(shape.material, restitution=0.5)
    hinge = Joint("hinge", "revolute", axis=(0, 1, 0), motor=Motor(kp=50.0, kd=1.0))
    arm = inertia.solid_box(0.5, (0.3, 0.05, 0.05)).transformed(translation((0.15, 0.0, 0.0)))
    robot.add_body("arm", hinge, robot.bodies[0], arm)
    for kind in ("torque", "effort"):
        robot.add_sensor(kind, kind, "arm", rate=1000.0)
    sim = tabi.Simulator(world, scheme="event-driven")
    q = np.array(sim.q)
    q[2] = 0.5 * THICK + 0.02
    sim.set_state(q)
    largest = 0.0
    for _ in range(150):
        sim.step()
        effort = sim.sensor("effort").values[0]
        assert sim.sensor("torque").values[0] == pytest.approx(effort, abs=1e-2)
        largest = max(largest, abs(effort))
    assert largest > 1.0
