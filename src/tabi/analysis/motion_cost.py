"""Cost of a motion as one number, which ``tabi optimise`` minimises.

    cost = Σ_i weight_i e_i/size_i                                                              (1)
    e = x                  of a measure x alone: the less the better
    e = −x                 of one of which more is better, as a height
    e = max(0, x* − x)     of x >= x*;   max(0, x − x*) of x <= x*;   |x − x*| of x = x*        (2)
Margins are infinite where there is no limit or nothing came near: x = ∞ reaches every x >= x*, and
counts as the measure's reach r in all else: e = −min(x, r), e ≤ r. What is no number costs
infinitely much. Shares of limits are 0 where there is none.

A term is written ``MEASURE[:WHAT][>=X][*WEIGHT]``: ``height:load>=1.4``, ``torque<=0.9*2``,
``distance:can,right_hand``, ``fall``. The size of a measure is what counts as one, so that weights
are near one; a fall counts as much as a hundred of anything else. Torques, speeds, friction and
centres of pressure are those of ``motion_margins``; jaws that grip press with their commanded
force and do not count. The centre of pressure counts from a tenth of the weight on, and not from
most of it as in ``motion_check``: on two feet neither carries most of it.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, SimulationError, near
from tabi.analysis.motion_margins import MarginWatch
from tabi.analysis.steered_measures import SteeredWatch
from tabi.analysis.walk_measures import WalkWatch
from tabi.model import lookup
from tabi.scenes.scene import Scene
from tabi.simulation.faults import MissedStepWarning
from tabi.simulation.simulator import Simulator
from tabi.step.data import Data

Array = NDArray[np.float64]
# simulated seconds between two checks for a fall; share of the weight from which a foot stands
CHECK_PERIOD_S, STANCE_LOAD_SHARE = 0.05, 0.1
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
TERM = re.compile(
    rf"\s*(?P<measure>\w+)\s*(?::(?P<bodies>[^<>=*]+))?"
    rf"(?:(?P<relation>>=|<=|=)\s*(?P<target>{NUMBER})\s*)?(?:\*\s*(?P<weight>{NUMBER})\s*)?"
)


@dataclass(frozen=True)
class Measure:
    """One number of a run.

    Attributes:
        words: what it is. unit: in which. size: of it that costs one.
        bodies: how many it is about. maximise: whether more of it is better.
        reach: what it counts as where it is infinite, or larger.
    """

    words: str
    unit: str
    size: float
    bodies: int = 0
    maximise: bool = False
    reach: float = math.inf


# reaches: no joint is further than half a turn from both of its ends, no centre of pressure 0.1 m
# inside of a foot's sole; contacts see little more than a millimetre, and 10 mm when they are fast
MEASURES: Mapping[str, Measure] = {
    "fall": Measure(
        "1 to 2 if a robot falls, the sooner the more, 1 if a walk is not finished, else 0",
        "",
        0.01,
    ),
    "missed": Measure("steps of the simulation that did not converge", "", 1.0),
    "torque": Measure("largest share of a motor's torque, held for 10 ms", "of the limit", 0.1),
    "speed": Measure("largest share of a joint's top speed", "of the limit", 0.1),
    "travel": Measure(
        "least distance of a joint from the end of its travel", "rad", 0.1, 0, True, math.pi
    ),
    "friction": Measure("largest share of friction that a foot uses", "of the limit", 0.1),
    "pressure": Measure(
        "least distance of a foot's centre of pressure from the sole's edge",
        "m",
        0.01,
        0,
        True,
        0.1,
    ),
    "gap": Measure("least gap of a robot to what it should not touch", "m", 0.01, 0, True, 0.01),
    "energy": Measure("work of all motors, braking counted too: Σ ∫ |τ q̇| dt", "J", 100.0),
    "height": Measure("of a body's origin at the end", "m", 0.1, 1, True),
    "lowest": Measure("height that a body's origin never falls below", "m", 0.1, 1, True),
    "distance": Measure("between the origins of two bodies at the end", "m", 0.1, 2),
    "slip": Measure("furthest that a body is from where it began, along the ground", "m", 0.01, 1),
    "rest": Measure("speed of a body at the end", "m/s", 0.1, 1),
}

# measures of robots
ROBOTS = {"fall", "torque", "speed", "travel", "friction", "pressure", "gap", "energy"}


@dataclass(frozen=True)
class CostTerm:
    """One term of (1).

    Attributes:
        text: as it was written. measure: one of MEASURES. bodies: it is about.
        relation: ">=", "<=", "=" or "". target: x*. weight: of it.
    """

    text: str
    measure: str
    bodies: tuple[str, ...] = ()
    relation: str = ""
    target: float = 0.0
    weight: float = 1.0

    def cost(self, x: float) -> float:
        """Return (2) over the size times the weight; infinite if x is NaN."""
        how = MEASURES[self.measure]
        if math.isnan(x):
            return math.inf
        off = {
            "": -min(x, how.reach) if how.maximise else x,
            ">=": max(0.0, self.target - x),
            "<=": min(max(0.0, x - self.target), how.reach),
            "=": min(abs(x - self.target), how.reach),
        }[self.relation]
        return self.weight * off / how.size if math.isfinite(off) else math.inf


def read_terms(words: Sequence[str]) -> tuple[CostTerm, ...]:
    """Parse the terms of a cost, as they are written on the command line."""
    terms = [read_term(text) for text in words]
    if not terms:
        raise ModelError(f"there is no cost; expected one or more of {', '.join(MEASURES)}")
    return tuple(terms)


def read_term(text: str) -> CostTerm:
    """Parse one term of a cost, such as ``height:hand>=0.5*2``."""
    match = TERM.fullmatch(text)
    name = re.split(r"[:<>=*]", text.strip())[0].strip()
    if name not in MEASURES:
        hint = near(name, MEASURES) or f"; expected one of {', '.join(MEASURES)}"
        raise ModelError(f"cost {text!r}: the measure {name!r} is not known{hint}")
    if match is None:
        raise ModelError(
            f"cost {text!r} is not MEASURE[:WHAT][>=X][*WEIGHT]; for example height:load>=1.4 or "
            "torque<=0.9*2"
        )
    bodies = tuple(b.strip() for b in (match["bodies"] or "").split(",") if b.strip())
    how = MEASURES[name]
    if len(bodies) != how.bodies:
        expected = {0: "no body", 1: "one body", 2: "two bodies, with a comma between"}[how.bodies]
        raise ModelError(f"cost {text!r} names {len(bodies)} bodies; {name} is about {expected}")
    weight = float(match["weight"] or 1.0)
    if not 0 < weight < math.inf:
        raise ModelError(f"cost {text!r}: the weight is {weight:g}; expected a positive number")
    target = float(match["target"] or 0.0)
    if not math.isfinite(target):
        raise ModelError(f"cost {text!r}: the target is infinite; expected a number to reach")
    return CostTerm(text, name, bodies, match["relation"] or "", target, weight)


@dataclass(frozen=True)
class MotionCost:
    """Cost of one run.

    Attributes:
        cost: (1); infinite where the simulation broke down. values: x, by the terms' texts.
        fallen_at: when a robot fell first [s], or None. stopped: why it broke down, or "".
        unfinished: why a walk in it was not finished, or "".
        costs: of each term, by the same texts.
    """

    cost: float
    values: Mapping[str, float]
    fallen_at: float | None = None
    stopped: str = ""
    unfinished: str = ""
    costs: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, None for infinite values."""
        return {
            "cost": _finite(self.cost),
            "values": {name: _finite(x) for name, x in self.values.items()},
            "costs": {name: _finite(x) for name, x in self.costs.items()},
            "fallen_at_s": self.fallen_at,
            "stopped": self.stopped,
            "unfinished": self.unfinished,
        }


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def measure(scene: Scene, terms: Sequence[CostTerm]) -> MotionCost:
    """Run a scene, to its end or to a fall where falls cost something."""
    run = CostWatch(scene, terms)
    sim, fall = run.sim, any(term.measure == "fall" for term in terms)
    steps, chunk = round(scene.duration / sim.dt), max(1, round(CHECK_PERIOD_S / sim.dt))
    try:
        for done in range(0, steps, chunk):
            # steps that miss are counted
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MissedStepWarning)
                sim.run(min(chunk, steps - done) * sim.dt)
            if fall and run.fallen_at is not None:
                break
    except SimulationError as fault:
        return MotionCost(math.inf, {}, run.fallen_at, str(fault))
    values = {term.text: run.value(term) for term in terms}
    costs = {term.text: term.cost(values[term.text]) for term in terms}
    cost = sum(costs[term.text] for term in terms)
    return MotionCost(
        float(cost), values, run.fallen_at, unfinished="; ".join(run.unfinished), costs=costs
    )


