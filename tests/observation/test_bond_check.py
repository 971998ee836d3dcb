"""Bonds are excused from what they cannot stop, and from nothing else."""

import numpy as np
import pytest

import tabi
from tabi.contact.rows import BILATERAL
from tabi.observation import bond_check
from tabi.observation.bond_check import avoidable_residual
from tabi.spatial.transform import about, translation


def welded_boxes():
    """The problem of two boxes welded to each other and each to the world: once too often."""
    world = tabi.World()
    for k in range(2):
        world.add_box(size=(0.2, 0.2, 0.2), mass=1.0, position=(0.5 * k, 0, 1.0), name=f"box{k}")
    sim = tabi.Simulator(world)
    sim.bond("weld", "box0", "box1")
    sim.bond("weld", "box0", world.fixed)
    sim.bond("weld", "box1", world.fixed)
    sim.step()
    return sim.data.problem


def loose_chain():
    """A plane four-bar, a millionth of a radian out of its plane, that swings."""
    from model.test_loop_closing import four_bar

    robot = four_bar()
    robot.joint("crank").motor = None
    robot.joint("rod").placement = translation((0.0, 0.0, 0.1)) @ about((1.0, 0.0, 0.0), 1e-6)
    world = tabi.World()
    world.add_robot(robot)
    return tabi.Simulator(world)


def test_what_an_impulse_could_have_stopped_is_found():
    p = welded_boxes()
    assert (p.kind == BILATERAL).all()
    # 18 rows of which 12 can be met: motions of the two boxes
    rng = np.random.default_rng(1)
    W = np.array([p.velocities(e) - p.q for e in np.eye(len(p.q))]).T
    can = W @ rng.normal(size=len(p.q))
    assert np.linalg.matrix_rank(W, 1e-9) == 12
    assert avoidable_residual(p, can).max() == pytest.approx(
        np.linalg.norm(can.reshape(-1, 3), axis=1).max(), rel=1e-9
    )
    assert not avoidable_residual(p, np.zeros(len(p.q))).any()


def test_what_none_could_is_excused():
    p = welded_boxes()
    W = np.array([p.velocities(e) - p.q for e in np.eye(len(p.q))]).T
    scale = np.repeat([bond_check._scale(p, k) for k in range(len(p.kind))], 3)
    values, vectors = np.linalg.eigh(scale[:, None] * W * scale)
    none = vectors[:, values < 1e-9 * values.max()]
    assert none.shape[1] == 6
    left = none @ np.ones(6) / scale
    assert np.abs(left).max() > 0.1
    assert avoidable_residual(p, left).max() < 1e-9


def test_a_scale_is_that_of_the_two_bodies_alone():
    p = welded_boxes()
    # a box of 1 kg and a sixth of its side squared of inertia, held at its middle by the world
    moves, turns = (bond_check._scale(p, k) for k in (2, 3))
    assert moves == pytest.approx(1.0)
    assert turns == pytest.approx((0.2**2 / 6) ** 0.5)


def test_a_step_that_excuses_too_much_is_not_certified():
    sim = loose_chain()
    sim.apply_force("rod", force=(1.0, 0.0, 2.0), duration=0.02)
    sim.run(0.02)
    assert sim.data.bond_unmet.any()
    assert sim.certificate.converged
    unmet = sim._stepper.workspace.bonds.unmet
    # as if the step had not stopped what it could
    rows = np.flatnonzero(sim.data.problem.kind == BILATERAL)
    unmet[3 * rows[0]] += 1e-3
    assert not sim.certificate.converged
    assert sim.certificate.bond_residual > 1e-4
