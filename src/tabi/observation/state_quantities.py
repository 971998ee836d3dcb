"""Jacobians, masses, momenta and joint forces of a simulation at its present state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.dynamics.quantities import Quantities
from tabi.model.links import Link
from tabi.observation.names import Names
from tabi.step.data import Data

Array = NDArray[np.float64]


class StateQuantities(Quantities):
    """Quantities at the present state of a simulation: see ``Quantities``.

    Examples:
        >>> sim.quantities.jacobian("left_hand").shape == (6, sim.model.v_count)
        True
    """

    def __init__(self, data: Data, names: Names) -> None:
        super().__init__(data.model)
        self._data, self._names = data, names

    def _arrays(self) -> tuple[Array, Array]:
        return self._data.q, self._data.v

    def _link(self, thing: Any) -> Link:
        return self._names.link(thing)

    def _name(self, thing: Any) -> str:
        return self._names.name(thing)
