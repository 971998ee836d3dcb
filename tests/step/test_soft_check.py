"""Soft pads recomputed by plain matrices: a wrong node or a wrong compliance is seen."""

import numpy as np
from simulation.soft import block

import tabi
from tabi.step import soft_check


def settled():
    world, _ = block(viscosity=0.003, poisson_ratio=0.4, above=0.005)
    sim = tabi.Simulator(world)
    sim.run(0.08)
    return sim


def test_the_step_and_plain_matrices_agree():
    sim = settled()
    assert len(sim.contacts) > 10
    found = sim.certificate
    assert found.residual <= 1e-8
    assert found.sole_residual < 1e-12
    p = sim.problem()
    C = p.compliance.toarray()
    assert np.abs(C - C.T).max() < 1e-12 * np.abs(C).max()
    assert np.linalg.eigvalsh(C).min() > 0


def test_a_node_that_is_elsewhere_and_another_material_are_seen():
    sim = settled()
    nodes = sim._stepper.data.memory.sole
    nodes[3, 0] += 1e-6
    # of a micrometre, in millimetres
    assert abs(sim.certificate.sole_residual - 1e-3) < 1e-9
    nodes[3, 0] -= 1e-6
    sim._stepper.workspace.law.solver.pads.compliance[:] *= 1.01
    sim.step()
    found = sim.certificate
    assert found.residual > 1e-6
    assert found.sole_residual > 1e-6


def test_relaxation_of_free_nodes_is_that_of_viscosity():
    sim = settled()
    A = soft_check.relaxation(sim.model, sim.dt)
    assert np.allclose(A.diagonal(), 1.0 / (1e-3 + 3e-3))


def test_contacts_that_are_still_open_belong_to_their_nodes_too():
    world, _ = block(above=5e-4)
    sim = tabi.Simulator(world)
    sim.step()
    assert sim.data.outcome.report[0]["points"] > 10
    assert sim.certificate.sole_residual < 1e-9
