"""Stiffness and damping of an ankle bush from a tilt: the standing robot is tilted and let go, and
the damped oscillation of its feet's pitch torque gives both (Hirukawa et al. 2003, section 3.2.1).

From the pole s = −ζω ± i ω_d of the oscillation (``damped_oscillation``), n feet, and a rigid body
of mass m and inertia I about the bush's axis, its centre at the height h,

    n κ = m g h − I s²,   κ = K + C s:     K = (I ω² + m g h)/n to first order in ζ,            (1)
gravity being far from small. Servos stand in series with the bush,

    1/κ = 1/κ_bush + 1/κ_servo,   κ_servo = k_p + k_d s                                         (2)
A simulation in steps of Δt has its own operators for s² and s (``planted``, equations 2 and 3);
they take off what the scheme damps by itself, Δt K, which is ωΔt/2 of the damping ratio without
gravity.
A recording of tabi has all parameters: all servos of the recorded robot, not only those of
its ankles, and their place in the legs are taken into account (``planted``).

Intervals are of 95 %, by the covariance of the fit; errors of I, m and h are not included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import unknown
from tabi.identification.bush_dynamics import operators, planted
from tabi.identification.damped_oscillation import IdentificationError, Oscillation, fit
from tabi.model.arrays import FLOATING
from tabi.recording.recorded import Recorded
from tabi.recording.tracks import rotations

Array = NDArray[np.float64]
GRAVITY = 9.81
SIGNALS = {"torque": "torque_nm", "pitch": "pitch_rad"}
# standard deviations of a 95 % interval
DEVIATIONS_95 = 1.96
# oscillations left out after the release, while everything else settles
SETTLING_PERIODS = 0.25


@dataclass(frozen=True)
class Pendulum:
    """Rigid body on the bushes, for records without a model.

    Attributes:
        inertia: of all above the bushes about their axis [kg·m²]. mass: of it [kg].
        height: of its centre above that axis [m]. foot_count: number of feet it stands on.
        servo_stiffness, servo_damping: of the ankle servo of one leg [N·m/rad, N·m·s/rad]; a
            servo without a stiffness does not give way.
        step: of the simulation that made the record [s]; 0 for a real robot.
    """

    inertia: float
    mass: float
    height: float
    foot_count: int = 2
    servo_stiffness: float | None = None
    servo_damping: float = 0.0
    step: float = 0.0

    def __post_init__(self) -> None:
        for name, unit in (("inertia", "kg·m²"), ("mass", "kg"), ("height", "m")):
            if not 0 < getattr(self, name) < np.inf:
                raise IdentificationError(
                    f"{name} above the bush is {getattr(self, name)}; "
                    f"expected a positive number in {unit}"
                )
        if self.servo_stiffness is not None and not 0 < self.servo_stiffness < np.inf:
            raise IdentificationError(
                f"servo stiffness is {self.servo_stiffness}; expected a positive number in N·m/rad"
            )
        if not 0 <= self.servo_damping < np.inf or not 0 <= self.step < np.inf:
            raise IdentificationError(
                f"servo damping is {self.servo_damping} and the step {self.step}; "
                f"expected numbers ≥ 0 in N·m·s/rad and s"
            )

    def bush(self, pole: complex, step: float) -> complex:
        """κ of one foot's bush by (1) and (2)."""
        square, rate, end = operators(pole, step)
        tilting = self.mass * GRAVITY * self.height
        whole = (tilting - self.inertia * square) / self.foot_count
        if self.servo_stiffness is None:
            return whole
        return 1 / (1 / whole - 1 / (self.servo_stiffness * end + self.servo_damping * rate))


@dataclass(frozen=True, eq=False)
class TiltRecord:
    """A signal over time: torque [N·m] or pitch [rad], of what."""

    time: Array
    values: Array
    signal: str
    name: str


