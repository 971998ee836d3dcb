"""Kinds of sensors: what each measures. How it is measured: ``tabi.step.sensors.kinds``.

Each module of this package has a tuple ``KINDS`` of ``SensorKind``; these are known to robots,
scenes and recordings.
"""

from __future__ import annotations

from tabi import _registered
from tabi._errors import ModelError
from tabi.model.sensor_kinds.kind import SensorKind

__all__ = ["SENSOR_KINDS", "SensorKind", "registered"]


def registered(kinds_of_modules: dict[str, tuple[SensorKind, ...]]) -> dict[str, SensorKind]:
    """Kinds by name, of modules; a part without a unit's name or width is refused."""
    for module, kinds in kinds_of_modules.items():
        for kind in kinds:
            if any(width < 1 for width in kind.parts.values()):
                raise ModelError(f"sensor kind {kind.name!r} in {module} has a part without values")
            if unknown := set(kind.units) - set(kind.parts):
                raise ModelError(
                    f"sensor kind {kind.name!r} in {module} gives a unit of {sorted(unknown)[0]!r},"
                    f" which it does not measure; it has {', '.join(kind.parts) or 'no parts'}"
                )
    return _registered.by_name(
        "sensor kind",
        [
            (kind.name, module, kind)
            for module in kinds_of_modules
            for kind in kinds_of_modules[module]
        ],
    )


def _kinds_of(module: object) -> tuple[SensorKind, ...]:
    kinds = getattr(module, "KINDS", None)
    if not isinstance(kinds, tuple):
        raise ModelError(
            f"module {getattr(module, '__name__', module)} has no KINDS; "
            "expected a tuple of SensorKind"
        )
    return kinds


SENSOR_KINDS = registered(
    {
        module.__name__: _kinds_of(module)
        for module in _registered.modules(__name__, __path__, f"{__name__}.kind")
    }
)
