"""Impacts of a robot's feet and inclination of its waist: the measures by which soles are selected.

With v the vertical velocity of a foot's plate, where its frame has its origin, after each step h,

    a_k = (v_k − v_{k−1})/h                                                                     (1)
is smoothed over the whole walk by a Butterworth low-pass of second order at 250 Hz, run forwards
and backwards, so without delay. An impact of rigid feet is a jump of v in one step: (1) alone would
grow as 1/h, its smoothed peak does not. A touchdown is the first step with a load after 50 ms
without one; its impact is

    max |a| over the 50 ms from the touchdown on                                                (2)

The waist's rotation R against its own axes R_0 as the robot stands facing along x is taken apart as

    R R_0ᵀ = R_z(ψ) R_y(θ) R_x(φ)                                                               (3)
The trunk of a walking pattern is upright at all times and turns by ψ alone, so its roll φ and pitch
θ are the inclination against the reference; ψ, in which a robot that slips drifts away, is no part
of it.

Reference: Chardonnet et al. (2008), Interactive dynamic simulator for humanoid robots with
deformable soles, sec. 5 and Fig. 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.analysis.walk_measures import walkers
from tabi.control.filters import zero_phase
from tabi.model.lookup import link_of
from tabi.recording.foot_words import NONE
from tabi.simulation.simulator import Simulator
from tabi.step.data import Data
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.walker import Walker

Array = NDArray[np.float64]
# of the low-pass [Hz]; how long after a touchdown is looked, and before it was no load [s]
ORDER, CUTOFF, WINDOW, AIR = 2, 250.0, 0.05, 0.05
# steps that are kept before they are worked on
BLOCK = 1000
# changes of feet: time, foot, state before, state after
Events = Sequence[tuple[float, int, int, int]]


@dataclass(frozen=True)
class ImpactMeasures:
    """Impacts and inclination of a walk.

    Attributes:
        touchdowns: how many were judged.
        impact_m_s2, median_impact_m_s2: (2), the largest and the median of them; None without one,
            and with steps too long for the low-pass.
        roll_deg, pitch_deg: largest |φ| and |θ| of (3). inclination_deg: the larger of the two.
    """

    touchdowns: int
    impact_m_s2: float | None
    median_impact_m_s2: float | None
    roll_deg: float
    pitch_deg: float
    inclination_deg: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


def touchdowns(events: Events, foot: int, until: float = np.inf) -> list[float]:
    """Return the times at which a foot lands after it was in the air [s].

    Args:
        events: changes of all feet since the start, where they have no load.
    """
    landings, since = [], 0.0
    for time, k, before, after in events:
        if k != foot or time > until:
            continue
        if before == NONE and after != NONE and time - since >= AIR:
            landings.append(time)
        if after == NONE:
            since = time
    return landings


def smoothed(velocity: Array, dt: float) -> Array | None:
    """(1) after the low-pass, from velocities after each step, the start first, shape (n + 1, …);
    None where steps are too long for it.
    """
    if len(velocity) < 3 or 0.5 / dt <= CUTOFF:
        return None
    return zero_phase(np.diff(velocity, axis=0) / dt, CUTOFF, 1.0 / dt, ORDER)


def peaks(acceleration: Array, dt: float, times: Sequence[float]) -> list[float]:
    """(2) of each touchdown of a foot, from its smoothed acceleration in the steps that end at
    dt, 2 dt, …
    """
    first = [round(time / dt) - 1 for time in times]
    last = round(WINDOW / dt)
    return [
        float(np.abs(acceleration[k : k + last + 1]).max()) for k in first if k < len(acceleration)
    ]


def inclinations(turns: Array) -> Array:
    """|φ| and |θ| of (3) [rad], from R R_0ᵀ, shapes (n, 2) and (n, 3, 3)."""
    roll = np.arctan2(turns[:, 2, 1], turns[:, 2, 2])
    pitch = np.arcsin(np.clip(-turns[:, 2, 0], -1.0, 1.0))
    return np.abs(np.column_stack([roll, pitch]))


# ---- in a simulation ----------------------------------------------------------------------------


class ImpactWatch:
    """Follows feet and waists of all robots that walk by a pattern, in every step from now on.

    Args:
        sim: before its walks begin.
    """

    def __init__(self, sim: Simulator) -> None:
        self._walks = {name: _Track(sim, walker) for name, walker in walkers(sim).items()}

    def measured(self, fallen: Mapping[str, float]) -> dict[str, ImpactMeasures]:
        """So far, by robot, until it fell; ``fallen``: when robots fell [s]."""
        return {
            name: track.measured(fallen.get(name, np.inf)) for name, track in self._walks.items()
        }


class _Track:
    """Feet and waist of one robot. Rows of its bodies are copied in every step, and worked on
    many at a time.
    """

    def __init__(self, sim: Simulator, walker: Walker) -> None:
        self.sim, self.start, pattern = sim, sim.time, walker.pattern
        robot, self.upright = pattern.robot, pattern.biped.base_rotation
        links = [link_of(sim.world, sim.model, robot.feet[side]) for side in SIDES]
        names = list(sim.model.feet)
        self.feet = [names.index(link.name) for link in links]
        self.arms = [link.placement.p for link in links]
        base = link_of(sim.world, sim.model, robot.base)
        self.base_turn = base.placement.R
        self.rows = np.array([*(link.body for link in links), base.body])
        self.turn, self.place, self.twist = (np.empty((BLOCK, 3, k)) for k in (9, 3, 6))
        self.filled, self.left = 0, 1 + round(pattern.duration / sim.dt)
        self.velocity: list[Array] = []
        self.inclined: list[Array] = []
        self._look(sim.data)
        sim.every(1, self._look)

    def _look(self, data: Data) -> None:
        if self.left <= 0:
            return
        rows, k = data.body, self.filled
        self.turn[k] = rows["rotation"][self.rows]
        self.place[k] = rows["position"][self.rows]
        self.twist[k] = rows["velocity"][self.rows]
        self.filled, self.left = k + 1, self.left - 1
        if self.filled == BLOCK or self.left == 0:
            self._work()

    def _work(self) -> None:
        """Velocities and inclinations of what is kept."""
        n, self.filled = self.filled, 0
        if not n:
            return
        R = self.turn[:n].reshape(n, 3, 3, 3)
        vertical = []
        for i, arm in enumerate(self.arms):
            p, V = self.place[:n, i] + R[:, i] @ arm, self.twist[:n, i]
            # v_z of v_O + ω × p
            vertical.append(V[:, 5] + V[:, 0] * p[:, 1] - V[:, 1] * p[:, 0])
        self.velocity.append(np.column_stack(vertical))
        self.inclined.append(inclinations(R[:, 2] @ self.base_turn @ self.upright.T))

    def measured(self, fallen: float) -> ImpactMeasures:
        self._work()
        dt = self.sim.dt
        count = int(min((fallen - self.start) / dt, 1e9)) + 1
        velocity = np.concatenate(self.velocity)[:count]
        worst = np.degrees(np.concatenate(self.inclined)[:count].max(axis=0))
        acceleration, impacts = smoothed(velocity, dt), []
        if acceleration is not None:
            for i, foot in enumerate(self.feet):
                landed = touchdowns(self.sim.data.foot_events, foot, fallen)
                times = [time - self.start for time in landed if time > self.start]
                impacts += peaks(acceleration[:, i], dt, times)
        return ImpactMeasures(
            touchdowns=len(impacts),
            impact_m_s2=max(impacts) if impacts else None,
            median_impact_m_s2=float(np.median(impacts)) if impacts else None,
            roll_deg=float(worst[0]),
            pitch_deg=float(worst[1]),
            inclination_deg=float(worst.max()),
        )
