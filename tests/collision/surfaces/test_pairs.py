"""Two surfaces that deform: the least gap is their distance, in both roles."""

import numpy as np
import pytest
from collision.soft import Soft, sheet
from collision.truth import between_segments, to_triangles

from tabi.collision.surfaces import pairs as surface_pairs


def distance(one, two):
    """Of two sets of triangles that do not cross."""
    best = min(to_triangles(q, two).min() for q in one.reshape(-1, 3))
    best = min(best, min(to_triangles(q, one).min() for q in two.reshape(-1, 3)))
    for k in range(3):
        for l in range(3):
            gaps = between_segments(
                one[:, None, k], one[:, None, (k + 1) % 3], two[:, l], two[:, (l + 1) % 3]
            )
            best = min(best, gaps.min())
    return best


@pytest.mark.slow
def test_apart_the_least_gap_is_the_distance_and_roles_may_be_swapped():
    rng = np.random.default_rng(4)
    for _ in range(20):
        nodes, triangles = sheet(5, 5)
        up = sheet(4, 4)
        scene = Soft(None, nodes, triangles, second=(up[0], up[1][:, ::-1]))
        scene.move()
        scene.at += rng.uniform(-5e-4, 5e-4, scene.at.shape)
        scene.at[25:] += (*rng.uniform(-0.01, 0.01, 2), -rng.uniform(1.1e-3, 2e-3))
        first, second = (
            scene.at[scene.f.triangle[row["triangle"] : row["triangle_end"]]] for row in scene.f.row
        )
        points, where = scene.touch(4e-3)
        np.testing.assert_allclose(points["gap"].min(), distance(first, second), atol=1e-9)
        assert len(set(points["feature"])) == len(points)
        np.testing.assert_allclose(np.linalg.norm(points["normal"], axis=1), 1.0, atol=1e-12)
        assert (points["normal"][:, 2] > 0).all()
        ends = {}
        for side in ("a", "b"):
            weights, own = where["weight_" + side], where["node_" + side]
            assert (weights >= 0).all()
            np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
            assert ((own >= 25) == (side == "b"))[weights > 0].all()
            ends[side] = np.einsum("ij,ijk->ik", weights, scene.at[own])
        np.testing.assert_allclose(
            ends["a"] - ends["b"], points["gap"][:, None] * points["normal"], atol=1e-10
        )
        np.testing.assert_allclose(points["position"], 0.5 * (ends["a"] + ends["b"]), atol=1e-10)
        back, _ = scene.touch(4e-3, swapped=True)
        np.testing.assert_allclose(np.sort(back["gap"]), np.sort(points["gap"]), atol=1e-15)
        np.testing.assert_allclose(
            np.sort(back["normal"][:, 2]), np.sort(-points["normal"][:, 2]), atol=1e-12
        )
    assert surface_pairs.between


def test_flat_sheets_pushed_into_each_other_are_as_deep_everywhere():
    nodes, triangles = sheet(5, 5)
    scene = Soft(None, nodes, triangles, second=(nodes, triangles[:, ::-1]))
    scene.move()
    scene.at[25:] += (0.0023, 0.0011, 1e-3)
    points, _ = scene.touch(1e-3)
    assert len(points) > 30
    np.testing.assert_allclose(points["gap"], -1e-3, atol=1e-12)
    np.testing.assert_allclose(points["normal"], np.tile((0, 0, 1.0), (len(points), 1)), atol=1e-12)
