"""The referee: one scene by tabi and by another engine, with the same motors, commands and pushes,
looked at in the same times.

Each engine runs by itself from the same start: its controllers see its own measurements. They take
turns, so that what disturbs the clock disturbs both, and an interrupted comparison is one of the
time that both have reached. What the other engine cannot express is refused where it would be
another scene, and noted where it is a detail.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, TabiError, unknown
from tabi.lab.referee import figures
from tabi.lab.referee.engines import MuJoCo, Tabi
from tabi.lab.referee.pinocchio import Pinocchio, check
from tabi.lab.referee.track import Engine, Track, Watched, watched
from tabi.model.pad import Pad
from tabi.model.world import World
from tabi.scenes import Scene
from tabi.scenes.builder import body_of
from tabi.scenes.keys.things import Compound
from tabi.simulation.simulator import Simulator

# by the words of the command line, which are their packages' too
REFEREES: dict[str, type[MuJoCo] | type[Pinocchio]] = {"mujoco": MuJoCo, "pinocchio": Pinocchio}
# steps that an engine does before it is the other's turn
TURN = 50
# maximum number of settings named in a sentence
MAX_SETTINGS = 6
# of a surface, what a referee does not know, in words; restitution first: its scenes are about it
LAWS = {
    "restitution": "restitution",
    "static_friction": "static friction",
    "torsional_friction_m": "torsional friction",
    "rolling_friction_m": "rolling friction",
    "viscous_friction_s_m": "viscous friction",
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Measurements of a comparison.

    Attributes:
        result: figures by names with their units, plain data.
        columns: by engine what ``Track`` has, rows in common.
        time: of the rows [s].
        watched: what was looked at.
    """

    result: dict[str, Any]
    columns: dict[str, dict[str, NDArray[np.float64]]]
    time: NDArray[np.float64]
    watched: Watched


def measure(
    scene: Scene, referee: str = "mujoco", look: Callable[[float], bool] | None = None
) -> Comparison:
    """Run a scene in both engines.

    Args:
        referee: which one, by a name of REFEREES.
        look: called now and then with the time both have reached [s]; true ends the comparison.
    """
    make = _engine_class(scene, referee)
    ours = Tabi(scene)
    see = watched(ours.sim, _bodies(scene, ours.sim.world))
    about = {"scene": scene.name, "title": scene.title, "settings": list(scene.settings)}
    return _compared((ours, make(scene)), see, scene.duration, about, look)


def measure_controllers(
    make: Callable[[], Simulator],
    duration: float,
    title: str = "a world made in Python",
    look: Callable[[float], bool] | None = None,
) -> Comparison:
    """Run a world with controllers of your own in tabi and in MuJoCo's copy of it.

    Controllers see joints, sensors and, where they asked for it, the truth of their own engine, at
    their own rates.

    Args:
        make: makes the world, a simulator of it (contact "coulomb") and sets its controllers;
            called once for each engine, so that controllers that remember something do not share
            it.
        duration: [s].
        title: what it is, for the report.
        look: as of ``measure``.
    """
    _installed(MuJoCo, "mujoco")
    ours, theirs = Tabi(make()), make()
    for sentence in world_obstacles(ours.sim, MuJoCo.name):
        raise ModelError(sentence)
    world = ours.sim.world
    bodies = {robot.name: robot.base for robot in world.robots}
    see = watched(ours.sim, bodies | {body.name: body for body in world.objects})
    about = {"scene": "mine", "title": title, "settings": []}
    return _compared((ours, MuJoCo(theirs)), see, duration, about, look)


def _compared(
    engines: tuple[Tabi, Engine],
    see: Watched,
    duration: float,
    about: dict[str, Any],
    look: Callable[[float], bool] | None,
) -> Comparison:
    """Both engines run, and their figures."""
    ours, dt = engines[0], engines[0].sim.dt
    runs = [(engine, Track(see)) for engine in engines]
    fault, interrupted = _march(runs, round(duration / dt), dt, look)
    columns = {engine.name: track.columns() for engine, track in runs}
    rows = min(len(track["energy"]) for track in columns.values())
    columns = {
        name: {key: column[:rows] for key, column in track.items()}
        for name, track in columns.items()
    }
    time = dt * np.arange(rows, dtype=np.float64)
    _details(ours, engines[1])
    about |= {"step_s": dt, "time_s": round(float(time[-1]), 9), "steps": rows - 1}
    about |= {"interrupted": interrupted, "fault": fault, "weight_n": _weight(see)}
    result = figures.figures(about, _engine_facts(list(engines)), columns, time, see)
    return Comparison(result, columns, time, see)


