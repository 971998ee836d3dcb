"""Solution of inverse kinematics: a configuration, its errors, and their reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabi.model.compiled import Model

Array = NDArray[np.float64]


@dataclass(eq=False)
class JointSolution:
    """Configuration in which tasks are as near to their targets as possible.

    Attributes:
        q: the configuration, shape (q_count,).
        reached: whether every task is at its target within the tolerance; postures need not be.
        converged: whether the targets are reached, or as near as each priority allows from here;
            otherwise the step limit was reached.
        iterations: steps of all starts. starts: their number.
        model: model of q.
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
        """Positions of the joints with one degree of freedom, by name [rad or m]: for a Command."""
        model = self.model
        return {
            name: float(self.q[model.q_index(name)])
            for name in model.joint_names
            if model.joint_kind(name) in ("revolute", "continuous", "prismatic")
        }

    @property
    def errors(self) -> Mapping[str, Mapping[str, float]]:
        """Errors of each task, by its name: "position" [m] and "orientation" [rad] of a pose,
        "position" of a centre of mass, "angle" [rad] of a gaze, "joints" of a posture.
        """
        return self._name(self._sizes)

    @property
    def reason(self) -> str:
        """Reason why tasks are not at their targets, a sentence for each; empty if all are."""
        if self._reason is None:
            self._reason = "" if self.reached else self._explain(self.q)
        return self._reason
