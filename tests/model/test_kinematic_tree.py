"""Bodies on joints: where they are, and copies of them."""

import numpy as np
import pytest

from tabi import ModelError
from tabi.model.joint import Joint, Mimic
from tabi.model.kinematic_tree import KinematicTree
from tabi.spatial.inertia import solid_box
from tabi.spatial.transform import translation


def two_bars():
    """A bar of a metre that turns about y, and a second one at its lower end."""
    tree = KinematicTree("bars")
    bar = solid_box(1.0, (0.1, 0.1, 1.0)).transformed(translation((0.0, 0.0, -0.5)))
    tree.add_body("base", Joint("base", "fixed"))
    tree.add_body("upper", Joint("hip", "revolute", axis=(0.0, 1.0, 0.0)), "base", bar)
    knee = Joint("knee", "revolute", translation((0.0, 0.0, -1.0)), axis=(0.0, 1.0, 0.0))
    tree.add_body("lower", knee, "upper", bar)
    return tree


def test_a_pose_puts_the_bodies_where_trigonometry_says():
    tree = two_bars()
    X = tree.placements(tree.positions({"hip": 0.3, "knee": 0.4}))
    assert X[tree.body("lower")].p == pytest.approx([-np.sin(0.3), 0.0, -np.cos(0.3)], abs=1e-15)
    assert X[tree.body("lower")].R[:, 2] == pytest.approx(
        [np.sin(0.7), 0.0, np.cos(0.7)], abs=1e-15
    )
    # nothing was moved
    assert tree.placements()[tree.body("lower")].p == pytest.approx([0.0, 0.0, -1.0])


def test_a_follower_goes_with_its_leader():
    tree = two_bars()
    tree.joint("knee").mimic = Mimic("hip", -2.0, 0.1)
    assert tree.positions({"hip": 0.3})[tree.body("lower")] == pytest.approx([-0.5])


def test_a_copy_shares_nothing_and_one_without_a_body_is_refused():
    tree = two_bars()
    other = tree.copied()
    other.body("lower").inertia = solid_box(7.0, (1.0, 1.0, 1.0))
    assert (tree.mass, other.mass) == (2.0, 8.0)
    assert type(other) is KinematicTree
    with pytest.raises(ModelError, match="robot 'empty' has no body; expected at least its base"):
        KinematicTree("empty").copied()


def test_passive_joints_are_joints_but_not_of_those_that_controllers_know():
    tree = two_bars()
    tree.joint("knee").passive = True
    assert tree.joint_names == ["hip"]
    assert tree.joint("knee").name == "knee"
    # a pose may still put it somewhere
    assert tree.positions({"knee": 0.3})[tree.body("lower")] == pytest.approx([0.3])
