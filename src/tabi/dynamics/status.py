"""Statuses of kernels as errors that name the joint: kernels never raise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.model.compiled import Model

Array = NDArray[np.float64]


def check_status(model: Model, status: int) -> None:
    """Turn the status of a kernel into an error that names the joint."""
    if status:
        name = model.dof_name(status - 1)
        raise ModelError(
            f"joint {name!r} moves parts whose inertia about it is not positive; "
            f"give what hangs on it a mass and a tensor, or the joint an armature"
        )


def check_finite(model: Model, what: str, values: Array) -> Array:
    """The values, or an error where a state too large for its numbers has made them overflow."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ModelError(
            f"the {what} of joint {model.dof_name(int(bad[0]))!r} became {values[bad[0]]}: "
            f"the state has numbers too large to compute with"
        )
    return values
