"""Feet of a simulation: states, forces, and the support polygon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.model.body import Foot
from tabi.model.links import Sole
from tabi.model.robot import Robot
from tabi.observation import contacts, foot_state
from tabi.observation.foot_state import FootEvent, FootState
from tabi.observation.names import Names
from tabi.spatial.twist import Wrench
from tabi.step.data import Data

Array = NDArray[np.float64]


class FeetView(Mapping[str, FootState]):
    """States of feet after the last step: contact, wrench, pressure point and margins. The key is a
    name in ``model.feet``, or the foot of a robot itself.

    Examples:
        >>> sim.step()
        >>> print(sorted(sim.feet), sim.feet["left"].contact)
        ['left', 'right'] face
    """

    def __init__(self, data: Data, names: Names) -> None:
        self._data, self._names = data, names

    def __getitem__(self, foot: Foot | str) -> FootState:
        """Return the state of a foot: contact, wrench, pressure point and margins."""
        return foot_state.foot_state(self._data, self._names.sole(foot).name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._data.model.feet)

    def __len__(self) -> int:
        return len(self._data.model.feet)

    def __contains__(self, foot: object) -> bool:
        names = self._data.model.feet
        return foot in names if isinstance(foot, str) else self._names.knows(foot)

    def get(self, foot: Any, default: Any = None) -> Any:
        """Return the state of a foot, or the default where there is no such foot."""
        if foot not in self:
            return default
        return self[foot]

    def wrench(self, foot: Foot | str) -> Wrench:
        """Return force and torque of all contacts on a foot's body, or on any body, about its
        origin, in the world's axes [N, N·m].
        """
        link = self._names.link(foot)
        known = isinstance(link, Sole)
        return self._data.foot_wrench(link.name) if known else self._data.wrench(link)

    def centre_of_pressure(self, foot: Foot | str) -> Array | None:
        """Return the centre of pressure of a foot in its frame [m]; None without a load."""
        link = self._names.link(foot)
        if isinstance(link, Sole):
            return self._data.foot_pressure(link.name)
        return contacts.centre_of_pressure(self.wrench(foot), self._data.frame(link)[0])

    @property
    def events(self) -> tuple[FootEvent, ...]:
        """Changes of the feet's states since the start."""
        return foot_state.events(self._data)

    def support_polygon(self, robot: Robot | str) -> Array:
        """Return the support polygon of a robot's loaded feet, seen from above [m], shape (n, 2),
        anticlockwise; fewer than three points where they touch in an edge or a vertex.
        """
        feet = self._names.robot(robot).feet.values()
        return foot_state.support_polygon(self._data, [self._names.sole(foot) for foot in feet])
