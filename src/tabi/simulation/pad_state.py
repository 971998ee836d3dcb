"""Soft soles and pads as one sees them: how they are deformed, and where they press.

    f = K (U + η U̇)     on the nodes;     pressure = f_n / share of the face                    (1)
in the pad's own frame, of a sole that of its foot before the sole was put under it: z up into the
leg. Sink and tilt are those of the plane that fits the displacements of all nodes that press, by
their forces.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.model.compiled import Model
from tabi.model.pad import Pad
from tabi.simulation.data import Data

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
        x, t = self.pad.nodes, self.pad.triangles
        area = 0.5 * np.linalg.norm(
            np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]]), axis=1
        )
        share = np.zeros(len(x))
        for corner in t.T:
            np.add.at(share, corner, area / 3.0)
        return share

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
        load, middle = np.maximum(self.force[:, 2], 0.0), self.centre_of_pressure
        if middle is None:
            return np.zeros(3)
        x = np.column_stack([np.ones(len(load)), self.pad.nodes[:, :2] - middle])
        root = np.sqrt(load)[:, None]
        heights = root[:, 0] * self.displacement[:, 2]
        return np.linalg.lstsq(root * x, heights, rcond=1e-9)[0].astype(float)

    @property
    def sink(self) -> float:
        """How far it is pressed in under its centre of pressure [m]."""
        return float(self._plane[0])

    @property
    def tilt(self) -> Array:
        """How far that makes its body turn about x and y [rad], shape (2,)."""
        return np.array([-self._plane[2], self._plane[1]])

    def __repr__(self) -> str:
        return (
            f"PadState({self.name!r}, {self.normal_force:.1f} N, sink={1e3 * self.sink:.3f} mm, "
            f"highest pressure={1e-3 * self.pressure.max():.1f} kPa)"
        )


def names(model: Model) -> list[str]:
    """Of all pads, in the order of their nodes: of a foot's sole the foot's name."""
    by_body = {foot.body: name for name, foot in model.feet.items()}
    found: list[str] = []
    for shape in model.shapes:
        if isinstance(shape.geometry, Pad):
            sole = shape.name.startswith("sole of ") and shape.body in by_body
            name = by_body[shape.body] if sole else shape.name or f"pad of {shape.link}"
            count = sum(one.split(" #")[0] == name for one in found)
            found.append(f"{name} #{count + 1}" if count else name)
    return found


def states(data: Data) -> dict[str, PadState]:
    """Of all pads after the last step."""
    made, first = {}, 0
    pads: list[Any] = [s for s in data.model.shapes if isinstance(s.geometry, Pad)]
    for name, shape in zip(names(data.model), pads, strict=True):
        pad = shape.geometry
        rows = slice(first, first + len(pad.nodes))
        first = rows.stop
        # from the frame of the moving body to that of the pad
        U = data.memory.sole[rows] @ shape.placement.R
        moved = (U - data.outcome.sole_before[rows] @ shape.placement.R) / data.dt
        K = pad.stiffness
        elastic = K @ U.ravel()
        damped = pad.viscosity * K if pad.damping is None else pad.damping
        force = elastic + damped @ moved.ravel()
        made[name] = PadState(name, pad, U, force.reshape(-1, 3), 0.5 * float(U.ravel() @ elastic))
    return made


def energy(data: Data, before: bool = False) -> float:
    """Stored in all pads after the last step, or before it [J]."""
    total, first = 0.0, 0
    nodes = data.outcome.sole_before if before else data.memory.sole
    for shape in data.model.shapes:
        pad = shape.geometry
        if isinstance(pad, Pad):
            U = (nodes[first : first + len(pad.nodes)] @ shape.placement.R).ravel()
            total += 0.5 * float(U @ pad.stiffness @ U)
            first += len(pad.nodes)
    return total
