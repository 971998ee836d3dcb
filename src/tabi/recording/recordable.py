"""What a recording needs of a simulator, and what a run depends on besides its scene."""

from __future__ import annotations

import platform
import sys
from typing import Any, Protocol

import numba
import numpy as np

from tabi.model.compiled import Model
from tabi.model.world import World


class Recordable(Protocol):
    """What can be recorded: a simulator.

    Attributes:
        world, model: what there is. dt [s], tolerance [m/s]: of its steps.
        data: state, command, memory and outcome, as ``tabi.step.data.Data`` has them.
    """

    world: World
    model: Model
    data: Any

    @property
    def dt(self) -> float:
        """The step [s]."""
        ...

    @property
    def tolerance(self) -> float:
        """Of every contact [m/s]."""
        ...

    @property
    def reproducible(self) -> bool:
        """Whether a rerun is the same."""
        ...

    @property
    def certificate(self) -> Any:
        """How well the last step's forces obey the law."""
        ...

    def every(self, steps: int, callback: Any, stopped: Any = None, jump: Any = None) -> Any:
        """Call a function after every so many steps."""
        ...


def versions() -> dict[str, Any]:
    """What a run depends on besides its scene."""
    # tabi is not imported: the package's own face stands above this layer
    found = {
        "tabi": sys.modules["tabi"].__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    return {"versions": found, "platform": platform.platform(), "processor": platform.machine()}
