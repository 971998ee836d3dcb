"""Layers of a sole: what they are made of, and what they cannot be made of."""

import math

import pytest

from tabi import ModelError
from tabi.soles import materials
from tabi.soles.materials import Layer

GOOD = {"thickness": 0.01, "young_modulus": 1e6, "poisson_ratio": 0.3, "density": 1000.0}


def test_moduli_are_those_of_isotropic_elasticity():
    layer = Layer(**GOOD)
    E, nu = 1e6, 0.3
    lam = E * nu / ((1 + nu) * (1 - 2 * nu))
    assert layer.shear_modulus == pytest.approx(E / 2.6, rel=1e-14)
    assert layer.bulk_modulus == pytest.approx(lam + 2 / 3 * layer.shear_modulus, rel=1e-14)
    confined = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu))
    assert layer.confined_modulus == pytest.approx(confined, rel=1e-14)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"young_modulus": 0.0}, "young modulus of a layer is 0 Pa"),
        ({"young_modulus": -1.0}, "expected more than zero"),
        ({"poisson_ratio": 0.5}, "poisson ratio of a layer is 0.5"),
        ({"poisson_ratio": -1.0}, "more than -1"),
        ({"thickness": 0.0}, "thickness of a layer is 0 m"),
        ({"density": -2.0}, "density of a layer"),
        ({"viscosity": -1e-3}, "viscosity of a layer"),
        ({"poisson_ratio": math.nan}, "expected a finite number"),
        ({"young_modulus": math.inf}, "expected a finite number"),
        ({"young_modulus": "soft"}, "expected a number"),
    ],
)
def test_a_layer_that_cannot_be_is_refused_by_name(change, words):
    with pytest.raises(ModelError, match=words):
        Layer(**(GOOD | change))


def test_a_sole_has_layers():
    layer = Layer(**GOOD)
    assert materials.checked(layer) == (layer,)
    assert materials.checked([layer, layer]) == (layer, layer)
    with pytest.raises(ModelError, match="no layer"):
        materials.checked([])
    with pytest.raises(ModelError, match=r"expected a tabi\.soles\.Layer"):
        materials.checked([0.02])
