"""Real tosses of a cube on a board, replayed with tabi and with MuJoCo:
which of the two ends nearer to where it went?

A file is an .npz of arrays ``toss_0``, ``toss_1``, …, one row for each sample at RATE: position
(3), quaternion w, x, y, z (4), linear velocity (3), angular velocity (3), control (6, not used);
lengths in half sides of the cube (Pfrommer, Halm and Posa, 2020). The angular velocity is in the
axes of the cube: in flight it differs from the turn between two samples by 0.08 rad/s (median), by
5 rad/s if it is taken in those of the world.

Every toss starts from its first row and is compared with every later one.
What a toss gives is the mean over its samples of

    position error |p − p_rec| [m]     and     angle error, of the turn R_recᵀ R [°].        (1)
Both engines make steps of 1/(SUBSTEPS · RATE). In tabi what flies follows its parabola; MuJoCo
changes the velocity first, then the position with the new one, so its start has half a step of
gravity taken off: free flight is exact in both.

The free parameters of each engine are fitted on the even tosses by one and the same search: half of
the budget on Halton's points in the box of what is allowed, the rest by Nelder and Mead from the
best of them. It makes the mean of |p − p_rec| / half side + angle [rad] small. The odd tosses are
for the score.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import qmc

from tabi._errors import SimulationError
from tabi.formats.mjcf.source import mujoco
from tabi.formats.mjcf.writer import to_mujoco
from tabi.lab.study import Argument, Column, Criterion, Option, Validator, progress, table
from tabi.lab.validate.toss_files import HALF_SIDE, RATE, Toss, read
from tabi.model.shape import Box
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import from_quaternion

Array = NDArray[np.float64]
# of the cube [kg, kg·m²]
MASS, INERTIA = 0.37, 8.1e-4
SUBSTEPS = 7
STEP = 1 / (SUBSTEPS * RATE)
GRAVITY = 9.81
BUDGET = 150
# edge of the first simplex, where the box of what is allowed has edges of 1
EDGE = 0.1


class TossEngine(Protocol):
    """An engine that replays tosses. ``ranges`` has lowest and highest value of each parameter,
    and whether it is searched by its logarithm.
    """

    name: str
    ranges: dict[str, tuple[float, float, bool]]

    def set(self, parameters: dict[str, float]) -> None:
        """Use these parameters from now on."""
        ...

    def replay(self, toss: Toss) -> Array:
        """Position [m] and quaternion at the samples of a toss, shape (n, 7), from its start."""
        ...


class TabiCube:
    """The cube in tabi: friction and restitution are free."""

    name = "tabi"

    def __init__(self) -> None:
        self.ranges: dict[str, tuple[float, float, bool]] = {
            "friction": (0.05, 1.0, True),
            "restitution": (0.0, 0.8, False),
        }
        self.simulator = Simulator(scene(), dt=STEP)

    def set(self, parameters: dict[str, float]) -> None:
        """Use this friction and this restitution."""
        self.simulator.model.set_pair("ground", "cube", **parameters)

    def replay(self, toss: Toss) -> Array:
        """Position [m] and quaternion at the samples, shape (n, 7)."""
        sim, path = self.simulator, np.empty((len(toss.pose), 7))
        path[0] = toss.pose[0]
        turn = from_quaternion(toss.pose[0, 3:]).R @ toss.angular
        sim.set_state(toss.pose[0], [*toss.linear, *turn])
        for k in range(1, len(path)):
            sim.run(SUBSTEPS * STEP)
            path[k] = sim.state.q
        return path


class MuJoCoCube:
    """The cube in MuJoCo: friction and both numbers of solref,
    the stiffness and the damping of its contacts, are free.
    """

    name = "mujoco"

    def __init__(self) -> None:
        self.ranges: dict[str, tuple[float, float, bool]] = {
            "friction": (0.05, 1.0, True),
            "timeconst": (2 * STEP, 0.1, True),
            "dampratio": (0.05, 10.0, True),
        }
        self.mj, self.model = mujoco(), to_mujoco(scene())
        self.model.opt.timestep = STEP
        self.data = self.mj.MjData(self.model)

    def set(self, parameters: dict[str, float]) -> None:
        """Use this friction and this solref."""
        self.model.geom_friction[:, 0] = parameters["friction"]
        self.model.geom_solref[:] = parameters["timeconst"], parameters["dampratio"]

    def replay(self, toss: Toss) -> Array:
        """Position [m] and quaternion at the samples, shape (n, 7)."""
        data, path = self.data, np.empty((len(toss.pose), 7))
        self.mj.mj_resetData(self.model, data)
        path[0] = data.qpos[:] = toss.pose[0]
        data.qvel[:] = *_half_step_back(toss.linear), *toss.angular
        for k in range(1, len(path)):
            self.mj.mj_step(self.model, data, SUBSTEPS)
            path[k] = data.qpos
        return path


def scene() -> World:
    """The cube above its board."""
    world = World((0.0, 0.0, -GRAVITY))
    world.add_ground()
    side = 2 * HALF_SIDE
    world.add_object(
        Box((side, side, side)),
        Inertia(MASS, np.zeros(3), INERTIA * np.eye(3)),
        (0.0, 0.0, 1.0),
        name="cube",
    )
    return world


def _half_step_back(linear: Array) -> Array:
    return linear + np.array([0.0, 0.0, 0.5 * GRAVITY * STEP])


# ---- errors ---------------------------------------------------------------------------------


def errors(path: Array, toss: Toss) -> tuple[Array, Array]:
    """Position error [m] and angle error [°] at every sample after the first."""
    away = np.linalg.norm(path[1:, :3] - toss.pose[1:, :3], axis=1)
    # the vector part keeps what the cosine of a small angle loses
    cosine = np.abs(np.sum(path[1:, 3:] * toss.pose[1:, 3:], axis=1))
    w, x = path[1:, 3:4], path[1:, 4:]
    u, y = toss.pose[1:, 3:4], toss.pose[1:, 4:]
    sine = np.linalg.norm(u * x - w * y - np.cross(y, x), axis=1)
    return away, np.degrees(2 * np.arctan2(sine, cosine))


def loss(engine: TossEngine, tosses: Sequence[Toss]) -> float:
    """Return the cost of the search: the mean over the tosses of position error / half side + angle
    error [rad]; ∞ where it breaks.
    """
    total = 0.0
    for toss in tosses:
        try:
            away, angle = errors(engine.replay(toss), toss)
        except SimulationError:
            return np.inf
        total += float(np.mean(away / HALF_SIDE + np.radians(angle)))
    return total / len(tosses) if np.isfinite(total) else np.inf


# ---- search ---------------------------------------------------------------------------------


def fit(engine: TossEngine, tosses: Sequence[Toss], budget: int = BUDGET) -> dict[str, Any]:
    """The parameters that replay these tosses best, with at most ``budget`` evaluations of all of
    them; the engine keeps them.
    """
    ranges, tried = list(engine.ranges.values()), []

    def parameters(at: Array) -> dict[str, float]:
        scaled = [
            low * (high / low) ** s if log else low + s * (high - low)
            for s, (low, high, log) in zip(at, ranges, strict=True)
        ]
        return dict(zip(engine.ranges, map(float, scaled), strict=True))

    def evaluate(at: Array) -> float:
        engine.set(parameters(at))
        tried.append((loss(engine, tosses), tuple(at)))
        progress(f"fit {engine.name}", len(tried), budget)
        return tried[-1][0]

    halton = qmc.Halton(len(ranges), scramble=False)
    halton.fast_forward(1)  # its first point is a corner
    for at in halton.random(budget // 2):
        evaluate(at)
    start = np.array(min(tried)[1])
    # away from the nearer wall
    simplex = np.vstack([start, start + np.diag(np.where(start < 0.5, EDGE, -EDGE))])
    options = {
        "maxfev": budget - len(tried),
        "initial_simplex": simplex,
        "xatol": 1e-3,
        "fatol": 1e-5,
    }
    minimize(evaluate, start, method="Nelder-Mead", bounds=[(0, 1)] * len(ranges), options=options)
    best, at = min(tried)
    engine.set(parameters(np.array(at)))
    return {"parameters": parameters(np.array(at)), "loss": best, "evaluations": len(tried)}


def score(engine: TossEngine, tosses: Sequence[Toss]) -> dict[str, Any]:
    """Errors on these tosses: of each the mean over its samples and that of the last one;
    median and 90 % over the tosses.
    """
    pairs = [errors(engine.replay(toss), toss) for toss in tosses]
    result: dict[str, Any] = {}
    for name, values in {
        "position_m": [p for p, _ in pairs],
        "angle_deg": [a for _, a in pairs],
    }.items():
        for which, each in {
            "mean": [float(v.mean()) for v in values],
            "last": [float(v[-1]) for v in values],
        }.items():
            result[f"{which}_{name}"] = {
                "median": float(np.median(each)),
                "nine_in_ten": float(np.quantile(each, 0.9)),
                "each": each,
            }
    return result


# ---- all of it ------------------------------------------------------------------------------


class Tosses(Validator, name="tosses"):
    """Replay real tosses of a cube: is tabi, fitted on one half of them,
    as near to the other half as MuJoCo?
    """

    path: Annotated[
        Path,
        Argument(
            help="An .npz file of recorded tosses (arrays toss_0, toss_1, …), or a folder of them."
        ),
    ]
    budget: Annotated[
        int, Option(min=10, help="Evaluations that the search may have, for each engine.")
    ] = BUDGET

    unit = "engines"
    criteria = (Criterion("larger", "no error is larger than MuJoCo's", at_most=0),)

    @cached_property
    def tosses(self) -> list[Toss]:
        """Tosses of the file or folder."""
        return read(self.path)

    def cases(self) -> Iterator[TossEngine]:
        """Both engines; the file is read before."""
        if self.tosses:
            yield TabiCube()
            yield MuJoCoCube()

    def measure(self, case: TossEngine) -> tuple[str, dict[str, Any], int]:
        """Fit an engine on the even tosses and score it on the odd ones; count missed ones."""
        began = time.perf_counter()
        result = fit(case, self.tosses[::2], self.budget)
        seconds = {"seconds": time.perf_counter() - began, "ranges": case.ranges}
        result |= seconds | {"score": score(case, self.tosses[1::2])}
        missed = case.simulator.missed_count if isinstance(case, TabiCube) else 0
        return case.name, result, missed

    def figures(self, rows: Sequence[tuple[str, dict[str, Any], int]]) -> dict[str, Any]:
        """Both engines, and which errors of tabi's are not larger."""
        settings = {
            "rate_Hz": RATE,
            "step_s": STEP,
            "budget": self.budget,
            "fitted": len(self.tosses[::2]),
            "scored": len(self.tosses[1::2]),
        }
        result = {"settings": settings, "engines": {name: row for name, row, _ in rows}}
        if rows:
            result["missed_steps"] = rows[0][2]
        if len(rows) == 2:
            fine = result["not_larger"] = compared(result)
            result["larger"] = len(fine) - sum(fine.values())
        return result

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """A table of both engines."""
        s = result["settings"]
        yield (
            f"{s['fitted']} tosses fitted, {s['scored']} others scored; "
            f"steps of {1e3 * s['step_s']:.3f} ms, {s['budget']} evaluations each"
        )
        yield "mean over each toss, position [mm] and angle [°]:"
        rows = [
            {"name": name} | engine | engine["score"] for name, engine in result["engines"].items()
        ]
        yield from table(COLUMNS, rows)
        worse = [what for what, fine in result["not_larger"].items() if not fine]
        yield (
            f"larger than MuJoCo's: {', '.join(worse)}"
            if worse
            else "none of the four is larger than MuJoCo's"
        )


def _values(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value:.3g}" for key, value in row["parameters"].items())


COLUMNS = (
    Column("", "name"),
    Column("position, median", "mean_position_m.median", ".1f", 1e3),
    Column("90 %", "mean_position_m.nine_in_ten", ".1f", 1e3),
    Column("angle, median", "mean_angle_deg.median", ".1f"),
    Column("90 %", "mean_angle_deg.nine_in_ten", ".1f"),
    Column("fitted", _values),
)


def compared(result: Mapping[str, Any]) -> dict[str, bool]:
    """Which errors of tabi's are not larger than MuJoCo's."""
    ours, theirs = (result["engines"][name]["score"] for name in ("tabi", "mujoco"))
    return {
        f"{what} {which}": bool(ours[what][which] <= theirs[what][which])
        for what in ("mean_position_m", "mean_angle_deg")
        for which in ("median", "nine_in_ten")
    }
