"""HRP-2 pushes with its hand against a pillar."""

from __future__ import annotations

import paper_experiments
import pytest

from tabi import dynamics, scenes
from tabi.lab.papers.experiments.pillar import EXPERIMENTS, HAND, stiffness, touching

pytestmark = pytest.mark.papers


def test_forces_on_the_hand_are_those_of_coulomb_and_of_statics():
    found = paper_experiments.check(EXPERIMENTS[0])
    assert found.missed == 0
    # the wrist's sensor tells the same, less the weight of the hand
    assert found.numbers["sensor_error_n"] < 1e-3


def test_with_stiff_servos_it_is_an_inverted_pendulum_on_its_rubber():
    scene = scenes.load("pillar")
    sim = scene.simulator()
    sim.run(scene.duration)
    model = scene.simulator().model
    model.arrays.dof["kp"] *= 1e3
    # about the rubber's axis, pitch θ: (2 K − m g z_c + x F_x + z F_z) θ = −(z + x F_z/φ) dφ, and
    # the hand goes back by −z θ; F = (−φ, ·, F_z) on the hand, which is at x, z
    force = sum(c.force_on(HAND) for c in touching(sim))
    x, _, z = touching(sim)[0].point - sim.position("right_ankle")
    m = sim.world.robots[0].mass
    z_c = dynamics.centre_of_mass(sim.model, sim.q)[2] - sim.position("right_ankle")[2]
    turn = 2 * 500.0 - m * 9.81 * z_c + x * force[0] + z * force[2]
    pendulum = turn / (z * (z - x * force[2] / force[0]))
    assert stiffness(model, sim) == pytest.approx(pendulum, rel=0.01)
