"""States of a simulation: a copy to read, and a saved one that can be restored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import MissingAttributeError, ModelError, near
from tabi.simulation.pushes import Push
from tabi.step.tables import StepData

Array = NDArray[np.float64]


# how to set attributes that cannot be assigned
SETTERS = {
    "time": "sim.reset() starts again, and sim.restore(saved) restores what sim.save() returned",
    "dt": "make a simulator with another step, tabi.Simulator(world, dt=…)",
    "tolerance": "make another simulator, tabi.Simulator(world, tolerance=…)",
    "controller": "sim.set_controller(robot, controller)",
    "order": "make a simulator with another order, tabi.Simulator(world, order=2)",
    "gravity": "set world.gravity before the simulator is made",
    "contact": "make a simulator with another law, tabi.Simulator(world, contact=…)",
    "friction": "sim.model.set_pair(material, material, friction=…)",
}
STATE = (
    "set the whole state by sim.set_state(q, v), a joint or robot by sim.set_joint(thing, position)"
)


class ReadOnlyArray(np.ndarray[Any, Any]):
    """A read-only array of the state, with a helpful error; results of arithmetic are plain
    arrays.
    """

    def __setitem__(self, at: Any, value: Any) -> None:
        if not self.flags.writeable:
            raise ModelError(f"sim.q and sim.v are copies and cannot be written; {STATE}")
        super().__setitem__(at, value)

    def __array_wrap__(self, array: Any, context: Any = None, scalar: bool = False) -> Any:
        return array[()] if scalar else np.asarray(array)

    def __repr__(self) -> str:
        return repr(np.asarray(self))


def read_only(array: Array) -> Array:
    """Return a copy that cannot be written."""
    copy = array.copy().view(ReadOnlyArray)
    copy.flags.writeable = False
    return copy


def reject_assignment(owner: type, name: str) -> None:
    """Raise an error that names how to set an attribute of a simulator, as an assignment would have
    no effect. A method may be replaced, as tests do.
    """
    if callable(getattr(owner, name, None)):
        return
    fix = SETTERS.get(name)
    if name in ("q", "v", "state"):
        fix = STATE
    if fix is None:
        known = [attribute for attribute in dir(owner) if not attribute.startswith("_")]
        fix = near(name, [*known, *SETTERS])[2:] or "a simulator has no settings to assign"
    raise MissingAttributeError(f"sim.{name} cannot be assigned; {fix}")


@dataclass(frozen=True)
class State:
    """Configuration, velocity and time of a simulation."""

    q: Array
    v: Array
    time: float


@dataclass(frozen=True)
class Saved:
    """A saved state with all that the next step reads, for ``Simulator.restore``.

    Attributes:
        data: a copy of state, command, memory and outcome.
        steps: done until then. pushes: present and future ones. worst: errors of the run.
        names: links of the world.
        controllers: states of those with ``save_state``, by robot.
    """

    data: StepData
    steps: int
    pushes: tuple[Push, ...]
    worst: dict[str, float]
    names: tuple[str, ...]
    controllers: Mapping[str, Any]

    def check(self, names: Iterable[str], now: StepData) -> None:
        """Reject a state of another world, or of other parts of the step."""
        names = tuple(names)
        if self.names != names or self.data.q.shape != now.q.shape:
            raise ModelError(
                f"saved state is of a world of {', '.join(self.names[:6])}; "
                f"expected this one of {', '.join(names[:6])}"
            )
        kinds = [[array.dtype for array in data.memory.parts] for data in (self.data, now)]
        if kinds[0] != kinds[1]:
            raise ModelError(
                "saved state is of a simulator with other forces, rows or law; expected this one's"
            )
