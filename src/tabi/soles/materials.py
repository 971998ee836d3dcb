"""Materials of a sole: layers of linear, isotropic material, from the foot down to the ground.

    σ = λ tr(ε + η ε̇) 1 + 2μ (ε + η ε̇)                                                          (1)
    μ = E / (2(1 + ν)),   κ = E / (3(1 − 2ν)),   λ = κ − 2μ/3                                   (2)

E Young's modulus [Pa], ν Poisson's ratio, η the damping time [s]: an elastic stress that lags
behind its strain as in Kelvin's and Voigt's solid. Rubber has ν from 0.48 to 0.4999, foam from 0
to 0.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import isfinite

from tabi._errors import ModelError, real

# of any material that robots stand on [m, Pa]
MAX_THICKNESS, MIN_MODULUS, MAX_MODULUS = 1.0, 1e3, 2e12


@dataclass(frozen=True)
class Layer:
    """One layer of a sole.

    Attributes:
        thickness: [m]. young_modulus: E [Pa]. poisson_ratio: ν, above −1 and below 0.5.
        density: [kg/m³]. viscosity: damping time η [s], see (1).

    Examples:
        >>> rubber = tabi.soles.Layer(0.02, 2e6, 0.45)
    """

    thickness: float
    young_modulus: float
    poisson_ratio: float
    density: float = 1100.0
    viscosity: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            name = field.name.replace("_", " ")
            value = real(f"{name} of a layer", getattr(self, field.name))
            if not isfinite(value):
                raise ModelError(f"{name} of a layer is {value}; expected a finite number")
            object.__setattr__(self, field.name, value)
        for name, unit in (("thickness", "m"), ("young_modulus", "Pa"), ("density", "kg/m³")):
            value = getattr(self, name)
            if value <= 0.0:
                words = name.replace("_", " ")
                raise ModelError(f"{words} of a layer is {value:g} {unit}; expected more than zero")
        if not -1.0 < self.poisson_ratio < 0.5:
            raise ModelError(
                f"poisson ratio of a layer is {self.poisson_ratio:g}; expected more than -1 and "
                "less than 0.5, for rubber 0.49 to 0.4999"
            )
        if self.viscosity < 0.0:
            raise ModelError(
                f"viscosity of a layer is {self.viscosity:g} s; expected a time of zero or more"
            )

    def check_units(self) -> None:
        """Refuse numbers that no sole has, and that are usual in other units."""
        if self.thickness > MAX_THICKNESS:
            raise ModelError(
                f"thickness of a layer is {self.thickness:g} m; expected at most "
                f"{MAX_THICKNESS:g} m: did you mean millimetres, {1e-3 * self.thickness:g} m?"
            )
        if self.young_modulus < MIN_MODULUS:
            raise ModelError(
                f"young modulus of a layer is {self.young_modulus:g} Pa, softer than any gel; "
                f"expected at least {MIN_MODULUS:g} Pa: did you mean MPa, "
                f"{1e6 * self.young_modulus:g} Pa?"
            )
        if self.young_modulus > MAX_MODULUS:
            raise ModelError(
                f"young modulus of a layer is {self.young_modulus:g} Pa, stiffer than diamond; "
                f"expected at most {MAX_MODULUS:g} Pa, for rubber 1e6 to 1e7"
            )

    @property
    def shear_modulus(self) -> float:
        """μ of (2) [Pa]."""
        return self.young_modulus / (2.0 * (1.0 + self.poisson_ratio))

    @property
    def bulk_modulus(self) -> float:
        """κ of (2) [Pa]."""
        return self.young_modulus / (3.0 * (1.0 - 2.0 * self.poisson_ratio))

    @property
    def confined_modulus(self) -> float:
        """κ + 4μ/3 [Pa]: stress over strain of a layer that cannot widen."""
        return self.bulk_modulus + 4.0 / 3.0 * self.shear_modulus


def checked(layers: Layer | Sequence[Layer]) -> tuple[Layer, ...]:
    """The layers of a sole, from the foot down; one layer may come alone.

    Raises:
        ModelError: without a layer, or with something else among them.
    """
    checked_layers = (layers,) if isinstance(layers, Layer) else tuple(layers)
    if not checked_layers:
        raise ModelError("a sole has no layer; expected one Layer or more, from the foot down")
    for layer in checked_layers:
        if not isinstance(layer, Layer):
            raise ModelError(f"a layer of a sole is {layer!r}; expected a tabi.soles.Layer")
    return checked_layers


def in_units(layers: Layer | Sequence[Layer]) -> tuple[Layer, ...]:
    """``checked``, and refused where a number looks like one in other units."""
    checked_layers = checked(layers)
    for layer in checked_layers:
        layer.check_units()
    return checked_layers
