"""What inverse kinematics found: a configuration, how near it is, and why it is not nearer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabi.model.compiled import Model

Array = NDArray[np.float64]


@dataclass(eq=False)
class JointSolution:
    """A configuration that tasks are as near to their targets in as they can be.

    Attributes:
        q: the configuration, shape (q_count,).
        reached: whether every task is at its target within the tolerance; postures need not be.
        converged: whether it is the answer: reached, or as near as each priority can come from
            here; else the steps were used up.
        iterations: steps of all starts. starts: how many there were.
        model: what q belongs to.
    """

    q: Array
    reached: bool
    converged: bool
    iterations: int
    starts: int
    model: Model
    _sizes: Array = field(repr=False)
    _name: Callable[[Array], dict[str, dict[str, float]]] = field(repr=False)
    _explain: Callable[[Array], str] = field(repr=False)
    _reason: str | None = field(default=None, repr=False)

    @property
    def positions(self) -> dict[str, float]:
        """Of the joints with one degree of freedom, by name [rad or m]: for a Command."""
        model = self.model
        return {
            name: float(self.q[model.q_index(name)])
            for name in model.joint_names
            if model.joint_kind(name) in ("revolute", "continuous", "prismatic")
        }

    @property
    def errors(self) -> Mapping[str, Mapping[str, float]]:
        """What each task is off, by its name: "position" [m] and "orientation" [rad] of a pose,
        "position" of a centre of mass, "angle" [rad] of a gaze, "joints" of a posture.
        """
        return self._name(self._sizes)

    @property
    def reason(self) -> str:
        """Why tasks are not at their targets, a sentence for each; empty where all are."""
        if self._reason is None:
            self._reason = "" if self.reached else self._explain(self.q)
        return self._reason
