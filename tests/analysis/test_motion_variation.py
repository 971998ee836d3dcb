"""Other friction, other masses, and commands that come late."""

import numpy as np
import pytest

import tabi
from tabi import scenes
from tabi.analysis.motion_variation import VARIATIONS, LateCommands, MotionVariation, vary
from tabi.model.controllers.signals import Command


def test_every_friction_and_every_mass_is_multiplied():
    sim, same = scenes.load("standing").simulator(), scenes.load("standing").simulator()
    vary(sim, MotionVariation(friction=0.8, mass=1.05))
    for column in ("friction", "static_friction"):
        assert sim.model.pairs[column] == pytest.approx(0.8 * same.model.pairs[column])
    assert sim.model.mass == pytest.approx(1.05 * same.model.mass)
    assert np.array_equal(sim.model.pairs["restitution"], same.model.pairs["restitution"])


def test_a_heavier_robot_weighs_more_on_the_ground():
    loads = []
    for mass in (1.0, 1.05):
        sim = scenes.load("standing").simulator()
        vary(sim, MotionVariation(mass=mass))
        sim.run(0.3)
        (robot,) = sim.world.robots
        loads.append(sum(sim.foot(foot).normal_force for foot in robot.feet.values()))
    assert loads[1] / loads[0] == pytest.approx(1.05, abs=1e-3)


def test_late_commands_are_those_of_the_controller_so_many_steps_later():
    asked = []

    def controller(time, measurement):
        asked.append(round(time, 6))
        return Command(position=time)

    late = LateCommands(controller, every=5, delay=0.002, dt=0.001)
    said = [late(k * 1e-3, None).position for k in range(14)]
    assert asked == [0.0, 0.005, 0.01]
    assert said == pytest.approx([None] * 2 + [0.0] * 5 + [0.005] * 5 + [0.01] * 2)
    # between two commands it is the same object, which a simulation does not take again
    assert late(0.014, None) is late(0.014, None)


def test_a_delay_is_a_whole_number_of_steps_and_a_reset_begins_anew():
    late = LateCommands(lambda time, _: Command(position=time), 1, 0.005, 0.002)
    assert late.steps == 3
    for k in range(5):
        late(k * 2e-3, None)
    late.reset()
    assert late(0.0, None).position is None


@pytest.mark.slow
def test_the_controllers_of_a_simulation_are_late_at_their_own_rate():
    sim = scenes.load("walk").simulator()
    (name,) = sim.drivers
    before = sim.drivers[name]
    vary(sim, MotionVariation(delay=0.002))
    driver = sim.drivers[name]
    assert isinstance(driver.controller, LateCommands)
    assert driver.controller.controller is before.controller
    assert (driver.every, driver.controller._every) == (1, before.every)
    assert isinstance(sim, tabi.Simulator)


def test_names_say_what_is_other():
    assert [how.name for how in VARIATIONS] == [
        "as it is",
        "friction -20 %",
        "friction +20 %",
        "masses -5 %",
        "masses +5 %",
        "commands 2 ms late",
        "commands 5 ms late",
    ]
    assert (
        MotionVariation(0.8, 1.05, 0.002).name == "friction -20 %, masses +5 %, commands 2 ms late"
    )
