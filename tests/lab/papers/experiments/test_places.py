"""Points, tilts and forces of experiments, by the laws of statics."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tabi import scenes
from tabi.lab.papers.experiments.places import between, feet_slip, point, tilt

BOX = """
title: a box of 2 kg that lies on a table, tilted by 30° with it
gravity_m_s2: [0, 0, -9.81]
fixed: [{name: table, shape: box, size_m: [1, 1, 0.1], rotation_deg: [30, 0, 0]}]
objects:
  - name: parcel
    shape: box
    size_m: [0.2, 0.2, 0.2]
    mass_kg: 2
    rotation_deg: [30, 0, 0]
    position_m: [0, -0.075, 0.12990381056766578]
"""


def test_a_box_at_rest_presses_with_its_weight_along_the_normal():
    sim = scenes.loads(BOX).simulator()
    sim.run(0.05)
    found = between(sim, ("parcel",), ("table",))
    # friction 0.8 > tan 30°: m g cos 30°
    assert found.force == pytest.approx(2 * 9.81 * math.cos(math.radians(30)), rel=1e-6)
    assert found.points == 4
    assert abs(found.gap) < 1e-6
    assert between(sim, ("table",), ("parcel",)) == found
    assert between(sim, ("parcel",), ("chair",)) == (0.0, math.inf, 0)
    assert tilt(sim, "parcel") == pytest.approx(30, abs=1e-6)
    # a middle of its lower face lies on the table's upper one, 0.05 m from the origin
    assert np.linalg.norm(point(sim, "parcel", (0, 0, -0.1))) == pytest.approx(0.05, abs=1e-6)


def test_slip_is_the_longest_way_along_the_ground_of_any_foot():
    toes = np.zeros((3, 2, 3))
    toes[1, 0] = (3e-3, 4e-3, 9.0)
    toes[2, 1] = (1e-3, 0.0, 0.0)
    assert feet_slip(toes) == pytest.approx(5e-3)
