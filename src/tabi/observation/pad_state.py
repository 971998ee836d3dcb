"""Soft soles and pads as one sees them: how they are deformed, and where they press.

    f = K (U + η U̇)     on the nodes;     pressure = f_n / share of the face                    (1)
in the pad's own frame, of a sole that of its foot before the sole was put under it: z up into the
leg. Sink and tilt are those of the plane that fits the displacements of all nodes that press, by
their forces.
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
        pad: what it is.
        displacement: of its nodes [m], shape (n, 3).
        force: on its nodes [N], shape (n, 3).
        energy: stored in it [J].
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
        """At each node [Pa], shape (n,)."""
        return self.force[:, 2] / self.areas

    @property
    def normal_force(self) -> float:
        """Sum over the nodes [N]."""
        return float(self.force[:, 2].sum())

    @property
    def centre_of_pressure(self) -> Array | None:
        """x and y [m]; None where nothing presses."""
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
        """How far it is pressed in under its centre of pressure [m]."""
        return float(self._plane[0])

    @property
    def tilt(self) -> Array:
        """How far that makes its body turn about x and y [rad], shape (2,)."""
        return pad_tracks.tilts(self._plane)

    def __repr__(self) -> str:
        return (
            f"PadState({self.name!r}, {self.normal_force:.1f} N, sink={1e3 * self.sink:.3f} mm, "
            f"highest pressure={1e-3 * self.pressure.max():.1f} kPa)"
        )


def states(data: Data) -> dict[str, PadState]:
    """Of all pads after the last step."""
    made = {}
    for one in data.model.pads:
        # from the frame of the moving body to that of the pad
        U = data.memory.sole[one.rows] @ one.placement.R
        moved = (U - data.outcome.sole_before[one.rows] @ one.placement.R) / data.dt
        force = pad_tracks.forces(one.pad, U, moved)
        made[one.name] = PadState(one.name, one.pad, U, force, _stored(one.pad, U))
    return made


def energy(data: Data, before: bool = False) -> float:
    """Stored in all pads after the last step, or before it [J]."""
    nodes = data.outcome.sole_before if before else data.memory.sole
    return sum(_stored(one.pad, nodes[one.rows] @ one.placement.R) for one in data.model.pads)


def _stored(pad: Pad, U: Array) -> float:
    return 0.5 * float(U.ravel() @ pad.stiffness @ U.ravel())
