"""OpenHRP's law in the simulator: how deep a robot sinks, how it creeps, lands and slides."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground
from plates import MASS, G, on_plane, standing

import tabi


def test_a_robot_sinks_by_its_weight_over_the_springs_of_both_feet():
    # no creep, and no slow swing on soft tilts: then it comes to rest
    stiff = {"roll_stiffness": 1e5, "pitch_stiffness": 1e5, "damping": 1e8, "yaw_damping": 1e6}
    law = tabi.Penalty(stiffness=2e5, alpha=5.0, **stiff)
    sim, _ = standing(law)
    sim.run(4.0)
    depth = sim._stepper.workspace.law.springs.depth[:2]
    assert depth.mean() == pytest.approx(sim.model.mass * G / (2 * 2e5), rel=1e-6)
    assert sim.missed_count == 0


def test_a_loaded_foot_creeps_with_force_over_damping():
    slope, damping = 0.1, 5e3
    sim, robot = on_plane(tabi.Penalty(damping=damping), friction=0.5, slope=slope)
    sim.run(1.0)
    v = sim.velocity(robot.body("plate")).linear
    assert np.linalg.norm(v) == pytest.approx(MASS * G * np.sin(slope) / damping, rel=1e-4)
    # the exact law holds it
    sim, robot = on_plane("coulomb", friction=0.5, slope=slope)
    sim.run(1.0)
    assert np.linalg.norm(sim.velocity(robot.body("plate")).linear) < 1e-9


def test_it_slides_as_far_as_friction_lets_it():
    sim, robot = on_plane("penalty", friction=0.3)
    q, v = sim.state.q, sim.state.v
    v[:2] = 0.6, 0.8
    sim.set_state(q, v)
    sim.run(0.25)
    speed = np.linalg.norm(sim.velocity(robot.body("plate")).linear[:2])
    assert speed == pytest.approx(1.0 - 0.3 * G * 0.25, abs=2e-3)


def test_a_drop_loses_energy_and_never_pulls():
    sim, _ = on_plane(tabi.Penalty(stiffness=1e5), height=0.05)
    before, forces = sim.energy.total, []
    sim.every(1, lambda data: forces.append(data.memory.foot["normal_force"][0]))
    sim.run(1.0)
    assert min(forces) >= 0.0
    assert sim.energy.total < before
    assert sim.foot("sole").state == "face, stick"
    assert sim.missed_count == 0


@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7, 1e9])
def test_any_stiffness_is_stable(stiffness):
    sim, robot = on_plane(tabi.Penalty(stiffness=stiffness), height=0.001)
    sim.run(1.0)
    assert np.isfinite(sim.state.q).all()
    # the softest still swings a little
    assert abs(sim.velocity(robot.body("plate")).linear[2]) < 0.05
    assert sim.missed_count == 0


def test_a_tray_on_the_head_keeps_the_exact_law():
    world, robot = hrp2_on_ground()
    world.add_box((0.4, 0.4, 0.05), 3.0, position=(0.0, 0.0, 1.6), name="tray")
    sim = tabi.Simulator(world, contact="penalty")
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    sim.run(0.25)
    touches = {c.body_a.name for c in sim.contacts} | {c.body_b.name for c in sim.contacts}
    assert "tray" in touches
    tray = [c for c in sim.contacts if "tray" in (c.body_a.name, c.body_b.name) and c.pressing]
    assert max(-c.gap for c in tray) < 1e-6
    assert sim.missed_count <= 3


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"stiffness": 0.0}, "stiffness of the penalty law is 0.0; expected a number > 0"),
        ({"pitch_stiffness": -1.0}, "pitch_stiffness of the penalty law is -1.0"),
        ({"damping": float("nan")}, "damping of the penalty law"),
        ({"alpha": -0.1}, "alpha of the penalty law is -0.1; expected a number ≥ 0"),
    ],
)
def test_mistakes_are_explained(settings, words):
    with pytest.raises(tabi.ModelError, match=words):
        tabi.Penalty(**settings)
