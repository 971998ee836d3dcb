"""A class of one's own that says where a model is, can be asked all the rest."""

import numpy as np
import pytest
from worlds import random_robot, random_state

import tabi
from tabi.dynamics.quantities import Quantities


class Still(Quantities):
    """Where it was told to be."""

    def __init__(self, model, q, v):
        super().__init__(model)
        self._where = q, v

    def _arrays(self):
        return self._where

    def _link(self, thing):
        return self.model.link(self._name(thing))


def test_q_and_v_and_the_names_of_things_are_all_that_is_needed():
    model = random_robot(2).compile()
    q, v = random_state(model, np.random.default_rng(2))
    asked, same = Still(model, q, v), tabi.dynamics.Configuration(model, q, v)
    assert np.array_equal(asked.mass_matrix(), same.mass_matrix())
    assert np.array_equal(
        asked.jacobian("body3", (0.1, 0.2, 0.3)), same.jacobian("body3", (0.1, 0.2, 0.3))
    )
    assert np.allclose(asked.mass_matrix(), tabi.dynamics.mass_matrix(model, q), atol=1e-12)


def test_what_is_bolted_to_the_world_has_no_columns_that_move_it():
    robot = random_robot(0, base="fixed")
    model = robot.compile()
    asked = Still(model, model.initial(), np.zeros(model.v_count))
    assert not asked.jacobian("base").any()
    assert asked.jacobian("base").shape == (6, model.v_count)


def test_what_has_no_mass_has_no_centre_of_mass():
    world = tabi.World()
    world.add_sphere(0.1, 1.0)
    arm = tabi.Robot("arm")
    arm.add_body("post", tabi.Joint("post", "fixed"))
    world.add_robot(arm)
    model = world.compile()
    asked = Still(model, model.initial(), np.zeros(model.v_count))
    for ask in (asked.centre_of_mass, asked.momentum_matrix, asked.centre_of_mass_jacobian):
        with pytest.raises(tabi.ModelError, match="arm has no mass that moves"):
            ask("arm")
