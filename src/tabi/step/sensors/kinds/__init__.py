"""How each kind of sensors is measured, of those in ``tabi.model.sensor_kinds``.

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

__all__ = ["measure", "measured_by", "registered"]


def registered(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Kernels by kind, of the tables of modules; each kind with values has one."""
    kernels = _registered.by_name(
        "kernel of sensor kind",
        [(name, module, table[name]) for module, table in found.items() for name in table],
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


def measured_by(kernels: Mapping[str, Any]) -> Any:
    """One kernel: that of a sensor's kind."""
    numbers = {name: number for number, name in enumerate(SENSOR_KINDS)}
    return _either([(numbers[name], own) for name, own in kernels.items()])


def _either(kernels: list[tuple[int, Any]]) -> Any:
    number, own = kernels[0]
    rest = _either(kernels[1:]) if len(kernels) > 1 else _nothing

    @kernel(inline=True)
    def either(t, d, s, i, h):
        if t.sensors.row[i].kind == number:
            own(t, d, s, i, h)
        else:
            rest(t, d, s, i, h)

    return either


@kernel(inline=True)
def _nothing(t, d, s, i, h):
    """A camera has no values."""


TABLES = {
    module.__name__: getattr(module, "MEASURE", {})
    for module in _registered.modules(__name__, __path__)
}
chosen = measured_by(registered(TABLES))


@kernel(apart="none")
def measure(t, d, s, i, h):
    """The true values of a sensor."""
    chosen(t, d, s, i, h)
