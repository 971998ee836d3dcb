"""Joints that move nothing are found before anybody simulates them."""

import numpy as np
import pytest
from worlds import random_robot

from tabi import ModelError
from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.model.soundness import first_without_inertia
from tabi.spatial.inertia import Inertia, solid_box
from tabi.spatial.transform import translation


def chain(
    *inertias,
    kinds=("revolute", "revolute", "revolute"),
    axes=((0, 1, 0), (1, 0, 0), (0, 0, 1)),
    **joint,
):
    robot = Robot("chain")
    robot.add_body("base", Joint("base", "floating"), None, solid_box(5.0, (0.2, 0.2, 0.2)))
    for i, inertia in enumerate(inertias):
        made = Joint(
            f"j{i}", kinds[i], translation((0.1, 0.05, 0.2)), axes[i], line=10 + i, **joint
        )
        robot.add_body(f"link{i}", made, robot.bodies[-1], inertia)
    return robot


BODY = solid_box(1.0, (0.1, 0.1, 0.1))


def test_a_massless_link_inside_a_chain_is_fine():
    model = chain(Inertia(), Inertia(), BODY).compile()
    assert first_without_inertia(model.arrays) is None


@pytest.mark.parametrize(
    ("robot", "joint", "link"),
    [
        (lambda: chain(BODY, Inertia()), "j1", "link1"),
        (lambda: chain(Inertia()), "j0", "link0"),
        (lambda: chain(BODY, Inertia(), Inertia()), "j2", "link2"),
        (lambda: chain(BODY, Inertia(), kinds=("revolute", "prismatic")), "j1", "link1"),
        # a point mass on the axis of its own joint
        (lambda: chain(BODY, Inertia(1.0), axes=((0, 1, 0), (0, 0, 1))), "j1", "link1"),
        (lambda: chain(BODY, Inertia(0.0, np.zeros(3), -1e-9 * np.eye(3))), "j1", "link1"),
        (lambda: chain(BODY, Inertia(), kinds=("revolute", "spherical")), "j1", "link1"),
    ],
)
def test_a_joint_that_moves_nothing_is_refused_with_its_line(robot, joint, link):
    made = robot()
    made.file = "robot.urdf"
    with pytest.raises(ModelError) as caught:
        made.compile()
    words = str(caught.value)
    assert f"robot.urdf, line {10 + int(joint[1])}" in words
    assert f"joint {joint!r} of chain moves body {link!r}" in words
    assert "armature" in words


def test_an_armature_makes_a_massless_end_movable():
    assert chain(BODY, Inertia(), armature=0.01).compile().v_count == 8
    assert chain(BODY, Inertia(), motor=Motor(1e-5, 100.0)).compile().v_count == 8


def test_a_prescribed_joint_may_move_nothing_but_itself():
    robot = chain(BODY, BODY)
    robot.joint("j1").prescribed = True
    assert robot.compile().v_count == 8


@pytest.mark.parametrize("seed", range(10))
def test_sound_robots_pass(seed):
    assert first_without_inertia(random_robot(seed, armature=False).compile().arrays) is None
