"""Follows a run of ``tabi run``: falls, walks, errors, and where bodies ended."""

from __future__ import annotations

import time as clock
from typing import TYPE_CHECKING, Any

from tabi.runs.summary import Summary

if TYPE_CHECKING:
    from tabi.model.robot import Robot
    from tabi.model.world import World
    from tabi.scenes import Scene
    from tabi.simulation.simulator import Simulator

# of the looks, one in so many is at the certificate
JUDGED = 5
# bodies whose places are reported at the end, at most
MAX_PLACES = 12

Moment = tuple[float, float]


def watched(scene: Scene, world: World) -> dict[str, Any]:
    """Bodies whose places are told at the end, by name."""
    from tabi.scenes.equipment import body_of

    asked: dict[str, Any] = {name: body_of(world, name) for name in scene.contents.watch}
    found = asked or {robot.name: robot.base for robot in world.robots} | {
        body.name: body for body in world.objects
    }
    return dict(list(found.items())[:MAX_PLACES])


def _notes(world: World) -> list[str]:
    """What a result depends on and its scene does not say."""
    found = []
    for robot in world.robots:
        found += [f"{robot.name}: {note}" for note in robot.notes if note.startswith("stand-in")]
        if not any(body.collision_shapes() for body in robot.bodies):
            found.append(
                f"{robot.name}: it has no shape, so nothing can touch it; "
                "see `tabi info` for what its file lacks"
            )
    return found


def watches(sim: Simulator) -> tuple[Any, ...]:
    """Those who follow robots that walk, from now on."""
    from tabi.analysis.impact_measures import ImpactWatch
    from tabi.analysis.steered_measures import SteeredWatch
    from tabi.analysis.walk_measures import WalkWatch

    return WalkWatch(sim), SteeredWatch(sim), ImpactWatch(sim)


class RunWatch:
    """Keeps the summary of a run up to date."""

    def __init__(self, scene: Scene, sim: Simulator, found: Summary) -> None:
        self.scene, self.sim, self.found = scene, sim, found
        self.started: float | None = None
        self.looks = 0
        self.floating = [r for r in sim.world.robots if r.base.joint.kind == "floating"]
        self.margins = {r.name: (sim.time, sim.fall_margin(r)) for r in self.floating}
        found.robots, found.tolerance = tuple(self.margins), sim.tolerance
        found.notes = tuple(_notes(sim.world))
        self.walks = watches(sim)

    @property
    def factor(self) -> float:
        """Simulated seconds per second of the clock."""
        wall = clock.monotonic() - (self.started or clock.monotonic())
        return (self.sim.time - self.sim.dt) / wall if wall > 0 else 0.0

    def look(self) -> None:
        """Falls and the certificate of this moment."""
        self.started = self.started or clock.monotonic()
        # matrices of their own take as long as many steps
        self.looks, found = self.looks + 1, self.found
        if self.looks % JUDGED == 1:
            found.force_residual = max(found.force_residual, self.sim.certificate.force_residual)
        for robot in self.floating:
            if robot.name not in found.fallen:
                self._watch_base(robot)

    def _watch_base(self, robot: Robot) -> None:
        """Note when a robot falls, between this look and the one before."""
        before, now = self.margins[robot.name], (self.sim.time, self.sim.fall_margin(robot))
        self.margins[robot.name] = now
        if now[1] < 0:
            self.found.fallen[robot.name] = round(crossing(before, now), 3)

    def finish(self) -> None:
        """What is known at the end."""
        found, sim, c = self.found, self.sim, self.sim.certificate
        found.wall = clock.monotonic() - (self.started or clock.monotonic())
        found.factor = self.factor
        found.time, found.steps = round(sim.time, 9), round(sim.time / sim.dt)
        found.residual, found.joint_residual = c.worst_residual, c.worst_joint_residual
        found.penetration = c.worst_penetration
        found.missed, found.contacts = c.missed, c.contacts
        found.unresolved = sim.unresolved_count
        found.reproducible = sim.reproducible
        for watch in self.walks:
            for name, walk in watch.measured(found.fallen).items():
                found.walks[name] = found.walks.get(name, {}) | walk.to_dict()
        found.places = {
            name: [float(x) for x in sim.position(body)]
            for name, body in watched(self.scene, sim.world).items()
        }


def crossing(before: Moment, now: Moment) -> float:
    """When the line through two moments, each a time [s] and a margin, is at zero [s]; the first of
    them where it is there already.
    """
    (t0, m0), (t1, m1) = before, now
    return t0 + (t1 - t0) * m0 / (m0 - m1) if m0 > 0.0 else t0
