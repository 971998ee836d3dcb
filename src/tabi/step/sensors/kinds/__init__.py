"""Kernels that measure each kind of sensors of ``tabi.model.sensor_kinds``.

Each module of this package has a table ``MEASURE`` of kernels by kind:

    measure(t, d, s, i, h)      true values of sensor i into d.memory.sensors.value, after a step
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabi import _registered
from tabi._errors import ModelError
from tabi.jit import kernel
from tabi.model.sensor_kinds import SENSOR_KINDS

__all__ = ["dispatch_by_kind", "measure", "registered"]


def registered(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return kernels by kind from the tables of modules; each kind with values has one."""
    kernels = _registered.by_name(
        "kernel of sensor kind",
        [(name, module, table[name]) for module, table in tables.items() for name in table],
    )
    needed = {name for name, kind in SENSOR_KINDS.items() if kind.parts}
    for name in sorted(needed - set(kernels)):
        raise ModelError(
            f"sensor kind {name!r} has no kernel that measures it; expected one in a table MEASURE "
            "of tabi.step.sensors.kinds"
        )
    for name in sorted(set(kernels) - needed):
        raise ModelError(
            f"a kernel measures {name!r}, which is no sensor kind; expected one of "
            f"{', '.join(sorted(needed))}"
        )
    return kernels


def dispatch_by_kind(kernels: Mapping[str, Any]) -> Any:
    """Return a kernel that calls the one for a sensor's kind."""
    numbers = {name: number for number, name in enumerate(SENSOR_KINDS)}
    return _dispatch([(numbers[name], kernel_of_kind) for name, kernel_of_kind in kernels.items()])


def _dispatch(kernels: list[tuple[int, Any]]) -> Any:
    number, measure_kind = kernels[0]
    rest = _dispatch(kernels[1:]) if len(kernels) > 1 else _measure_nothing

    @kernel(inline=True)
    def either(t, d, s, i, h):
        if t.sensors.row[i].kind == number:
            measure_kind(t, d, s, i, h)
        else:
            rest(t, d, s, i, h)

    return either


@kernel(inline=True)
def _measure_nothing(t, d, s, i, h):
    """Do nothing: a camera has no values."""


TABLES = {
    module.__name__: getattr(module, "MEASURE", {})
    for module in _registered.modules(__name__, __path__)
}
measure_by_kind = dispatch_by_kind(registered(TABLES))


@kernel(apart="none")
def measure(t, d, s, i, h):
    """Compute the true values of a sensor."""
    measure_by_kind(t, d, s, i, h)
