"""Settings of a simulator besides its world: step, tolerance, scheme, order."""

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
# longest step, and the step from which on a warning is given [s]
MAX_STEP_S, LONG_STEP_S = 0.1, 0.01
# largest tolerance at which forces mean anything [m/s]
MAX_TOLERANCE = 0.01


class LongStepWarning(UserWarning):
    """Warning of a step so long that motion within it is resolved coarsely."""


def checked_program(steps: Any, program: ArrayLike | None, freedoms: int) -> Array:
    """Return commands of so many steps, shape (steps, freedoms, 3), or none; reject an invalid
    count, another shape, and values that are not finite.
    """
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 0:
        raise ModelError(f"steps of a rollout are {steps!r}; expected a whole number ≥ 0")
    if program is None:
        return NO_PROGRAM
    try:
        commands = np.ascontiguousarray(program, float)
    except (TypeError, ValueError):
        commands = np.zeros(0)
    if not (commands.shape == (steps, freedoms, 3) and np.isfinite(commands).all()):
        raise ModelError(
            f"program has shape {commands.shape}; "
            f"expected finite numbers of shape {(int(steps), freedoms, 3)}"
        )
    return commands


def check(world: Any, dt: Any, tolerance: Any, scheme: Any) -> None:
    """Reject invalid arguments of a simulator."""
    if not isinstance(world, World):
        raise ModelError(f"world is {world!r}; expected a tabi.World")
    for name, value, expected in (
        ("dt", dt, "number of seconds, 1e-3 is usual"),
        ("tolerance", tolerance, "velocity in m/s, 1e-8 is usual"),
    ):
        if not (isinstance(value, (int, float)) and np.isfinite(value) and value > 0):
            raise ModelError(f"{name} is {value!r}; expected a positive {expected}")
    if dt > MAX_STEP_S:
        raise ModelError(
            f"dt is {dt:g} s, in which things fall {0.5 * 9.81 * dt * dt:.2g} m unseen; expected "
            f"at most {MAX_STEP_S:g} s, 1e-3 is usual"
        )
    if dt > LONG_STEP_S:
        warnings.warn(
            f"dt is {dt:g} s, in which what moves with 1 m/s goes {1e3 * dt:g} mm between two "
            f"looks at contacts; 1e-3 s is usual",
            LongStepWarning,
            stacklevel=3,
        )
    if tolerance > MAX_TOLERANCE:
        raise ModelError(
            f"tolerance is {tolerance:g} m/s, at which contacts may as well not be solved; "
            f"expected at most {MAX_TOLERANCE:g} m/s, 1e-8 is usual"
        )
    if scheme not in SCHEMES:
        raise unknown("scheme", str(scheme), "tabi", SCHEMES)


def tuple_of_parts(name: str, parts: Any) -> tuple[Any, ...]:
    """Return custom parts of a step as a tuple."""
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        raise ModelError(f"{name} are {parts!r}; expected a list of parts of your own")
    return tuple(parts)


class OwnParts(TypedDict, total=False):
    """Custom forces and kinds of rows of a step."""

    forces: Iterable[Any]
    rows: Iterable[Any]


def own_parts(named: Mapping[str, Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return custom forces and rows; reject other names as Python does."""
    for name in named:
        if name not in OwnParts.__annotations__:
            raise TypeError(f"Simulator.__init__() got an unexpected keyword argument {name!r}")
    return tuple_of_parts("forces", named.get("forces", ())), tuple_of_parts(
        "rows", named.get("rows", ())
    )


def check_single(ask: Any) -> None:
    """Reject a number of steps where one step is done."""
    if not isinstance(ask, (bool, np.bool_)):
        raise ModelError(
            f"sim.step advances by one step and was given {ask!r}; "
            "take sim.run(seconds), or a loop over sim.step()"
        )


def checked_duration(duration: Any) -> float:
    """Return the duration of a run [s], rejecting invalid ones."""
    seconds = real("duration", duration)
    if not 0 <= seconds < np.inf:
        raise ModelError(f"duration is {duration}; expected a number of seconds ≥ 0")
    return seconds


def check_soft(scheme: str, law: Any) -> None:
    """Reject soft soles in a scheme that divides steps."""
    if scheme != TIME_STEPPING and hasattr(law, "CONTACTS"):
        raise ModelError(
            f"scheme is {scheme!r}, and this world has soft soles or pads, which press over "
            "milliseconds and have no moment of impact that could be found; "
            f"take scheme={TIME_STEPPING!r}"
        )


def checked_order(order: Any, scheme: str, law: Any, custom_parts: Iterable[Any]) -> int:
    """Return the order of a step, rejecting invalid ones, and 2 where some part has only order
    1.
    """
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
    if any(custom_parts):
        raise ModelError(
            "order=2 is given with forces or rows of your own, which know the beginning of a step "
            "only; leave them out, or take order=1"
        )
    return 2


def check_linear(order: int, scheme: str, law: Any, margin: Any) -> None:
    """Reject linearisation of steps that jump, or of laws that have no slopes."""
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
