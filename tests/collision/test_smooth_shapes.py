"""Smooth shapes by the laws of support functions, and a new kind of them is five files."""

import re
from pathlib import Path

import numpy as np
import pytest

from tabi.collision import smooth_shapes
from tabi.collision.arrays import ELLIPSOID
from tabi.model.shape import Ellipsoid, Smooth

SOURCES = Path(__file__).resolve().parents[2] / "src" / "tabi"


@pytest.mark.parametrize("seed", range(5))
def test_support_curvature_and_nearest_points_of_an_ellipsoid_agree(seed):
    rng = np.random.default_rng(seed)
    radii = tuple(rng.uniform(0.02, 0.3, 3))
    s = np.zeros(1, [("kind", np.int64), ("half", float, 3)]).view(np.recarray)[0]
    s["kind"], s["half"] = ELLIPSOID, radii
    d = rng.normal(size=3)
    d /= np.linalg.norm(d)
    p = np.array(smooth_shapes.support_on(s, tuple(d)))
    assert p == pytest.approx(Ellipsoid(radii).support_point(d), abs=1e-15)
    # it lies on the surface, and reaches as far as any point of it
    assert np.sum((p / radii) ** 2) == pytest.approx(1.0, abs=1e-13)
    assert p @ d == pytest.approx(Ellipsoid(radii).support(d), abs=1e-15)
    # a point above it along its normal has it as the nearest one
    n, gap = smooth_shapes.nearest_on(s, tuple(p + 0.01 * d))
    assert np.array(n) == pytest.approx(d, abs=1e-9)
    assert gap == pytest.approx(0.01, abs=1e-11)
    # how the support turns with the direction
    a = np.cross(d, [1.0, 0.0, 0.0])
    a /= np.linalg.norm(a)
    b = np.cross(d, a)
    aa, ab, bb = smooth_shapes.curvature_on(s, tuple(d), tuple(a), tuple(b))
    step = 1e-6
    moved = [np.array(smooth_shapes.support_on(s, tuple(d + step * t))) - p for t in (a, b)]
    found = [moved[0] @ a, moved[0] @ b, moved[1] @ b]
    assert np.array([aa, ab, bb]) == pytest.approx(np.array(found) / step, rel=1e-4, abs=1e-6)


def test_what_is_smooth_says_so():
    assert isinstance(Ellipsoid((0.1, 0.2, 0.3)), Smooth)


def test_a_new_smooth_shape_touches_five_files_at_most():
    naming = {
        path.relative_to(SOURCES).as_posix()
        for folder in ("collision", "dynamics", "model", "observation", "simulation", "step")
        for path in (SOURCES / folder).rglob("*.py")
        if re.search(r"\bELLIPSOID\b|\bEllipsoid\b", path.read_text(encoding="utf-8"))
    }
    # what it is, its row, its three functions, and the world's method that adds one
    assert naming == {
        "model/shape.py",
        "model/world.py",
        "collision/arrays.py",
        "collision/smooth_shapes.py",
    }
