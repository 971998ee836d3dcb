"""Shapes of robots: bounds, capsules between two points, mirror images."""

import numpy as np
import pytest

from tabi.model.shape import Material
from tabi.robots import armour

WHITE, GREY = Material("white"), (0.5, 0.5, 0.5, 1.0)
RNG = np.random.default_rng(0)


def some_shapes():
    return [
        armour.box((0.1, 0.3), (-0.2, 0.4), (0.0, 0.5), WHITE, GREY),
        armour.ball(0.2, (0.1, 0.2, 0.3), WHITE, GREY),
        armour.cylinder("x", 0.1, 0.4, (0.1, 0.2, 0.3), WHITE, GREY),
        armour.capsule(0.05, (0.0, 0.1, 0.2), (0.3, -0.4, 0.5), WHITE, GREY),
        armour.plate(
            [(0.0, -0.1, 0.1, 0.0, 0.2, 0.02), (0.1, -0.2, 0.1, 0.0, 0.3, 0.02)], WHITE, GREY
        ),
    ]


def test_a_mirror_image_reaches_as_far_on_the_other_side():
    shapes = some_shapes()
    # a box, a ball, a cylinder, a capsule and a plate
    assert len(shapes) == 5
    for shape in shapes:
        image = armour.mirrored(shape)
        for d in RNG.normal(size=(50, 3)):
            assert image.support(d * [1, -1, 1]) == pytest.approx(shape.support(d), abs=1e-12)
        assert np.linalg.det(image.placement.R) == pytest.approx(1.0)


def test_a_box_fills_its_bounds():
    shape = some_shapes()[0]
    reach = [shape.support(d) for d in np.vstack([np.eye(3), -np.eye(3)])]
    assert reach == pytest.approx([0.3, 0.4, 0.5, -0.1, 0.2, 0.0])


def test_a_capsule_spans_its_two_ends():
    a, b, r = np.array([0.0, 0.1, 0.2]), np.array([0.3, -0.4, 0.5]), 0.05
    shape = some_shapes()[3]
    for d in RNG.normal(size=(50, 3)):
        assert shape.support(d) == pytest.approx(max(d @ a, d @ b) + r * np.linalg.norm(d))


def test_plates_are_seen_and_not_felt():
    plate = some_shapes()[4]
    assert plate.visible
    assert not plate.collides
    shape = armour.invisible(armour.ball(0.1, (0, 0, 0), WHITE, GREY))
    assert shape.collides
    assert not shape.visible