def _engine_class(scene: Scene, referee: str) -> type[MuJoCo] | type[Pinocchio]:
    """The engine of a name; refused where it is unknown, not installed, or cannot do the scene."""
    if referee not in REFEREES:
        raise unknown("referee", referee, "tabi", list(REFEREES))
    make = REFEREES[referee]
    _installed(make, referee)
    if make is Pinocchio:
        check(scene)
    for sentence in obstacles(scene, make.name):
        raise ModelError(sentence)
    return make


def _installed(make: type[MuJoCo] | type[Pinocchio], package: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise ModelError(
            f"{make.name} is not installed, so there is nothing to compare with; install it with: "
            'pip install "tabi[referee]"'
        )


def _bodies(scene: Scene, world: World) -> dict[str, Any]:
    """Return the bodies that a scene watches by name; default: bases of robots, and objects."""
    bodies: dict[str, Any] = {name: body_of(world, name) for name in scene.contents.watch}
    if bodies:
        return bodies
    return {robot.name: robot.base for robot in world.robots} | {
        body.name: body for body in world.objects
    }


def _engine_facts(engines: list[Engine]) -> dict[str, dict[str, Any]]:
    """Return version, settings and notes of each engine."""
    facts: dict[str, dict[str, Any]] = {
        engine.name: {"version": engine.version, "settings": engine.settings, "notes": engine.notes}
        for engine in engines
    }
    for engine in engines:
        facts[engine.name]["microseconds_per_step"] = (
            round(1e6 * float(np.median(engine.seconds)), 2) if engine.seconds else None
        )
    return facts


def _march(
    runs: list[tuple[Engine, Track]], steps: int, dt: float, look: Callable[[float], bool] | None
) -> tuple[str | None, bool]:
    """Make all steps of all engines in turn. Return the message of an engine that failed, or None,
    and whether the user ended the run.
    """
    for engine, track in runs:
        track.add(engine.row())
    done = 0
    try:
        while done < steps:
            count = min(TURN, steps - done)
            for engine, track in runs:
                for _ in range(count):
                    engine.step()
                    track.add(engine.row())
            done += count
            if look is not None and look(done * dt) and done < steps:
                return None, True
    except TabiError as error:
        return str(error), False
    except KeyboardInterrupt:
        return None, True
    return None, False


def _details(ours: Tabi, theirs: Engine) -> None:
    """Note the differences between the engines that mattered in this run."""
    hasty = [ours.sim.model.dof_name(int(k)) for k in np.flatnonzero(ours.hasty)]
    if hasty:
        joints = ", ".join(hasty[:MAX_SETTINGS]) + (
            f" and {len(hasty) - MAX_SETTINGS} more" if len(hasty) > MAX_SETTINGS else ""
        )
        theirs.notes.append(
            f"top speeds of joints are missing, and in tabi these reach theirs: {joints}"
        )
    if ours.sim.missed_count:
        ours.notes.append(f"{ours.sim.missed_count} steps did not converge")


def _weight(see: Watched) -> float:
    """Return the weight of everything that moves [N]."""
    return float(see.world.body["mass"][1:].sum() * np.linalg.norm(see.world.gravity))


# ---- what cannot be compared --------------------------------------------------------------------


def obstacles(scene: Scene, name: str) -> Iterator[str]:
    """Yield why a scene would be another one in the engine of that name, one sentence each."""
    prefix, contents = f"scene {scene.name!r} uses", scene.contents
    if contents.simulation.contact != "coulomb":
        yield (
            f"{prefix} contact: {contents.simulation.contact}, which {name} does not know; "
            "compare it with --set simulation.contact=coulomb"
        )
    yield from _laws(scene, prefix, name)
    belts = [
        f"fixed.{i}.surface_velocity_m_s"
        for i, thing in enumerate(contents.fixed)
        if any(thing.surface_velocity_m_s)
    ]
    if belts:
        yield (
            f"{prefix} a moving surface, which is not carried over to {name}; without it, "
            f"it can be compared: {_off(belts, '[0,0,0]')}"
        )
    if scene.script:
        yield (
            f"{prefix} a hand that plays, which is not carried over to {name}; without it, "
            "it can be compared: --set hand=null"
        )
    soft = [f"robots.{i}.soles" for i, robot in enumerate(contents.robots) if robot.soles]
    if soft:
        yield (
            f"{prefix} soft soles, which are not carried over to {name}; without them, "
            f"it can be compared: {_off(soft, 'null')}"
        )
    pads = [f"robots.{i}.pads" for i, robot in enumerate(contents.robots) if robot.pads]
    pads += [f"objects.{i}.pads" for i, thing in enumerate(contents.objects) if thing.pads]
    if pads:
        yield (
            f"{prefix} soft pads, which are not carried over to {name}; without them, "
            f"it can be compared: {_off(pads, '[]')}"
        )
    steered = [
        f"robots.{i}.motion.steer"
        for i, robot in enumerate(contents.robots)
        if getattr(robot.motion, "steer", ())
    ]
    if steered:
        yield (
            f"{prefix} steering at given times, which is not carried over to {name}; without it, "
            f"it can be compared: {_off(steered, '[]')}"
        )


def _laws(scene: Scene, prefix: str, name: str) -> Iterator[str]:
    """Laws of surfaces that the engine does not know."""
    surfaces = list(_surfaces(scene))
    for key, words in LAWS.items():
        paths = [f"{path}.{key}" for path, surface in surfaces if getattr(surface, key)]
        if paths:
            off = _off(paths, "null" if key == "static_friction" else "0")
            yield (
                f"{prefix} {words}, which is not carried over to {name}; without it, "
                f"it can be compared: {off}"
            )


def world_obstacles(sim: Simulator, name: str) -> Iterator[str]:
    """Yield why a world made in Python would be another one in the engine of that name."""
    pairs, now, made = sim.model.pairs, sim.model.arrays, sim.world.compile().arrays
    for table in ("body", "dof"):
        ours, theirs = getattr(now, table), getattr(made, table)
        for key in ours.dtype.names or ():
            if ours.shape != theirs.shape or ours[key].tobytes() != theirs[key].tobytes():
                yield (
                    f"{key} in the simulator's model is not what its world says, of which {name} "
                    f"has a copy; change the robot before the simulator is made"
                )
    for key in ("restitution", "torsional_friction", "rolling_friction", "viscous_friction"):
        if pairs[key].any():
            words = key.replace("_", " ")
            yield f"the world uses {words}, which is not carried over to {name}; leave it out"
    if (pairs["static_friction"] != pairs["friction"]).any():
        yield f"the world uses static friction, which is not carried over to {name}; leave it out"
    for shape in sim.model.shapes:
        if isinstance(shape.geometry, Pad):
            yield f"{shape.link!r} has a soft pad, not carried over to {name}; leave it out"
        if np.any(shape.surface_velocity):
            yield f"{shape.link!r} has a moving surface, which is not carried over to {name}"


def _off(paths: list[str], nothing: str) -> str:
    """Settings that take something out of a scene."""
    rest = f" and {len(paths) - MAX_SETTINGS} more" if len(paths) > MAX_SETTINGS else ""
    return " ".join(f"--set {path}={nothing}" for path in paths[:MAX_SETTINGS]) + rest


def _surfaces(scene: Scene) -> Iterator[tuple[str, Any]]:
    """Yield everything with friction or restitution, by the paths of ``--set``."""
    c = scene.contents
    if c.ground is not None:
        yield "ground", c.ground
    yield from ((f"materials.{name}", surface) for name, surface in c.materials.items())
    for key in ("pairs", "fixed", "objects"):
        for i, thing in enumerate(getattr(c, key)):
            yield f"{key}.{i}", thing
            if isinstance(thing, Compound):
                yield from ((f"{key}.{i}.parts.{k}", part) for k, part in enumerate(thing.parts))
