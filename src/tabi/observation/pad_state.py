"""States of soft soles and pads: deformation and pressure.

    f = K (U + η U̇)     on the nodes;     pressure = f_n / share of the face                    (1)
in the pad's own frame, of a sole that of its foot before the sole was put under it: z up into the
leg. Sink and tilt are those of the plane that fits the displacements of all pressing nodes,
weighted by their forces.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tabi.model.pad import Pad
from tabi.recording import pad_tracks
from tabi.step.data import Data

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PadState:
    """A soft sole or pad after the last step; vectors in its own frame.

    Attributes:
        name: of its foot, or of its shape.
        pad: its parameters.
        displacement: of its nodes [m], shape (n, 3).
        force: on its nodes [N], shape (n, 3).
        energy: stored in it [J].

    Example: ``sim.pads`` in docs/soles.md
    """

    name: str
    pad: Pad
    displacement: Array
    force: Array
    energy: float

    @cached_property
    def areas(self) -> Array:
        """Share of each node in the face [m²], shape (n,)."""
        return pad_tracks.areas(self.pad.nodes, self.pad.triangles)

    @cached_property
    def pressure(self) -> Array:
        """Pressure at each node [Pa], shape (n,)."""
        return self.force[:, 2] / self.areas

    @property
    def normal_force(self) -> float:
        """Sum of the normal forces of the nodes [N]."""
        return float(self.force[:, 2].sum())

    @property
    def centre_of_pressure(self) -> Array | None:
        """Centre of pressure x and y [m]; None without a load."""
        load = self.force[:, 2]
        if not load.sum() > 0.0:
            return None
        return np.asarray(load @ self.pad.nodes[:, :2] / load.sum(), float)

    @cached_property
    def _plane(self) -> Array:
        """Height in the middle of the pressure [m], and slopes along x and y."""
        return pad_tracks.planes(self.pad.nodes, self.displacement, self.force)

    @property
    def sink(self) -> float:
        """Depth of the deformation under the centre of pressure [m]."""
        return float(self._plane[0])

    @property
    def tilt(self) -> Array:
        """Rotation of its body about x and y by the deformation [rad], shape (2,)."""
        return pad_tracks.tilts(self._plane)

    def __repr__(self) -> str:
        return (
            f"PadState({self.name!r}, {self.normal_force:.1f} N, sink={1e3 * self.sink:.3f} mm, "
            f"highest pressure={1e-3 * self.pressure.max():.1f} kPa)"
        )


def states(data: Data) -> dict[str, PadState]:
    """Return the states of all pads after the last step."""
    made = {}
    for placed_pad in data.model.pads:
        # from the frame of the moving body to that of the pad
        U = data.memory.sole[placed_pad.rows] @ placed_pad.placement.R
        velocity = (
            U - data.outcome.sole_before[placed_pad.rows] @ placed_pad.placement.R
        ) / data.dt
        force = pad_tracks.forces(placed_pad.pad, U, velocity)
        made[placed_pad.name] = PadState(
            placed_pad.name, placed_pad.pad, U, force, _stored(placed_pad.pad, U)
        )
    return made


def energy(data: Data, before: bool = False) -> float:
    """Return the energy stored in all pads after the last step, or before it [J]."""
    nodes = data.outcome.sole_before if before else data.memory.sole
    return sum(
        _stored(placed_pad.pad, nodes[placed_pad.rows] @ placed_pad.placement.R)
        for placed_pad in data.model.pads
    )


def _stored(pad: Pad, U: Array) -> float:
    return 0.5 * float(U.ravel() @ pad.stiffness @ U.ravel())
