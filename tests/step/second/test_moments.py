"""Rolling and torsional friction in steps of second order: decelerations in closed form.

spin   ω̇ = −τ m g / I          rolling   v̇ = −ρ g / (R (1 + 2/5))                            (1)
"""

import pytest

import tabi
from tabi.step.second import moments

G = 9.81


def ball(v):
    surface = {"friction": 0.8, "rolling_friction": 1e-3, "torsional_friction": 2e-3}
    world = tabi.World()
    world.add_ground(**surface)
    world.add_sphere(0.1, 1.0, position=(0, 0, 0.1), **surface)
    sim = tabi.Simulator(world, order=2)
    sim.set_state(sim.q, v)
    sim.run(0.5)
    assert sim.certificate.order == 2
    return sim.v


def test_a_spinning_ball_slows_down():
    assert moments.measure is not None
    slower = 2e-3 * G / (0.4 * 0.01) * 0.5
    assert ball((0, 0, 0, 0, 0, 20.0))[5] == pytest.approx(20.0 - slower, rel=1e-6)


def test_a_rolling_ball_slows_down():
    slower = 1e-3 * G / (0.1 * 1.4) * 0.5
    assert ball((1.0, 0, 0, 0, 10.0, 0))[0] == pytest.approx(1.0 - slower, rel=1e-6)
