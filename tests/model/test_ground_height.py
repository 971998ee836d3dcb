"""Heights of ground, from geometry by hand."""

from math import cos, radians, tan

import numpy as np
import pytest

import tabi
from tabi.model.ground_height import ground_height
from tabi.spatial.transform import about


def test_the_highest_of_floor_and_boxes_counts():
    world = tabi.World()
    world.add_ground(height=0.1)
    world.add_fixed(tabi.Box((1, 1, 0.4)), (2, 0, 0.2))
    height = ground_height(world)
    assert height(0, 0) == pytest.approx(0.1)
    assert height(1.51, 0.49) == pytest.approx(0.4)
    assert height(1.49, 0) == height(2, 0.51) == pytest.approx(0.1)


def test_a_ramp_rises_by_its_tangent():
    world = tabi.World()
    X = about((0, 1, 0), -radians(5))
    world.add_fixed(tabi.Box((4, 2, 0.2)), (0, 0, 0), X.quaternion)
    height = ground_height(world)
    for x in (-1.0, 0.0, 0.7):
        assert height(x, 0.3) == pytest.approx(0.1 / cos(radians(5)) + x * tan(radians(5)))


def test_a_height_field_is_flat_between_its_three_nearest_points():
    rng = np.random.default_rng(3)
    heights = rng.uniform(0, 1, (4, 5))
    world = tabi.World()
    world.add_height_field(heights, (4.0, 3.0), position=(1, 2, 3))
    height = ground_height(world)
    for j in range(4):
        for i in range(5):
            assert height(1 - 2 + i, 2 - 1.5 + j) == pytest.approx(3 + heights[j, i])
    # the shared diagonal goes from the lowest x and y to the highest
    middle = 3 + 0.5 * (heights[1, 2] + heights[2, 3])
    assert height(1 - 2 + 2.5, 2 - 1.5 + 1.5) == pytest.approx(middle)
    below = 3 + heights[1, 2] / 3 + heights[1, 3] / 3 + heights[2, 3] / 3
    assert height(1 - 2 + 2 + 2 / 3, 2 - 1.5 + 1 + 1 / 3) == pytest.approx(below)
    assert height(9, 9) == world.ground_height


def test_round_things_are_no_ground():
    world = tabi.World()
    world.add_ground()
    world.add_fixed(tabi.Sphere(0.5), (0, 0, 0))
    assert ground_height(world)(0, 0) == 0.0
