"""The factors of the mass matrix and what they apply."""

import numpy as np
import pytest
from worlds import random_robot, random_state, relative

from tabi import dynamics
from tabi.dynamics import aba, forward, kinematics, workspace


@pytest.fixture
def factored():
    model = random_robot(7, 10).compile()
    q, _ = random_state(model, np.random.default_rng(1))
    work = workspace.allocate(model)
    kinematics.positions(model.arrays, q, work)
    work.dof["added"] = model.arrays.dof["armature"]
    assert aba.factor(model.arrays, work) == 0
    return model, q, work


def test_respond_applies_the_inverse_of_the_mass_matrix(factored):
    model, q, work = factored
    M, out = dynamics.mass_matrix(model, q), np.zeros(model.v_count)
    assert model.v_count > 0
    for unit in np.eye(model.v_count):
        aba.respond(model.arrays, unit.copy(), work, out)
        assert relative(M @ out, unit) < 1e-11


def test_pivots_multiply_to_the_determinant(factored):
    model, q, work = factored
    # the eliminations are an LDLᵀ of M in another order of rows
    assert -np.log(work.dof["pivot"]).sum() == pytest.approx(
        np.linalg.slogdet(dynamics.mass_matrix(model, q))[1], rel=1e-12
    )


def test_an_added_diagonal_is_added_to_the_mass_matrix(factored):
    model, q, work = factored
    D = np.random.default_rng(2).uniform(0.1, 1.0, model.v_count)
    work.dof["added"] = model.arrays.dof["armature"] + D
    aba.factor(model.arrays, work)
    tau, out = np.ones(model.v_count), np.zeros(model.v_count)
    aba.respond(model.arrays, tau, work, out)
    assert (
        relative((dynamics.mass_matrix(model, q) + np.diag(D)) @ out, np.ones(model.v_count))
        < 1e-11
    )


def test_a_joint_without_inertia_is_named_by_the_status():
    model = random_robot(8, 5, kinds=("revolute",), armature=False).compile()
    last = model.body_count
    model.arrays.body["mass"][last] = 0.0
    model.arrays.body["inertia"][last] = 0.0
    v = np.zeros(model.v_count)
    status = forward.forward_dynamics(
        model.arrays, model.neutral(), v, v.copy(), workspace.allocate(model), v.copy()
    )
    assert status == model.v_count
    with pytest.raises(
        dynamics.ModelError,
        match="joint 'joint4' moves parts whose inertia about it is not positive",
    ):
        dynamics.forward_dynamics(model, model.neutral(), v, v)


def test_nan_in_a_parameter_is_a_status_and_not_a_silent_number():
    model = random_robot(8, 5, kinds=("revolute",)).compile()
    model.arrays.body["mass"][2] = np.nan
    v = np.zeros(model.v_count)
    assert (
        forward.forward_dynamics(
            model.arrays, model.neutral(), v, v.copy(), workspace.allocate(model), v.copy()
        )
        > 0
    )
