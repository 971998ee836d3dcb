"""Servo gains and frictions of a joint from a log of its motion (Chardonnet et al. 2012, eq. 22).

    Γ = R (K_p (q_d − q) + K_v (q̇_d − q̇)) − μ_v q̇ − μ_d sign(q̇)                                 (1)
Found are k_p = R K_p and k_d = R K_v, on the joint's side, μ_v and μ_d, by linear least squares
(``regression``). The log's torque may be either side of the gear's friction:

    joint: behind it, Γ itself, as a torque sensor at the output reads: one regression of (1).
    motor: before it, as from the motor's current. Then the loop and the motion are two,
        τ = k_p (q_d − q) + k_d (q̇_d − q̇)                                                        (2)
        τ = I q̈ + μ_v q̇ + μ_d sign(q̇) + a sin q + b cos q + c                                    (3)
(3) is a joint whose carrier stands still and that nothing touches: I its inertia with the rotor's,
a and b gravity. Of a joint that slides a and b are left out. All signals are averaged over blocks,
which keeps (1) to (3) true, makes noise smaller and its samples independent, and q̈ is the
difference of velocities over a block. Blocks in which the joint stands still or turns round have no
sign(q̇) and are left out of (1) and (3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.identification.damped_oscillation import IdentificationError
from tabi.identification.regression import Estimate, Fit, fit

Array = NDArray[np.float64]
SIDES = ("motor", "joint")
# minimum samples of a log; blocks that it is cut into, if it has several samples for each
MIN_SAMPLES, BLOCKS = 40, 400
# share of the largest speed below which the joint stands still
STILL_SPEED_SHARE = 0.02
UNITS = {
    "kp": "N·m/rad",
    "kd": "N·m·s/rad",
    "viscous": "N·m·s/rad",
    "dry": "N·m",
    "inertia": "kg·m²",
}


@dataclass(frozen=True, eq=False)
class Log:
    """Time series of a joint, n samples each.

    Attributes:
        time [s], position, velocity, torque: measured; torque in N·m, or N of a joint that slides.
        command, command_velocity: commanded position and velocity.
        name: what errors call it.
    """

    time: Array
    position: Array
    velocity: Array
    command: Array
    command_velocity: Array
    torque: Array
    name: str = "the log"


@dataclass(frozen=True, eq=False)
class JointParameters:
    """Identified kp, kd, viscous and dry friction, and from a motor's torque the inertia.

    Attributes:
        estimates: by name, with their intervals. units: theirs.
        noise: of the torque in a block, what the fit leaves [N·m or N]. blocks: that were used.
    """

    estimates: dict[str, Estimate]
    noise: float
    blocks: int
    name: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        data: dict[str, Any] = {"log": self.name, "blocks": self.blocks, "noise": self.noise}
        for name, e in self.estimates.items():
            data[name] = e.value
            data[f"{name}_interval"] = [e.low, e.high]
        return data


def identify(log: Log, side: str = "motor", slides: bool = False) -> JointParameters:
    """Gains and frictions from a log.

    Args:
        side: of the gear's friction that the torque is measured on, "motor" or "joint".
        slides: whether the joint is prismatic, so that gravity does not change along its way.
    """
    if side not in SIDES:
        raise IdentificationError(f"the torque is of the {side!r}; expected 'motor' or 'joint'")
    _check(log)
    b = _blocks(log)
    error, rate = b["command"] - b["position"], b["command_velocity"] - b["velocity"]
    moves, owner = b["moves"] > 0, log.name
    v, sign = b["velocity"][moves], np.sign(b["velocity"][moves])
    if side == "joint":
        columns = {"kp": error[moves], "kd": rate[moves], "viscous": -v, "dry": -sign}
        whole = fit(columns, b["torque"][moves], owner)
        return _parameters([whole], columns, log)
    loop = fit({"kp": error, "kd": rate}, b["torque"], owner)
    columns = {"inertia": b["acceleration"][moves], "viscous": v, "dry": sign}
    q = b["position"][moves]
    gravity = {} if slides else {"gravity's sine": np.sin(q), "gravity's cosine": np.cos(q)}
    if not slides and np.ptp(q) < 0.1:
        # a small swing does not separate the two from a constant
        gravity = {"gravity's slope": q - q.mean()}
    constant = {"constant": np.ones(len(q))}
    motion = fit(columns | gravity | constant, b["torque"][moves], owner)
    return _parameters(
        [loop, motion], {"kp": 0, "kd": 0, "viscous": 0, "dry": 0, "inertia": 0}, log
    )


def _parameters(fits: list[Fit], names: Any, log: Log) -> JointParameters:
    estimates = {
        name: fitted.estimate(name) for name in names for fitted in fits if name in fitted.names
    }
    return JointParameters(estimates, fits[-1].noise, fits[-1].rows, log.name)


def _check(log: Log) -> None:
    """Reject logs from which nothing can be identified."""
    n = len(log.time)
    if n < MIN_SAMPLES:
        raise IdentificationError(
            f"{log.name} has {n} samples; expected {MIN_SAMPLES} or more: record longer"
        )
    if not (np.diff(log.time) > 0).all():
        raise IdentificationError(f"{log.name}: its times do not grow from row to row")
    if not np.abs(log.velocity).max() > 0:
        raise IdentificationError(
            f"{log.name}: the joint stands still all the time; expected a log in which it moves"
        )


def _blocks(log: Log) -> dict[str, Array]:
    """Means of all signals over blocks; ``moves`` is 1 where a block moves one way."""
    size = max(len(log.time) // BLOCKS, 1)
    count = len(log.time) // size
    signals = {
        name: getattr(log, name)
        for name in ("position", "velocity", "command", "command_velocity", "torque")
    }
    signals["acceleration"] = np.gradient(log.velocity, log.time)
    cut = {name: x[: count * size].reshape(count, size) for name, x in signals.items()}
    v, still = cut["velocity"], STILL_SPEED_SHARE * np.abs(log.velocity).max()
    moves = (v > still).all(axis=1) | (v < -still).all(axis=1)
    return {name: x.mean(axis=1) for name, x in cut.items()} | {"moves": moves.astype(float)}
