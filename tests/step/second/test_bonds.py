"""Bonds in steps of second order hold in the end of the step; errors go with its square."""

import numpy as np
import pytest
import rollers

import tabi
from tabi.step.second import bonds


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


def test_a_loop_of_bonds_swings_through_where_it_lies_flat():
    # three bars on two pivots; rows of one hinge are redundant across the plane
    world = tabi.World()
    bars = [
        world.add_box(size, 1.0, position=place)
        for size, place in (
            ((0.02, 0.02, 0.4), (0, 0, 1.0)),
            ((0.5, 0.02, 0.02), (0.25, 0, 1.2)),
            ((0.02, 0.02, 0.4), (0.5, 0, 1.0)),
        )
    ]
    a, b, c = bars
    v, omega = np.zeros(18), np.array([0.0, 2.0, 0.0])
    for k, arm in ((0, 0.2), (1, 0.4), (2, 0.2)):
        v[6 * k : 6 * k + 3] = np.cross(omega, (0, 0, arm))
    v[3:6] = v[15:18] = omega
    sim = rollers.started(world, 2, 1e-3, v)
    for one, other, point in (
        (a, world.fixed, (0, 0, 0.8)),
        (b, a, (0, 0, 1.2)),
        (c, b, (0.5, 0, 1.2)),
        (c, world.fixed, (0.5, 0, 0.8)),
    ):
        sim.bond("hinge", one, other, point=point, axis=(0, 1, 0))
    before = sim.energy.total
    sim.run(0.5)
    assert sim.energy.total == pytest.approx(before, abs=1e-3)
    # the far bar turns as the near one does
    assert sim.q[14:17] - sim.q[:3] == pytest.approx((0.5, 0, 0), abs=1e-7)
    assert sim.certificate.missed == 0
