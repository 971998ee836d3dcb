"""Soles of many corners."""

from __future__ import annotations

import numpy as np
import pytest

from tabi.lab.validate.dense_soles import resole, sole
from tabi.robots import hrp2


def test_a_sole_is_convex_and_within_its_rectangle():
    for corners in (4, 7, 64):
        x, y = sole(corners, 0.24, 0.14).T
        assert len(x) == corners
        assert np.abs(x).max() <= 0.12 + 1e-12
        assert np.abs(y).max() <= 0.07 + 1e-12
        ux, uy = np.roll(x, -1) - x, np.roll(y, -1) - y
        assert (ux * np.roll(uy, -1) - uy * np.roll(ux, -1) > 0).all()


def test_new_soles_stay_within_the_old_ones_and_at_their_height():
    robot = hrp2()
    before = {name: foot.polygon.copy() for name, foot in robot.feet.items()}
    resole(robot, 16)
    assert set(robot.feet) == {"left", "right"}
    for name, foot in robot.feet.items():
        assert len(foot.polygon) == 16
        assert np.ptp(foot.polygon, axis=0) == pytest.approx(np.ptp(before[name], axis=0), rel=0.02)
        touching = [shape for shape in foot.body.shapes if shape.collides]
        assert len(touching) == 1
        # 105 mm below the ankle, as before
        assert touching[0].support((0, 0, -1)) == pytest.approx(0.105, abs=1e-9)
