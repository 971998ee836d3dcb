"""Sliders of a page: what they set, and that a controller's own gains obey them."""

import numpy as np
import pytest

from tabi.apps.viewer.tuning import Tuning
from tabi.model.controllers.signals import Command
from tabi.model.world import World
from tabi.robots import hrp2
from tabi.simulation.simulator import Simulator


@pytest.fixture(scope="module")
def standing():
    world = World()
    world.add_ground()
    robot = world.add_robot(hrp2())
    robot.stand_on_ground()
    return world, robot


def test_friction_of_a_world_without_ground_is_left_alone():
    from tabi.simulation.simulator import Simulator

    world = World()
    world.add_box(size=(0.1, 0.1, 0.1), mass=1.0)
    sim = Simulator(world)
    before = sim.model.friction.copy()
    Tuning(friction=0.1).apply(sim)
    assert np.array_equal(sim.model.friction, before)


def test_friction_is_set_between_the_ground_and_everything(standing):
    sim = Simulator(standing[0])
    Tuning(friction=0.1, restitution=0.3).apply(sim)
    ground = sim.model.material_names.index(standing[0].fixed.shapes[0].material.name)
    assert (sim.model.friction[ground] == 0.1).all()
    assert (sim.model.friction[:, ground] == 0.1).all()


@pytest.mark.parametrize("told", [100.0, np.full(30, 100.0)])
def test_gains_of_a_controller_are_multiplied_once(standing, told):
    world, robot = standing
    sim = Simulator(world)
    command = Command(kp=told, kd=2.0)
    sim.set_controller(robot, lambda time, measurement: command)
    rows = next(iter(sim.drivers.values())).rows
    # one slider after the other, as a page does it
    Tuning(stiffness=2.0).apply(sim)
    Tuning(stiffness=2.0, damping=0.5).apply(sim)
    sim.step()
    assert np.allclose(sim.data.command.motor["kp"][rows], 200.0)
    assert np.allclose(sim.data.command.motor["kd"][rows], 1.0)
    Tuning().apply(sim)
    sim.step()
    assert np.allclose(sim.data.command.motor["kp"][rows], 100.0)


def test_gains_by_name_are_multiplied_and_silence_leaves_the_motors_own(standing):
    world, robot = standing
    sim = Simulator(world)
    told = iter([Command(position=0.0), Command(kp={"RLEG_KNEE_P": 50.0})])
    sim.set_controller(robot, lambda time, measurement: next(told))
    Tuning(stiffness=3.0).apply(sim)
    sim.step()
    assert np.allclose(sim.data.command.motor["kp"], 3.0 * sim.model.arrays.dof["kp"])
    sim.step()
    knee = sim.model.v_index("RLEG_KNEE_P")
    assert sim.data.command.motor["kp"][knee] == pytest.approx(150.0)


def test_rubber_of_the_ankles_is_a_multiple_of_what_was_built():
    world = World()
    world.add_ground()
    robots = [world.add_robot(hrp2(bush=True), name) for name in ("one", "two")]
    sim = Simulator(world)
    for factor in (3.0, 0.5):
        Tuning(bush_stiffness=factor, bush_damping=2.0).apply(sim)
        for robot in robots:
            rubber = [body.joint for body in robot.bodies if body.joint.passive]
            # the three of each ankle
            assert len(rubber) == 2 * 3
            for joint in rubber:
                row = sim.model.arrays.dof[sim.model.v_index(f"{robot.name}/{joint.name}")]
                # of what was built, not of what was set before
                assert row["stiffness"] == factor * joint.stiffness
                assert row["damping"] == 2.0 * joint.damping
