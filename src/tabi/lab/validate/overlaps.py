"""``tabi validate overlaps``: bodies that start inside each other leave the overlap gently.

Worlds of ``random_overlaps``. What a run must not do:

    E(t) ≤ E(0) + L(t) + 1e-6 E₀: nothing but the lift out of the overlap adds energy            (1)
    L(t) ≤ m g d, d the deepest overlap; stacks, and levers on a fixed base, lift more           (2)
    T(t) ≤ max V(s ≤ t) + L(t) − V(t) + ½ m c²: by falling, and with the separation speed c      (3)
    a joint ends a step at most 1e-3 rad beyond its end, or than where it started                (4)
    leaving an overlap moves a joint by at most JOINT_SPEED h a step                             (5)
and each start has to be reported by a warning. m: mass of all that moves; E = T + V with what pads
store; E₀ = m g (1 m); L: the sum of V(q⁺) − V(q ⊕ h v⁺) over the steps, or m g d where that is
more, as it is where bodies are also turned by it.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np

from tabi._errors import SimulationError
from tabi.lab.study import Criterion, Option, Validator, within
from tabi.lab.validate.lift import lift, velocity_only
from tabi.lab.validate.random_overlaps import random_overlap
from tabi.simulation.faults import REPORTED_OVERLAP_M, OverlapWarning
from tabi.simulation.simulator import Simulator
from tabi.step.depenetration import JOINT_SPEED, PARTING_SPEED, SLACK

GRAVITY = 9.81
STEPS = 150
# of (1), in E₀; of (4) [rad or m]; share of steps that may not converge
MAX_ENERGY_GAIN, MAX_BEYOND_LIMIT, MAX_MISSED_SHARE = 1e-6, 1e-3, 1e-4
# of (5): loops that open on the way are closed, which is of second order
DRIFT = 1.05
FAULTS = ("gained", "fast", "beyond", "jumped", "silent", "broken")
MEASURES = ("gain", "lift", "beyond_rad", "left_m", "slowest_s")


class Overlaps(Validator, name="overlaps"):
    """Start bodies up to 2 cm inside each other: do they gain energy, or joints pass their ends?"""

    starts: Annotated[int, Option(min=1, help="Random starts.")] = 1000

    unit = "starts"
    criteria = (
        *(Criterion(key, f"no start is {key}", at_most=0) for key in FAULTS),
        Criterion("missed_share", "few steps miss their tolerance", at_most=MAX_MISSED_SHARE),
    )

    def cases(self) -> range:
        """Starts by their seeds."""
        return range(self.starts)

    def measure(self, case: int) -> dict[str, Any]:
        """Measure one case and return its row."""
        return run(case) | {"seed": case}

    def figures(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return sums, the largest errors, and the faults of each start."""
        steps = sum(row["steps"] for row in rows)
        wrong = {
            key: [f"start {r['seed']} ({r['kind']}): {line}" for r in rows for line in r[key]]
            for key in (*FAULTS, "missed")
        }
        return {
            "starts": len(rows),
            "steps": steps,
            "kinds": dict(Counter(row["kind"] for row in rows)),
            **wrong,
            "missed_share": len(wrong["missed"]) / max(steps, 1),
            **{key: max((row[key] for row in rows), default=0.0) for key in MEASURES},
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """The result as sentences."""
        r = result
        kinds = ", ".join(f"{count} {kind}" for kind, count in r["kinds"].items())
        yield (
            f"{r['starts']} starts inside of each other ({kinds}), {r['steps']:,} steps: "
            f"{within(r)} what is asked"
        )
        yield (
            f"  energy gained beyond the lift out of the overlap, at most {r['gain']:.1e} m of "
            f"height (allowed {MAX_ENERGY_GAIN:g}); the lift at most {r['lift']:.2f} of weight "
            f"times depth"
        )
        yield (
            f"  joints beyond their ends by {r['beyond_rad']:.1e} rad "
            f"(allowed {MAX_BEYOND_LIMIT:g}); deepest overlap left {1e3 * r['left_m']:.2g} mm"
        )
        yield (
            f"  steps not converged: {len(r['missed'])} (allowed {MAX_MISSED_SHARE:g} of all); "
            f"longest step {1e3 * r['slowest_s']:.1f} ms of CPU time"
        )
        for key in (*FAULTS, "missed"):
            yield from (f"  {key}: {line}" for line in r[key][:10])


def run(seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Run one start and return its measures."""
    world, kind = random_overlap(seed)
    out: dict[str, Any] = {"kind": kind, "steps": 0} | {key: [] for key in FAULTS}
    out |= dict.fromkeys(MEASURES, 0.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim = Simulator(world)
        watch = _Watch(sim, out)
        try:
            for _ in range(steps):
                watch.step()
        except SimulationError as fault:
            out["broken"].append(str(fault))
    reported = any(issubclass(w.category, OverlapWarning) for w in caught)
    if watch.depth > REPORTED_OVERLAP_M and not reported:
        out["silent"].append(f"{1e3 * watch.depth:.2g} mm inside and no warning")
    if not (np.isfinite(sim.state.q).all() and np.isfinite(sim.state.v).all()):
        out["broken"].append("its state is not finite")
    out["missed"] = [f"at {t:.3f} s by {error:.1e} m/s" for t, error in sim.missed]
    out["left_m"] = float(sim.certificate.penetration)
    return out


class _Watch:
    """Does the steps of a start and compares them with (1) to (5)."""

    def __init__(self, sim: Simulator, out: dict[str, Any]) -> None:
        self.sim, self.out, self.depth = sim, out, 0.0
        m = sim.model.arrays
        self.mass = float(m.body["mass"][1:].sum())
        self.start = sim.energy
        self.highest, self.lift = self.start.potential, 0.0
        # joints of one degree of freedom, with their place in q and v
        self.k = np.array([k for k in range(len(m.dof)) if m.dof["q"][k] >= 0], int)
        self.q = m.dof["q"][self.k]
        low, high = m.dof["lower"][self.k], m.dof["upper"][self.k]
        q = sim.data.q[self.q]
        self.low, self.high = np.minimum(low, q), np.maximum(high, q)

    def step(self) -> None:
        """Do one step and compare."""
        sim, out, before = self.sim, self.out, self.sim.data.q.copy()
        begin = time.thread_time()
        sim.step()
        if out["steps"] > 2:
            out["slowest_s"] = max(out["slowest_s"], time.thread_time() - begin)
        out["steps"] += 1
        self.depth = max(self.depth, float(sim.certificate.penetration))
        expected = velocity_only(sim, before)
        self._compare_energy(expected)
        if len(self.q):
            self._compare_joints(expected[self.q])

    def _compare_joints(self, expected: Any) -> None:
        sim, out, q = self.sim, self.out, self.sim.data.q[self.q]
        beyond = float(np.max(np.maximum(self.low - q, q - self.high)))
        out["beyond_rad"] = max(out["beyond_rad"], beyond)
        if beyond > MAX_BEYOND_LIMIT:
            out["beyond"].append(f"at {sim.time:.3f} s by {beyond:.2e} rad")
        jump = float(np.max(np.abs(q - expected)))
        if jump > DRIFT * JOINT_SPEED * sim.dt + 2 * SLACK:
            out["jumped"].append(f"at {sim.time:.3f} s by {jump:.2e} rad")

    def _compare_energy(self, expected: Any) -> None:
        """Energy after a step that would have ended at q = ``expected`` without an overlap."""
        sim, out, weight, now = self.sim, self.out, GRAVITY * self.mass, self.sim.energy
        self.lift += lift(sim, expected)
        lifted = max(self.lift, weight * self.depth)
        if self.depth > REPORTED_OVERLAP_M:
            out["lift"] = max(out["lift"], self.lift / (weight * self.depth))
        gain = now.total - self.start.total - lifted
        out["gain"] = max(out["gain"], gain / weight)
        if gain > MAX_ENERGY_GAIN * weight:
            out["gained"].append(f"at {sim.time:.3f} s {gain:.2e} J of {weight:.1f} J")
        self.highest = max(self.highest, now.potential)
        fast = (
            now.kinetic
            - (self.highest + lifted - now.potential)
            - 0.5 * self.mass * PARTING_SPEED**2
        )
        if fast > 0.0:
            out["fast"].append(f"at {sim.time:.3f} s {fast:.2e} J above")
