"""What a simulator is told besides its world: the step, the tolerance, the scheme."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, real, unknown
from tabi.model.world import World
from tabi.step import laws
from tabi.step.parts import name_of
from tabi.step.tables import NO_PROGRAM

Array = NDArray[np.float64]

TIME_STEPPING, EVENT_DRIVEN = "time-stepping", "event-driven"
SCHEMES = (TIME_STEPPING, EVENT_DRIVEN)
ORDERS = (1, 2)
# longest step, and from where on one is said to be long [s]
LONGEST, LONG = 0.1, 0.01
# the loosest tolerance that says anything about forces [m/s]
LOOSEST = 0.01


class LongStepWarning(UserWarning):
    """A step so long that motion within it is seen coarsely."""


def checked_program(steps: Any, program: ArrayLike | None, freedoms: int) -> Array:
    """Commands of so many steps, shape (steps, freedoms, 3), or none; refused where they are not
    whole numbers and finite.
    """
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 0:
        raise ModelError(f"steps of a rollout are {steps!r}; expected a whole number ≥ 0")
    if program is None:
        return NO_PROGRAM
    try:
        told = np.ascontiguousarray(program, float)
    except (TypeError, ValueError):
        told = np.zeros(0)
    if not (told.shape == (steps, freedoms, 3) and np.isfinite(told).all()):
        raise ModelError(
            f"program has shape {told.shape}; "
            f"expected finite numbers of shape {(int(steps), freedoms, 3)}"
        )
    return told


def check(world: Any, dt: Any, tolerance: Any, scheme: Any) -> None:
    """Refuse what no simulator can be made of."""
    if not isinstance(world, World):
        raise ModelError(f"world is {world!r}; expected a tabi.World")
    for name, value, expected in (
        ("dt", dt, "number of seconds, 1e-3 is usual"),
        ("tolerance", tolerance, "velocity in m/s, 1e-8 is usual"),
    ):
        if not (isinstance(value, (int, float)) and np.isfinite(value) and value > 0):
            raise ModelError(f"{name} is {value!r}; expected a positive {expected}")
    if dt > LONGEST:
        raise ModelError(
            f"dt is {dt:g} s, in which things fall {0.5 * 9.81 * dt * dt:.2g} m unseen; expected "
            f"at most {LONGEST:g} s, 1e-3 is usual"
        )
    if dt > LONG:
        warnings.warn(
            f"dt is {dt:g} s, in which what moves with 1 m/s goes {1e3 * dt:g} mm between two "
            f"looks at contacts; 1e-3 s is usual",
            LongStepWarning,
            stacklevel=3,
        )
    if tolerance > LOOSEST:
        raise ModelError(
            f"tolerance is {tolerance:g} m/s, at which contacts may as well not be solved; "
            f"expected at most {LOOSEST:g} m/s, 1e-8 is usual"
        )
    if scheme not in SCHEMES:
        raise unknown("scheme", str(scheme), "tabi", SCHEMES)


def several(name: str, parts: Any) -> tuple[Any, ...]:
    """Parts of a step of a user's own."""
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        raise ModelError(f"{name} are {parts!r}; expected a list of parts of your own")
    return tuple(parts)


class OwnParts(TypedDict, total=False):
    """Forces and kinds of rows of a user's own."""

    forces: Iterable[Any]
    rows: Iterable[Any]


def own_parts(own: Mapping[str, Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Forces and rows of a user's own; other names are refused as Python does."""
    for name in own:
        if name not in OwnParts.__annotations__:
            raise TypeError(f"Simulator.__init__() got an unexpected keyword argument {name!r}")
    return several("forces", own.get("forces", ())), several("rows", own.get("rows", ()))


def check_single(ask: Any) -> None:
    """Refuse a number of steps, where one step is done."""
    if not isinstance(ask, (bool, np.bool_)):
        raise ModelError(
            f"sim.step advances by one step and was given {ask!r}; "
            "take sim.run(seconds), or a loop over sim.step()"
        )


def checked_duration(duration: Any) -> float:
    """Seconds of a run."""
    seconds = real("duration", duration)
    if not 0 <= seconds < np.inf:
        raise ModelError(f"duration is {duration}; expected a number of seconds ≥ 0")
    return seconds


def check_soft(scheme: str, law: Any) -> None:
    """Refuse soft soles in a scheme that divides steps."""
    if scheme != TIME_STEPPING and hasattr(law, "CONTACTS"):
        raise ModelError(
            f"scheme is {scheme!r}, and this world has soft soles or pads, which press over "
            "milliseconds and have no moment of impact that could be found; "
            f"take scheme={TIME_STEPPING!r}"
        )


def checked_order(order: Any, scheme: str, law: Any, more: Iterable[Any]) -> int:
    """Refuse orders that there are not, and second order where some part of a step has none."""
    if isinstance(order, bool) or not isinstance(order, int) or order not in ORDERS:
        raise ModelError(f"order is {order!r}; expected 1, or 2 for steps of second order")
    if order == 1:
        return 1
    if scheme != TIME_STEPPING:
        raise ModelError(
            f"order=2 and scheme={scheme!r} are given, which begins parts of a step with impacts; "
            f"take scheme={TIME_STEPPING!r}, or order=1"
        )
    if hasattr(law, "CONTACTS") and law.CERTIFIED:
        raise ModelError(
            "order=2 is given, and this world has soft soles or pads, which are of first order; "
            "leave them out, or take order=1"
        )
    if law is not laws.coulomb:
        raise ModelError(
            f"order=2 and contact={name_of(law)!r} are given, a law of first order; "
            "take contact='coulomb', or order=1"
        )
    if any(more):
        raise ModelError(
            "order=2 is given with forces or rows of your own, which know the beginning of a step "
            "only; leave them out, or take order=1"
        )
    return 2


def check_linear(order: int, scheme: str, law: Any, margin: Any) -> None:
    """Refuse to linearise what jumps, or what has no slopes."""
    if order != 1:
        raise ModelError(
            "order is 2, whose steps cannot be linearised yet; "
            "make a simulator with order=1 for that"
        )
    if scheme != TIME_STEPPING:
        raise ModelError(
            f"scheme is {scheme!r}, whose impacts jump; make a simulator with "
            f"scheme={TIME_STEPPING!r} to linearise its step"
        )
    if hasattr(law, "CONTACTS"):
        raise ModelError(
            "this world has soft soles or pads, whose steps cannot be linearised yet; "
            "leave them out for that"
        )
    if not law.CERTIFIED:
        raise ModelError(
            f"contact={name_of(law)!r} has no slopes to linearise by; take contact='coulomb'"
        )
    if not (isinstance(margin, (int, float)) and 0 <= margin < np.inf):
        raise ModelError(f"margin is {margin!r}; expected a velocity in m/s ≥ 0, 1e-6 is usual")
