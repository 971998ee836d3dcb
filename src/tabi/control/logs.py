"""Log of a controller's measurements and commands, to save and to replay without a simulator.

A controller is a function of time and measurements, so a new one that gets the measurements of a
log returns the same commands, to the last bit; otherwise it was changed, or reads other inputs.

A file is NumPy's ``.npz``: ``time``, ``position``, ``velocity``, ``effort``, ``sensors/<name>``,
``truth/…`` where ground truth was measured, and ``command/<field>/…`` for each field of the
commands.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.model.controllers import controller as controllers
from tabi.model.controllers.controller import Controller, checked
from tabi.model.controllers.signals import FIELDS, Command, ControlLaw, Measurement, Truth
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist

Array = NDArray[np.float64]
MEASURED = ("position", "velocity", "effort")
COMMANDED = (*FIELDS, "over")
# form of a field in a command
NOTHING, NUMBER, ARRAY, NAMES = range(4)


@dataclass(eq=False)
class ControlLog:
    """Measurements and commands of a controller in each call; iteration returns (time,
    measurement).

    Attributes:
        times: [s]. measurements: its inputs. commands: its outputs.

    Example: ``logged.log`` in docs/controllers.md
    """

    times: list[float] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[tuple[float, Measurement]]:
        return iter(list(zip(self.times, self.measurements, strict=True)))

    def first_difference(self, commands: Iterable[Command]) -> str:
        """Return the first difference of other commands from these in any bit, as a sentence; "" if
        there is none.
        """
        other_commands = list(commands)
        for time, mine, other in zip(self.times, self.commands, other_commands, strict=False):
            for name in COMMANDED:
                if _coded(getattr(mine, name)) != _coded(getattr(other, name)):
                    a, b = getattr(mine, name), getattr(other, name)
                    return f"{name} at {time:g} s was {a!r} and is {b!r}"
        if len(other_commands) != len(self.commands):
            return f"there were {len(self.commands)} commands and are {len(other_commands)}"
        return ""

    def save(self, path: str | Path) -> None:
        """Write the log to an ``.npz`` file."""
        if not self.times:
            raise ModelError("the log is empty; run its controller before saving it")
        arrays: dict[str, Any] = {"time": np.array(self.times)}
        for name in MEASURED:
            arrays[name] = np.array([getattr(m, name) for m in self.measurements])
        for name in self.measurements[0].sensors:
            arrays[f"sensors/{name}"] = np.array([m.sensors[name] for m in self.measurements])
        if self.measurements[0].truth:
            truths = [m.truth for m in self.measurements if isinstance(m.truth, Truth)]
            arrays |= _truth_arrays(truths)
        for name in COMMANDED:
            arrays |= _command_arrays(name, [getattr(c, name) for c in self.commands])
        np.savez_compressed(_file(path), **arrays)


class Logged(Controller):
    """A controller that logs its measurements and commands: ``sim.set_controller(robot,
    Logged(mine))``.

    Attributes:
        log: since the start, or the last reset.

    Examples:
        >>> logged = tabi.control.Logged(tabi.control.hold(robot.half_sitting))
        >>> sim.set_controller(robot, logged)
        >>> sim.run(0.005)
        >>> len(logged.log)
        5
    """

    def __init__(self, controller: ControlLaw) -> None:
        self.controller, self.log = checked(controller, "what is logged"), ControlLog()

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Return the command of the controller, and log it."""
        command = self.controller(time, measurement)
        self.log.times.append(time)
        self.log.measurements.append(measurement)
        self.log.commands.append(command)
        return command

    @property
    def inner(self) -> tuple[ControlLaw, ...]:
        """The controller that is logged."""
        return (self.controller,)

    def save_state(self) -> tuple[int, Any]:
        """Return the length of the log, and the state of the controller, if it has one."""
        return len(self.log), controllers.save_state(self.controller)

    def restore_state(self, state: tuple[int, Any]) -> None:
        """Restore a saved state; later entries are removed from the log."""
        count, controller_state = state
        for entries in (self.log.times, self.log.measurements, self.log.commands):
            del entries[count:]
        controllers.restore_state(self.controller, controller_state)

    def reset(self) -> None:
        """Begin a new log, and reset the controller."""
        self.log = ControlLog()
        super().reset()


def replay(
    controller: ControlLaw, log: Iterable[tuple[float, Measurement]] | str | Path
) -> ControlLog:
    """Call a controller for each entry of a log, in order, without a simulator.

    Args:
        controller: reset first, if it has a ``reset``.
        log: a ``ControlLog``, any sequence of (time [s], Measurement), or a file of ``save``.

    Returns:
        a log of the same measurements with the commands of the controller.

    Example: docs/controllers.md
    """
    if isinstance(log, (str, Path)):
        log = read_log(log)
    logged = Logged(controller)
    logged.reset()
    for k, entry in enumerate(log):
        try:
            time, measurement = entry
        except (TypeError, ValueError):
            raise ModelError(
                f"entry {k} of the log is {type(entry).__name__}; expected (time, Measurement)"
            ) from None
        logged(time, measurement)
    return logged.log


