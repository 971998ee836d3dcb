"""Natural motions of soles against waves through a layer."""

import numpy as np
import pytest
from soles.shapes import RECTANGLE

from tabi import ModelError
from tabi.soles.materials import Layer
from tabi.soles.sole import make_sole


@pytest.fixture(scope="module")
def sole():
    layer = Layer(0.03, 1e6, 0.0, density=900.0, viscosity=2e-4)
    return make_sole([(0, 0), (0.02, 0), (0.02, 0.02), (0, 0.02)], layer, 0.01, through=8)


def test_a_pad_that_does_not_widen_rings_as_a_rod(sole):
    # fixed at one end: f = √(E/ρ) / 4t, and 8/π² of its mass takes part
    rod = np.sqrt(1e6 / 900.0) / (4 * 0.03)
    along = max(sole.modes(8), key=lambda mode: mode.share[2])
    # eight linear elements: (π/2/8)²/24 too fast
    assert along.frequency == pytest.approx(rod, rel=2.5e-3)
    assert along.share[2] == pytest.approx(8 / np.pi**2, rel=5e-3)
    assert along.damping_ratio == pytest.approx(2e-4 * np.pi * along.frequency, rel=1e-9)


def test_modes_come_slowest_first_and_hold_the_glued_face(sole):
    found = sole.modes(6)
    rates = [mode.frequency for mode in found]
    assert rates == sorted(rates)
    for mode in found:
        assert np.abs(mode.shape[sole.mesh.glued]).max() == 0.0
        assert np.linalg.norm(mode.shape, axis=1).max() == pytest.approx(1.0)


def test_a_wide_rubber_sole_first_shears():
    layer = Layer(0.01, 1e6, 0.49)
    sole = make_sole(RECTANGLE, layer, 0.02, cache=False)
    first = sole.modes(1)[0]
    # a layer without ends shears at √(μ/ρ) / 4t; edges make it softer by a part of t / width
    assert first.frequency == pytest.approx(
        np.sqrt(layer.shear_modulus / layer.density) / (4 * 0.01), rel=0.05
    )
    assert first.share[:2].sum() > 0.5


def test_no_modes_and_too_many_are_refused(sole):
    for count in (0, 10_000):
        with pytest.raises(ModelError, match="modes are asked of a sole"):
            sole.modes(count)