@dataclass(frozen=True, eq=False)
class Tilt:
    """Identified parameters of the bush of one foot.

    Attributes:
        stiffness, damping: about the pitch axis [N·m/rad, N·m·s/rad]; and their 95 % intervals.
        frequency: ω of the oscillation, undamped [rad/s]. damping_ratio: ζ.
        inertia, tilting: I about the bush's axis [kg·m²] and m g h [N·m/rad] of what is above.
        oscillation: the fit. record: what it was fitted to from ``oscillation.start`` on.
    """

    stiffness: float
    damping: float
    stiffness_interval: tuple[float, float]
    damping_interval: tuple[float, float]
    frequency: float
    damping_ratio: float
    inertia: float
    tilting: float
    oscillation: Oscillation
    record: TiltRecord

    def to_dict(self) -> dict[str, Any]:
        """Numbers for machines, with units in their names."""
        fitted = asdict(self.oscillation)
        return {
            "record": self.record.name,
            "signal": self.record.signal,
            "stiffness_nm_rad": self.stiffness,
            "stiffness_interval_nm_rad": list(self.stiffness_interval),
            "damping_nms_rad": self.damping,
            "damping_interval_nms_rad": list(self.damping_interval),
            "frequency_rad_s": self.frequency,
            "damping_ratio": self.damping_ratio,
            "inertia_kg_m2": self.inertia,
            "tilting_nm_rad": self.tilting,
            "from_s": fitted["start"],
            "until_s": float(self.record.time[-1]),
            "noise": fitted["noise"],
            "noise_correlation": fitted["correlation"],
            "explained": fitted["explained"],
        }


# ---- from a recording of tabi -------------------------------------------------------------------


def identify(
    run: Recorded,
    signal: str = "torque",
    robot: str | None = None,
    start: float | None = None,
    end: float | None = None,
    name: str = "the recording",
) -> Tilt:
    """Identify the bush of a recorded robot, with all of its servos.

    Args:
        signal: "torque" of a foot about the pitch axis at the sole, the mean of all feet; or
            "pitch" of the base.
        robot: its name; default: the only one.
        start, end: of the fit [s]; default: from a quarter of an oscillation after the first row to
            the last.
    """
    k = robot_of(run, robot)
    record = recorded(run, signal, k, name)
    world = run.world
    of_robot = np.repeat(world.robot, world.body["v_end"] - world.body["v_start"]) == k
    servos = (np.nan_to_num(world.dof["kp"]) > 0) & (world.dof["prescribed"] == 0)
    record, oscillation = _fitted(record, start, end, bool((of_robot & servos).any()))
    # near the pose that it comes to rest in
    after = np.flatnonzero(run.time >= oscillation.start)
    values = np.interp(run.time[after], record.time, record.values)
    row = int(after[np.argmin(np.abs(values - oscillation.offset))])
    system = planted(run, k, row)
    return _tilt(record, oscillation, system.bush, run.dt, system.inertia, system.tilting)


def robot_of(run: Recorded, name: str | None) -> int:
    """Place of a robot with feet among those of a recording."""
    names = run.world.robot_names
    if name is not None and name not in names:
        raise unknown("robot", name, "the recording", names)
    with_feet = sorted({int(k) for k in run.world.feet.robot})
    if not with_feet:
        raise IdentificationError(
            "the recording has no robot with feet; expected one that stands on an ankle bush"
        )
    if name is not None:
        if names.index(name) not in with_feet:
            raise IdentificationError(f"robot {name!r} of the recording has no feet")
        return names.index(name)
    if len(with_feet) > 1:
        raise IdentificationError(
            f"the recording has several robots with feet, {', '.join(names)}; "
            f"name one of them: --robot {names[with_feet[0]]}"
        )
    return with_feet[0]


def recorded(run: Recorded, signal: str, robot: int, name: str) -> TiltRecord:
    """A signal of a recorded robot about its pitch axis; the row before the first step has no
    forces and is left out.
    """
    if signal not in SIGNALS:
        raise unknown("signal", signal, "a record", SIGNALS)
    feet = np.flatnonzero(run.world.feet.robot == robot)
    axis = _pitch_axis(run, robot)
    if signal == "torque":
        values = (run.feet["wrench"][1:, feet, 3:] @ axis).mean(axis=1)
    else:
        base = int(np.flatnonzero(run.world.robot == robot)[0])
        if run.world.body["kind"][base] != FLOATING:
            raise IdentificationError(
                f"the base of {run.world.robot_names[robot]!r} is bolted down and has no pitch; "
                f"expected a robot that stands on its feet"
            )
        k = int(run.world.body["q_start"][base]) + 3
        R = rotations(run.q[:, k : k + 4])
        relative = R[1:] @ R[0].T
        # sin of the angle about the axis, which is small
        skew = relative - relative.transpose(0, 2, 1)
        values = 0.5 * np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1) @ axis
    return TiltRecord(run.time[1:], values, signal, name)


def _pitch_axis(run: Recorded, robot: int) -> Array:
    """To the left, level: from the right foot to the left one, else y of the first foot's frame."""
    from tabi.recording import tracks

    world = run.world
    origin, R = tracks.foot_frames(world, tracks.motion(world, run.q[:1]))
    sides = {
        world.feet.names[k].rpartition("/")[2]: k for k in np.flatnonzero(world.feet.robot == robot)
    }
    if {"left", "right"} <= sides.keys():
        axis = origin[sides["left"], 0] - origin[sides["right"], 0]
    else:
        axis = R[next(iter(sides.values())), 0, :, 1]
    axis = axis * (1.0, 1.0, 0.0)
    return axis / np.linalg.norm(axis)


