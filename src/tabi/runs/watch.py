"""Monitor of a run of ``tabi run``: falls, walks, errors, and where bodies ended."""

from __future__ import annotations

import time as clock
from typing import TYPE_CHECKING, Any

from tabi.runs.summary import Summary

if TYPE_CHECKING:
    from tabi.model.robot import Robot
    from tabi.model.world import World
    from tabi.scenes import Scene
    from tabi.simulation.simulator import Simulator

# every so many looks the certificate is read
CERTIFICATE_PERIOD_LOOKS = 5
# bodies whose places are reported at the end, at most
MAX_PLACES = 12

Moment = tuple[float, float]


def watched(scene: Scene, world: World) -> dict[str, Any]:
    """Return the bodies whose places are reported at the end, by name."""
    from tabi.scenes.equipment import body_of

    requested: dict[str, Any] = {name: body_of(world, name) for name in scene.contents.watch}
    bodies = requested or {robot.name: robot.base for robot in world.robots} | {
        body.name: body for body in world.objects
    }
    return dict(list(bodies.items())[:MAX_PLACES])


def _notes(world: World) -> list[str]:
    """Return notes on what a result depends on beside its scene."""
    notes = []
    for robot in world.robots:
        notes += [f"{robot.name}: {note}" for note in robot.notes if note.startswith("stand-in")]
        if not any(body.collision_shapes() for body in robot.bodies):
            notes.append(
                f"{robot.name}: it has no shape, so nothing can touch it; "
                "see `tabi info` for what its file lacks"
            )
    return notes


def walk_monitors(sim: Simulator) -> tuple[Any, ...]:
    """Create the monitors of robots that walk, from now on."""
    from tabi.analysis.impact_measures import ImpactWatch
    from tabi.analysis.steered_measures import SteeredWatch
    from tabi.analysis.walk_measures import WalkWatch

    return WalkWatch(sim), SteeredWatch(sim), ImpactWatch(sim)


class RunWatch:
    """Monitor that keeps the summary of a run up to date."""

    def __init__(self, scene: Scene, sim: Simulator, summary: Summary) -> None:
        self.scene, self.sim, self.summary = scene, sim, summary
        self.started: float | None = None
        self.looks = 0
        self.floating = [r for r in sim.world.robots if r.base.joint.kind == "floating"]
        self.margins = {r.name: (sim.time, sim.fall_margin(r)) for r in self.floating}
        summary.robots, summary.tolerance = tuple(self.margins), sim.tolerance
        summary.notes = tuple(_notes(sim.world))
        self.walks = walk_monitors(sim)

    @property
    def factor(self) -> float:
        """Simulated seconds per second of the clock."""
        wall = clock.monotonic() - (self.started or clock.monotonic())
        return (self.sim.time - self.sim.dt) / wall if wall > 0 else 0.0

    def look(self) -> None:
        """Falls and the certificate of this moment."""
        self.started = self.started or clock.monotonic()
        # matrices of their own take as long as many steps
        self.looks, summary = self.looks + 1, self.summary
        if self.looks % CERTIFICATE_PERIOD_LOOKS == 1:
            summary.force_residual = max(
                summary.force_residual, self.sim.certificate.force_residual
            )
        for robot in self.floating:
            if robot.name not in summary.fallen:
                self._watch_base(robot)

    def _watch_base(self, robot: Robot) -> None:
        """Note when a robot falls, between this look and the one before."""
        before, now = self.margins[robot.name], (self.sim.time, self.sim.fall_margin(robot))
        self.margins[robot.name] = now
        if now[1] < 0:
            self.summary.fallen[robot.name] = round(crossing(before, now), 3)

    def finish(self) -> None:
        """Complete the summary at the end."""
        summary, sim, c = self.summary, self.sim, self.sim.certificate
        summary.wall = clock.monotonic() - (self.started or clock.monotonic())
        summary.factor = self.factor
        summary.time, summary.steps = round(sim.time, 9), round(sim.time / sim.dt)
        summary.residual, summary.joint_residual = c.worst_residual, c.worst_joint_residual
        summary.penetration = c.worst_penetration
        summary.missed, summary.contacts = c.missed, c.contacts
        summary.unresolved = sim.unresolved_count
        summary.reproducible = sim.reproducible
        for watch in self.walks:
            for name, walk in watch.measured(summary.fallen).items():
                summary.walks[name] = summary.walks.get(name, {}) | walk.to_dict()
        summary.places = {
            name: [float(x) for x in sim.position(body)]
            for name, body in watched(self.scene, sim.world).items()
        }


def crossing(before: Moment, now: Moment) -> float:
    """Return the time at which the line through two moments, each a time [s] and a margin, is zero
    [s]; that of the first one where its margin is not positive.
    """
    (t0, m0), (t1, m1) = before, now
    return t0 + (t1 - t0) * m0 / (m0 - m1) if m0 > 0.0 else t0
