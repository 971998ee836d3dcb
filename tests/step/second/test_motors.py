"""Motors in steps of second order: slopes, stiff loops that do not ring, limits that hold."""

import numpy as np
import pytest
import rollers

from tabi.step.second import motors


def test_errors_of_a_servoed_arm_go_with_the_square_of_the_step():
    assert motors.judge is not None
    found = rollers.slopes(rollers.arm, 0.25, 1e-3, links=3, kp=40.0, kd=1.0, damping=0.1)
    assert found.min() > 1.8


def test_a_stiff_loop_comes_to_rest_and_does_not_ring():
    # z = h k_d / I is some hundreds: the rule of the middle alone would alternate for ever
    sim = rollers.arm(dt=5e-3, links=2, kp=1e5, kd=1e4)
    signs = []
    sim.every(1, lambda data: signs.append(np.sign(data.v[0])))
    sim.run(2.0)
    assert np.abs(sim.v).max() < 1e-5
    assert np.abs(np.diff(signs[:100])).sum() <= 6


def test_a_motor_gives_no_more_than_it_can():
    sim = rollers.arm(links=2, kp=2000.0, kd=50.0, effort_limit=5.0)
    efforts = []
    sim.every(1, lambda data: efforts.append(np.abs(data.outcome.effort["motor"]).max()))
    sim.run(0.5)
    assert max(efforts) <= 5.0 * (1 + 1e-9)
    assert min(efforts) < 4.9 or max(efforts) > 4.9


@pytest.mark.parametrize("order", [1, 2])
def test_a_joint_keeps_within_its_ends(order):
    sim = rollers.arm(order, links=2, lower=-1.0, upper=1.3)
    seen = []
    sim.every(1, lambda data: seen.append(data.q.copy()))
    sim.run(1.0)
    assert np.max(seen) < 1.3 + 1e-6
    assert np.min(seen) > -1.0 - 1e-6
    assert sim.certificate.missed == 0