def read_log(path: str | Path) -> ControlLog:
    """Read a log from a file of ``ControlLog.save``.

    Example: ``logged.log.save`` in docs/controllers.md
    """
    file = Path(path)
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except FileNotFoundError:
        raise ModelError(
            "no such file; expected a log, as ControlLog.save writes it", file
        ) from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        raise ModelError("is no log; expected an .npz file of ControlLog.save", file) from None
    needed = ["time", *MEASURED, *(f"command/{name}/kind" for name in COMMANDED)]
    missing = [name for name in needed if name not in arrays]
    if missing:
        raise ModelError(
            f"has no array {missing[0]!r}, so it is no log; expected one of ControlLog.save", file
        )
    count = len(arrays["time"])
    sensors = {
        name.removeprefix("sensors/"): values
        for name, values in arrays.items()
        if name.startswith("sensors/")
    }
    truths = _truths(arrays, count)
    measurements = [
        Measurement(
            arrays["position"][k],
            arrays["velocity"][k],
            arrays["effort"][k],
            {name: values[k] for name, values in sensors.items()},
            truths[k],
        )
        for k in range(count)
    ]
    fields = [_commanded(arrays, name) for name in COMMANDED]
    commands = [Command(*values) for values in zip(*fields, strict=True)]
    return ControlLog(arrays["time"].tolist(), measurements, commands)


def _file(path: str | Path) -> Path:
    file = Path(path)
    if file.suffix != ".npz":
        raise ModelError(f"a log is saved as {file.name!r}; expected a name that ends in .npz")
    return file


def _coded(value: Any) -> tuple[int, bytes, tuple[str, ...]]:
    """Return the form of a field, its numbers, and the names that they belong to."""
    if value is None:
        return NOTHING, b"", ()
    if isinstance(value, Mapping):
        return NAMES, np.array(list(value.values()), float).tobytes(), tuple(value)
    numbers = np.asarray(value, float)
    return (ARRAY if numbers.ndim else NUMBER), numbers.tobytes(), ()


def _command_arrays(name: str, values: list[Any]) -> dict[str, Any]:
    """Return the arrays of one field: its form in each command, all numbers in a row, and names."""
    coded = [_coded(value) for value in values]
    lists = list(dict.fromkeys(names for _, _, names in coded))
    return {
        f"command/{name}/kind": np.array([kind for kind, _, _ in coded], np.int8),
        f"command/{name}/count": np.array([len(data) // 8 for _, data, _ in coded], np.int64),
        f"command/{name}/values": np.frombuffer(b"".join(data for _, data, _ in coded)),
        f"command/{name}/joints": np.array([lists.index(names) for _, _, names in coded]),
        f"command/{name}/names": np.array(json.dumps(lists)),
    }


def _commanded(arrays: Mapping[str, Any], name: str) -> list[Any]:
    kinds, counts, values, joints, names = (
        arrays[f"command/{name}/{part}"] for part in ("kind", "count", "values", "joints", "names")
    )
    lists, ends = json.loads(str(names)), np.cumsum(counts)
    commands: list[Any] = []
    for kind, count, end, which in zip(kinds, counts, ends, joints, strict=True):
        numbers = values[end - count : end]
        if kind == NAMES:
            commands.append(dict(zip(lists[which], numbers.tolist(), strict=True)))
        elif kind == NUMBER:
            commands.append(float(numbers[0]))
        else:
            commands.append(numbers if kind == ARRAY else None)
    return commands


def _truth_arrays(truths: list[Truth]) -> dict[str, Any]:
    arrays = {
        "truth/rotation": np.array([t.base.R for t in truths]),
        "truth/position": np.array([t.base.p for t in truths]),
        "truth/linear": np.array([t.base_velocity.linear for t in truths]),
        "truth/angular": np.array([t.base_velocity.angular for t in truths]),
    }
    for name in truths[0].forces:
        arrays[f"truth/forces/{name}"] = np.array([t.forces[name] for t in truths])
    return arrays


def _truths(arrays: Mapping[str, Any], count: int) -> list[Truth | None]:
    if "truth/rotation" not in arrays:
        return [None] * count
    head = "truth/forces/"
    forces = {n.removeprefix(head): x for n, x in arrays.items() if n.startswith(head)}
    R, p, v, w = (arrays[f"truth/{x}"] for x in ("rotation", "position", "linear", "angular"))
    return [
        Truth(Transform(R[k], p[k]), Twist(v[k], w[k]), {n: x[k] for n, x in forces.items()})
        for k in range(count)
    ]
