"""Poses and twists of the bodies, and arms of the frames on them."""

import numpy as np
import pytest
from worlds import random_robot, random_state

from tabi import ModelError, dynamics
from tabi.dynamics.frames import arm, bodies_at
from tabi.spatial.transform import translation


def test_an_arm_reaches_from_the_origin_of_the_tree_to_the_frame():
    model = random_robot(3).compile()
    q, _ = random_state(model, np.random.default_rng(3))
    work, offset, link = bodies_at(model, q), np.array((0.1, -0.2, 0.3)), model.link("body4")
    origin = work.body["origin"][model.arrays.body["root"][link.body]]
    X_WB = dynamics.pose(model, q, "body4")
    assert origin + arm(work, link.body, link.placement @ translation(offset)) == pytest.approx(
        X_WB @ offset, abs=1e-14
    )


def test_twists_are_there_where_a_velocity_is_given():
    model = random_robot(3).compile()
    q, v = random_state(model, np.random.default_rng(3))
    assert not bodies_at(model, q).body["velocity"].any()
    body = model.link("body4").body
    assert (
        bodies_at(model, q, v).body["velocity"][body, :3]
        == dynamics.velocity(model, q, v, "body4").angular
    ).all()
    with pytest.raises(ModelError, match="v has shape"):
        bodies_at(model, q, v[1:])
