"""Link of a controller that is a kernel to a simulation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.jit.structure import Structure
from tabi.model.controllers.pilot import Channel, channel


class PilotLink(Structure):
    """Indices that connect the channel of a controller to a simulation.

    Attributes:
        rows, q_at: of the joints in v and q, −1 where there is no single position.
        encoder: indices of position and velocity among the values of sensors, −1 where the joint
            has no encoder, shape (n, 2). value: of the readings.
    """

    channel: Channel
    rows: NDArray[np.int64]
    q_at: NDArray[np.int64]
    encoder: NDArray[np.int64]
    value: NDArray[np.int64]


def no_link() -> PilotLink:
    """Return an empty link, as a type for kernels."""
    none = np.zeros(0, np.int64)
    return PilotLink(channel(0, 0), none, none, np.zeros((0, 2), np.int64), none)