# ---- from a table -------------------------------------------------------------------------------


def read_table(path: Path, signal: str | None = None) -> TiltRecord:
    """Read a record from a CSV file: columns ``time_s`` and ``torque_nm``, the torque of one foot,
    or ``pitch_rad``; others are ignored.

    Args:
        signal: which of the two, where both are there; default: the torque.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is no text"
        raise IdentificationError(
            f"{path}: it cannot be read: {why}; expected a recording, or a CSV file"
        ) from None
    names = [name.strip() for name in lines[0].split(",")] if lines else []
    if signal is not None and signal not in SIGNALS:
        raise unknown("signal", signal, "a record", SIGNALS)
    there = [kind for kind in ([signal] if signal else SIGNALS) if SIGNALS[kind] in names]
    if "time_s" not in names or not there:
        wanted = SIGNALS[signal] if signal else "torque_nm or pitch_rad"
        raise IdentificationError(
            f"{path}: its columns are {', '.join(names) or 'none'}; expected time_s and {wanted}: "
            f"name them in the first line"
        )
    columns = [names.index("time_s"), names.index(SIGNALS[there[0]])]
    rows = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.split(",")
        try:
            rows.append([float(cells[k]) for k in columns])
        except (ValueError, IndexError):
            if line.strip():
                raise IdentificationError(
                    f"{path}, line {number}: {line.strip()[:60]!r} has no number in "
                    f"time_s or {SIGNALS[there[0]]}; expected numbers with a point"
                ) from None
    time, values = np.array(rows, float).reshape(-1, 2).T
    return TiltRecord(time, values, there[0], str(path))


def identify_table(
    record: TiltRecord, pendulum: Pendulum, start: float | None = None, end: float | None = None
) -> Tilt:
    """Identify the bush under a pendulum from a record of its torque or pitch; as ``identify``."""
    record, oscillation = _fitted(record, start, end, pendulum.servo_stiffness is not None)
    tilting = pendulum.mass * GRAVITY * pendulum.height
    return _tilt(record, oscillation, pendulum.bush, pendulum.step, pendulum.inertia, tilting)


# ---- from the oscillation -----------------------------------------------------------------------


def _fitted(
    record: TiltRecord, start: float | None, end: float | None, servos: bool
) -> tuple[TiltRecord, Oscillation]:
    """The part of a record that is fitted, and the fit; servos creep."""
    later = record.time >= (-np.inf if start is None else start)
    part = later & (record.time <= (np.inf if end is None else end))
    time, values = record.time[part], record.values[part]
    oscillation = fit(time, values, record.name, servos)
    if start is None:
        settled = time >= time[0] + SETTLING_PERIODS * 2 * np.pi / oscillation.frequency
        oscillation = fit(time[settled], values[settled], record.name, servos)
    return TiltRecord(time, values, record.signal, record.name), oscillation


def _tilt(
    record: TiltRecord,
    oscillation: Oscillation,
    bush: Callable[[complex, float], complex],
    step: float,
    inertia: float,
    tilting: float,
) -> Tilt:
    def numbers(p: Array) -> Array:
        pole = complex(-p[0], p[1])
        kappa, (_, rate, end) = bush(pole, step), operators(pole, step)
        both = np.array([[end.real, rate.real], [end.imag, rate.imag]])
        return np.asarray(np.linalg.solve(both, [kappa.real, kappa.imag]), float)

    at = np.array([oscillation.decay, oscillation.frequency])
    K, C = numbers(at)
    nudges = 1e-6 * oscillation.frequency * np.eye(2)
    J = np.stack([(numbers(at + d) - numbers(at - d)) / (2 * d.max()) for d in nudges], axis=1)
    wide = DEVIATIONS_95 * np.sqrt(np.diag(J @ oscillation.covariance @ J.T).clip(0))
    if not K > 0:
        raise IdentificationError(
            f"{record.name} gives a stiffness of {K:.3g} N·m/rad; expected a positive one: "
            f"check the parameters of the robot and its servos"
        )
    omega = float(np.hypot(*at))
    return Tilt(
        float(K),
        float(C),
        (float(K - wide[0]), float(K + wide[0])),
        (float(C - wide[1]), float(C + wide[1])),
        omega,
        oscillation.decay / omega,
        inertia,
        tilting,
        oscillation,
        record,
    )