class CostWatch:
    """Follows a simulation of a scene from its start.

    Args:
        scene: that is run. terms: what is to be known of it; a body that is not there is refused.
    """

    def __init__(self, scene: Scene, terms: Sequence[CostTerm]) -> None:
        self.sim: Simulator = scene.simulator()
        self.duration = scene.duration
        sim = self.sim
        named = {body for term in terms for body in term.bodies}
        self._starts = {body: np.array(sim.position(body)) for body in named}
        self._far = dict.fromkeys(named, 0.0)
        self._low = {body: float(place[2]) for body, place in self._starts.items()}
        kinds = {term.measure for term in terms}
        limits = kinds & (ROBOTS - {"energy"})
        pairs = zip(sim.world.robots, scene.contents.robots, strict=True)
        self._jaws = {robot.name: tuple(keys.grip_nm) for robot, keys in pairs}
        self._watches = [
            MarginWatch(sim, robot, self._jaws[robot.name], STANCE_LOAD_SHARE)
            for robot in sim.world.robots
            if limits
        ]
        if kinds & ROBOTS and not sim.world.robots:
            raise ModelError(f"scene {scene.name} has no robot; its cost can be of bodies alone")
        self._walks = WalkWatch(sim), SteeredWatch(sim)
        self._energy = 0.0
        driven = sim.world.robots if "energy" in kinds else ()
        self._motors = [(robot, lookup.joint_rows(sim.model, robot)) for robot in driven]
        if kinds & {"slip", "lowest"}:
            sim.every(1, self._places)
        if self._motors:
            sim.every(1, self._work)

    def _places(self, data: Data) -> None:
        for body, start in self._starts.items():
            now = self.sim.position(body)
            self._far[body] = max(self._far[body], math.hypot(*(now - start)[:2]))
            self._low[body] = min(self._low[body], float(now[2]))

    def _work(self, data: Data) -> None:
        for robot, rows in self._motors:
            # true speeds: encoders may be noisy, late or coarse
            work = self.sim.joint_torques(robot) * data.v[rows]
            self._energy += float(np.abs(work).sum()) * self.sim.dt

    @property
    def fallen_at(self) -> float | None:
        """Time of the first fall of a robot [s]."""
        return min((w.fell for w in self._watches if w.fell is not None), default=None)

    @property
    def unfinished(self) -> list[str]:
        """Why walks ended without all of their steps."""
        fell = {w.robot.name: w.fell for w in self._watches if w.fell is not None}
        walks = [walk for watch in self._walks for walk in watch.measured(fell).values()]
        return [walk.stopped for walk in walks if walk.stopped]

    @property
    def _fall(self) -> float:
        """Value of the measure "fall" in (1)."""
        if self.fallen_at is not None:
            return 2.0 - self.fallen_at / self.duration
        return 1.0 if self.unfinished else 0.0

    def value(self, term: CostTerm) -> float:
        """Return the present value of a term's measure, in its unit."""
        sim, bodies = self.sim, term.bodies
        if term.measure in ("torque", "speed", "travel"):
            return self._of_joints(term.measure)
        if term.measure in ("friction", "pressure", "gap"):
            return self._least(term.measure)
        values: dict[str, Callable[[], float]] = {
            "fall": lambda: self._fall,
            "missed": lambda: float(sim.missed_count),
            "energy": lambda: self._energy,
            "height": lambda: float(sim.position(bodies[0])[2]),
            "lowest": lambda: self._low[bodies[0]],
            "distance": lambda: float(
                np.linalg.norm(sim.position(bodies[0]) - sim.position(bodies[1]))
            ),
            "slip": lambda: self._far[bodies[0]],
            "rest": lambda: float(np.linalg.norm(sim.velocity(bodies[0]).linear)),
        }
        return values[term.measure]()

    def _of_joints(self, name: str) -> float:
        least = math.inf
        for watch in self._watches:
            margins = watch.of_joints(name)
            jaws = self._jaws[watch.robot.name]
            least = _min([least, *(x for joint, x in margins.items() if joint not in jaws)])
        return least if name == "travel" else _share(least)

    def _least(self, name: str) -> float:
        kind = {"gap": "collision"}.get(name, name)
        margins = [
            margin.margin
            for watch in self._watches
            for margin in watch.margins()
            if margin.name == kind
        ]
        least = _min([math.inf, *(x for x in margins if x is not None)])
        return _share(least) if name == "friction" else least


def _min(numbers: Sequence[float]) -> float:
    """Return the smallest number; NaN if one of them is NaN."""
    return float(np.min(numbers))


def _share(margin: float) -> float:
    """Return the used share of a limit; 0 without a limit."""
    return 0.0 if margin == math.inf else 1.0 - margin
