"""Interface of a simulator for recordings, and what a run depends on besides its scene."""

from __future__ import annotations

import platform
import sys
from typing import Any, Protocol

import numba
import numpy as np

from tabi.model.compiled import Model
from tabi.model.world import World


class Recordable(Protocol):
    """Interface of a simulator that can be recorded.

    Attributes:
        world, model: what there is. dt [s], tolerance [m/s]: of its steps.
        data: state, command, memory and outcome, as ``tabi.step.data.Data`` has them.
    """

    world: World
    model: Model
    data: Any

    @property
    def dt(self) -> float:
        """Length of a step [s]."""
        ...

    @property
    def tolerance(self) -> float:
        """Tolerance of every contact [m/s]."""
        ...

    @property
    def reproducible(self) -> bool:
        """Whether a rerun is the same."""
        ...

    @property
    def certificate(self) -> Any:
        """Certificate of the last step's forces."""
        ...

    def every(self, steps: int, callback: Any, stopped: Any = None, jump: Any = None) -> Any:
        """Call a function after every so many steps."""
        ...


def versions() -> dict[str, Any]:
    """Return what a run depends on besides its scene."""
    # tabi is not imported: the package's own face stands above this layer
    packages = {
        "tabi": sys.modules["tabi"].__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    return {"versions": packages, "platform": platform.platform(), "processor": platform.machine()}
