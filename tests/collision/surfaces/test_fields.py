"""Surfaces on height fields: flat ones are half-spaces, peaks and ridges between nodes hold."""

import numpy as np
import pytest
from collision.soft import OnFixed, sheet
from collision.truth import between_segments, to_triangles

from tabi.collision.surfaces import fields as surface_fields
from tabi.model.shape import HeightField


def triangles_of(field):
    """Corners of all triangles of a field, shape (t, 3, 3)."""
    ny, nx = field.heights.shape
    x = np.linspace(-field.size[0] / 2, field.size[0] / 2, nx)
    y = np.linspace(-field.size[1] / 2, field.size[1] / 2, ny)

    def at(i, j):
        return x[i], y[j], field.heights[j, i]

    cells = [(i, j) for j in range(ny - 1) for i in range(nx - 1)]
    lower = [[at(i, j), at(i + 1, j), at(i + 1, j + 1)] for i, j in cells]
    upper = [[at(i, j), at(i + 1, j + 1), at(i, j + 1)] for i, j in cells]
    return np.array(lower + upper)


def least(field, corners):
    """Distance of two sets of triangles that do not cross, less than 1 cm."""
    ground = triangles_of(field)
    # what is 1 cm beside all corners is farther away
    low, high = corners.min(axis=(0, 1))[:2] - 0.01, corners.max(axis=(0, 1))[:2] + 0.01
    beside = (ground.max(axis=1)[:, :2] < low) | (ground.min(axis=1)[:, :2] > high)
    ground = ground[~beside.any(axis=1)]
    best = min(to_triangles(q, ground).min() for q in corners.reshape(-1, 3))
    best = min(best, min(to_triangles(q, corners).min() for q in ground.reshape(-1, 3)))
    for k in range(3):
        for l in range(3):
            gaps = between_segments(
                corners[:, None, k],
                corners[:, None, (k + 1) % 3],
                ground[:, l],
                ground[:, (l + 1) % 3],
            )
            best = min(best, gaps.min())
    return best


def check(scene, points, where, side="a"):
    """Assert what holds for any point."""
    assert np.isfinite(points["position"]).all()
    assert len(set(points["feature"])) == len(points)
    np.testing.assert_allclose(np.linalg.norm(points["normal"], axis=1), 1.0, atol=1e-12)
    weights = where["weight_" + side]
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    on = np.einsum("ij,ijk->ik", weights, scene.at[where["node_" + side]])
    sign = 0.5 if side == "a" else -0.5
    np.testing.assert_allclose(
        on, points["position"] + sign * points["gap"][:, None] * points["normal"], atol=1e-12
    )


@pytest.mark.parametrize("swapped", [False, True])
def test_a_flat_field_shows_every_node_once(swapped):
    scene = OnFixed(HeightField(np.zeros((9, 9)), (0.4, 0.4)), *sheet())
    scene.at[:, 2] = np.random.default_rng(1).uniform(-5e-4, 5e-4, len(scene.at))
    points, where = scene.touch(1e-3, swapped)
    side = "b" if swapped else "a"
    check(scene, points, where, side)
    assert sorted(where["node_" + side][:, 0]) == list(range(35))
    np.testing.assert_allclose(points["gap"], scene.at[where["node_" + side][:, 0], 2], atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [5, 12, 41])
def test_over_rough_ground_the_least_gap_is_the_distance(cells):
    rng = np.random.default_rng(cells)
    for _ in range(6):
        field = HeightField(rng.uniform(-2e-3, 2e-3, (cells, cells)), (0.2, 0.2))
        nodes, triangles = sheet()
        nodes = nodes + rng.uniform(-1e-3, 1e-3, nodes.shape)
        scene = OnFixed(field, nodes + np.array([0, 0, rng.uniform(3.1e-3, 5e-3)]), triangles)
        points, where = scene.touch(8e-3)
        check(scene, points, where)
        np.testing.assert_allclose(
            points["gap"].min(), least(field, scene.at[scene.f.triangle]), atol=1e-9
        )


def test_a_peak_and_a_ridge_between_nodes_hold_the_sheet():
    heights = np.zeros((21, 21))
    heights[10, 10] = 2e-3
    nodes, triangles = sheet()
    # the peak under the middle of a triangle, 0.1 mm deep
    middle = nodes[triangles[20]].mean(axis=0)
    scene = OnFixed(HeightField(heights, (0.04, 0.04)), nodes - middle + (0, 0, 1.9e-3), triangles)
    points, where = scene.touch(5e-4)
    check(scene, points, where)
    lowest = points["gap"].argmin()
    np.testing.assert_allclose(points["gap"][lowest], -1e-4, atol=1e-12)
    np.testing.assert_allclose(points["normal"][lowest], (0, 0, 1), atol=1e-12)
    assert where["node_a"][lowest].tolist() == triangles[20].tolist()
    # a ridge along x between two rows of nodes
    heights = np.tile(-0.2 * np.abs(np.linspace(-0.1, 0.1, 41))[:, None], (1, 41))
    scene = OnFixed(HeightField(heights, (0.2, 0.2)), nodes + np.array([0, 4e-3, -1e-4]), triangles)
    points, where = scene.touch(5e-4)
    check(scene, points, where)
    crossed = sum((scene.at[a, 1] < 0) != (scene.at[b, 1] < 0) for a, b in scene.f.edge)
    assert len(points) == crossed
    np.testing.assert_allclose(points["gap"], -1e-4, atol=1e-12)
    assert surface_fields.__doc__
