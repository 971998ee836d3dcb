"""Bonds in steps of second order hold in the end of the step; errors go with its square."""

import numpy as np
import rollers

from tabi.simulation.second import bonds


def test_errors_of_bonded_bodies_go_with_the_square_of_the_step():
    assert bonds.measure is not None
    assert rollers.slopes(rollers.bonded, 0.25, 2e-3).min() > 1.8


def test_bonds_do_not_drift_apart():
    sim = rollers.bonded()
    sim.run(0.5)
    # the ball joint of the upper box, 0.2 m above its middle
    w, x, y, z = sim.q[3:7]
    up = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    assert np.abs(sim.q[:3] + 0.2 * up - (0, 0, 2.2)).max() < 1e-8
    assert sim.certificate.missed == 0
    assert sim.certificate.order == 2
