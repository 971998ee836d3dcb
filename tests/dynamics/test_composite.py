"""Composite rigid bodies: sums over what hangs on a body, and the momentum of a frozen subtree."""

import numpy as np
from worlds import random_robot, random_state

from tabi.dynamics import composite, kinematics, workspace

# sums of twelve bodies of about a kilogram and a metre
ROUNDING = 1e-12


def gathered(seed):
    model = random_robot(seed).compile()
    q, _ = random_state(model, np.random.default_rng(seed))
    w = workspace.allocate(model)
    kinematics.positions(model.arrays, q, w)
    composite.gather(model.arrays, w, 1, model.body_count + 1)
    assert model.body_count > 1
    return model, w


def carried(model, body):
    """Bodies that hang on one, itself among them."""
    found = [body]
    for i in range(body + 1, model.body_count + 1):
        if model.arrays.body["parent"][i] in found:
            found.append(i)
    return found


def test_mass_first_moment_and_tensor_are_sums_over_the_subtree():
    model, w = gathered(3)
    for body in range(1, model.body_count + 1):
        own, mass = carried(model, body), model.arrays.body["mass"]
        c = w.body["centre"][own]
        assert np.isclose(w.body["inertia"][body, 0], mass[own].sum(), atol=ROUNDING)
        assert np.allclose(w.body["inertia"][body, 1:4], mass[own] @ c, atol=ROUNDING)
        tensor = np.zeros((3, 3))
        for i, at in zip(own, c, strict=True):
            own_tensor = np.zeros((3, 3))
            own_tensor[np.triu_indices(3)] = w.body["tensor"][i]
            own_tensor += np.triu(own_tensor, 1).T
            tensor += own_tensor + mass[i] * (at @ at * np.eye(3) - np.outer(at, at))
        assert np.allclose(w.body["inertia"][body, 4:10], tensor[np.triu_indices(3)], atol=ROUNDING)


def test_the_momentum_of_a_frozen_subtree_is_that_of_its_bodies():
    model, w = gathered(4)
    for body in range(1, model.body_count + 1):
        for k in range(*model.arrays.body[["v_start", "v_end"]][body].tolist()):
            F, S = composite.momentum(w, body, k), w.dof["motion"][k]
            P, L = np.zeros(3), np.zeros(3)
            for i in carried(model, body):
                c, J = w.body["centre"][i], np.zeros((3, 3))
                J[np.triu_indices(3)] = w.body["tensor"][i]
                J += np.triu(J, 1).T
                p = model.arrays.body["mass"][i] * (S[3:] + np.cross(S[:3], c))
                P, L = P + p, L + np.cross(c, p) + J @ S[:3]
            assert np.allclose(F, [*L, *P], atol=ROUNDING)


def test_a_part_of_the_world_is_gathered_alone():
    model, w = gathered(5)
    whole = w.body["inertia"][:, :10].copy()
    w.body["inertia"] = np.nan
    composite.gather(model.arrays, w, 1, model.body_count + 1)
    assert np.array_equal(w.body["inertia"][1:, :10], whole[1:])
    assert np.isnan(w.body["inertia"][1:, 10:]).all()


def test_masses_alone_are_those_that_are_gathered():
    model, w = gathered(6)
    whole = w.body["inertia"][:, :4].copy()
    w.body["inertia"] = np.nan
    total = composite.masses(model.arrays, w, 1, model.body_count + 1)
    assert np.allclose(w.body["inertia"][1:, :4], whole[1:], atol=ROUNDING)
    assert np.isclose(total, model.mass)
