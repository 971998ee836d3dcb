"""The referee: one scene by tabi and by another engine, with the same motors, commands and pushes,
looked at in the same times.

Each engine runs by itself from the same start: its controllers see its own measurements. They take
turns, so that what disturbs the clock disturbs both, and an interrupted comparison is one of the
time that both have reached. What the other engine cannot express is refused where it would be
another scene, and told where it is a detail.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, TabiError, unknown
from tabi.model.world import World
from tabi.scenes import Scene
from tabi.scenes.builder import body_of
from tabi.scenes.things import Compound
from tabi.validation.referee import figures
from tabi.validation.referee.engines import MuJoCo, Tabi
from tabi.validation.referee.pinocchio import Pinocchio, check
from tabi.validation.referee.track import Engine, Track, Watched, watched

# by the words of the command line, which are their packages' too
REFEREES: dict[str, type[MuJoCo] | type[Pinocchio]] = {"mujoco": MuJoCo, "pinocchio": Pinocchio}
# steps that an engine does before it is the other's turn
TURN = 50
# settings named in a sentence, at most
MOST = 6
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
    """What was measured.

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
    make = _chosen(scene, referee)
    ours = Tabi(scene)
    sim = ours.sim
    see = watched(sim, _bodies(scene, sim.world))
    engines: list[Engine] = [ours, make(scene)]
    runs = [(engine, Track(see)) for engine in engines]
    fault, interrupted = _march(runs, round(scene.duration / sim.dt), sim.dt, look)
    columns = {engine.name: track.columns() for engine, track in runs}
    rows = min(len(track["energy"]) for track in columns.values())
    columns = {
        name: {key: column[:rows] for key, column in track.items()}
        for name, track in columns.items()
    }
    time = sim.dt * np.arange(rows, dtype=np.float64)
    _details(ours, engines[1])
    about = {
        "scene": scene.name,
        "title": scene.title,
        "settings": list(scene.settings),
        "step_s": sim.dt,
        "time_s": round(float(time[-1]), 9),
    }
    about |= {
        "steps": rows - 1,
        "interrupted": interrupted,
        "fault": fault,
        "weight_n": _weight(see),
    }
    result = figures.figures(about, _told(engines), columns, time, see)
    return Comparison(result, columns, time, see)


def _chosen(scene: Scene, referee: str) -> type[MuJoCo] | type[Pinocchio]:
    """The engine of a name; refused where it is unknown, not installed, or cannot do the scene."""
    if referee not in REFEREES:
        raise unknown("referee", referee, "tabi", list(REFEREES))
    make = REFEREES[referee]
    if importlib.util.find_spec(referee) is None:
        raise ModelError(
            f"{make.name} is not installed, so there is nothing to compare with; install it with: "
            'pip install "tabi[referee]"'
        )
    if make is Pinocchio:
        check(scene)
    for sentence in obstacles(scene, make.name):
        raise ModelError(sentence)
    return make


def _bodies(scene: Scene, world: World) -> dict[str, Any]:
    """What a scene tells to watch by name; bases of robots and objects where it tells nothing."""
    told: dict[str, Any] = {name: body_of(world, name) for name in scene.contents.watch}
    if told:
        return told
    return {robot.name: robot.base for robot in world.robots} | {
        body.name: body for body in world.objects
    }


def _told(engines: list[Engine]) -> dict[str, dict[str, Any]]:
    """What is known of each engine besides its run."""
    told: dict[str, dict[str, Any]] = {
        engine.name: {"version": engine.version, "settings": engine.settings, "notes": engine.said}
        for engine in engines
    }
    for engine in engines:
        told[engine.name]["microseconds_per_step"] = (
            round(1e6 * float(np.median(engine.seconds)), 2) if engine.seconds else None
        )
    return told


def _march(
    runs: list[tuple[Engine, Track]], steps: int, dt: float, look: Callable[[float], bool] | None
) -> tuple[str | None, bool]:
    """All steps by turns; the sentence of an engine that broke down,
    and whether somebody ended it.
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
    """What is not the same, as far as it mattered in this run."""
    hasty = [ours.sim.model.dof_name(int(k)) for k in np.flatnonzero(ours.hasty)]
    if hasty:
        joints = ", ".join(hasty[:MOST]) + (
            f" and {len(hasty) - MOST} more" if len(hasty) > MOST else ""
        )
        theirs.said.append(
            f"top speeds of joints are missing, and in tabi these reach theirs: {joints}"
        )
    if ours.sim.missed_count:
        ours.said.append(f"{ours.sim.missed_count} steps missed their tolerance")


def _weight(see: Watched) -> float:
    """Of all that moves [N]."""
    return float(see.world.body["mass"][1:].sum() * np.linalg.norm(see.world.gravity))


# ---- what cannot be compared --------------------------------------------------------------------


def obstacles(scene: Scene, name: str) -> Iterator[str]:
    """What makes a scene another one in the engine of that name, one sentence each."""
    told, contents = f"scene {scene.name!r} uses", scene.contents
    if contents.simulation.contact != "coulomb":
        yield (
            f"{told} contact: {contents.simulation.contact}, which {name} does not know; "
            "compare it with --set simulation.contact=coulomb"
        )
    surfaces = list(_surfaces(scene))
    for key, words in LAWS.items():
        own = [f"{path}.{key}" for path, surface in surfaces if getattr(surface, key)]
        if own:
            off = _off(own, "null" if key == "static_friction" else "0")
            yield (
                f"{told} {words}, which is not carried over to {name}; without it, "
                f"it can be compared: {off}"
            )
    belts = [
        f"fixed.{i}.surface_velocity_m_s"
        for i, thing in enumerate(contents.fixed)
        if any(thing.surface_velocity_m_s)
    ]
    if belts:
        yield (
            f"{told} a moving surface, which is not carried over to {name}; without it, "
            f"it can be compared: {_off(belts, '[0,0,0]')}"
        )


def _off(paths: list[str], nothing: str) -> str:
    """Settings that take something out of a scene."""
    more = f" and {len(paths) - MOST} more" if len(paths) > MOST else ""
    return " ".join(f"--set {path}={nothing}" for path in paths[:MOST]) + more


def _surfaces(scene: Scene) -> Iterator[tuple[str, Any]]:
    """All that says how it rubs and bounces, by the paths of ``--set``."""
    c = scene.contents
    if c.ground is not None:
        yield "ground", c.ground
    yield from ((f"materials.{name}", surface) for name, surface in c.materials.items())
    for key in ("pairs", "fixed", "objects"):
        for i, thing in enumerate(getattr(c, key)):
            yield f"{key}.{i}", thing
            if isinstance(thing, Compound):
                yield from ((f"{key}.{i}.parts.{k}", part) for k, part in enumerate(thing.parts))
