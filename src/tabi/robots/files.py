"""Robots from files, ready to stand: with feet, with gains, and without links that jam.

Files leave out what a simulation needs, and say what it cannot use: URDFs have no gains, and links
of many robots overlap where they are joined. What is added or taken away is the same on every road
to a robot (``tabi.load``, ``World.add_robot``, scene files, the command line), has a note in the
robot's report and a switch, and is reported by one warning.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from tabi import collision
from tabi._errors import ModelError, expect, near, nearest, unknown, users_level
from tabi.formats import load as reader
from tabi.model.joint import Motor
from tabi.model.report import suspicious_values
from tabi.model.robot import Robot, SoftGainsWarning
from tabi.robots import gains as made_up
from tabi.robots import known
from tabi.robots import shapes as shapes_of
from tabi.robots.compound_joints import pairs_across

# links nearer than this where nothing moves yet are made to overlap, or to touch [m]
MAX_GAP_M = 1e-3
_GAINS = "expected True, False, (kp, kd), or {joint: (kp, kd)} in N·m/rad and N·m·s/rad"


class RobotFileWarning(UserWarning):
    """Warning that something missing in a robot's file was made up, or something was removed."""


@contextmanager
def quietly() -> Iterator[None]:
    """Without the warnings, where notes of the robot are shown anyway."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotFileWarning)
        warnings.simplefilter("ignore", SoftGainsWarning)
        yield


def load(
    path: str | Path,
    feet: Mapping[str, str | Mapping[str, Any]] | None = None,
    base: str | None = None,
    name: str | None = None,
    srdf: str | Path | bool = True,
    gains: bool | tuple[float, float] | Mapping[str, tuple[float, float]] | None = None,
    self_collision: bool | None = None,
    stand_ins: bool = False,
    **shapes: Unpack[shapes_of.ShapeKeys],
) -> Robot:
    """Load a robot from a URDF, MJCF, OpenHRP or Choreonoid file. Example: docs/your_robot.md.

    Args:
        path: the file.
        feet: by name, the body, or ``{"body": …, "polygon": [[x, y], …], "position": [x, y, z]}``
            in metres in the body's frame, with a ``"quaternion"`` (w, x, y, z) where the body's z
            axis is not up into the leg; without it they are looked for by the names and then by the
            shapes of the bodies.
        base: ``"floating"`` or ``"fixed"``; by default what the file says.
        name: the robot's name, if not the file's.
        srdf: a file with pairs that never collide and poses; by default, of a URDF file, the one of
            its name beside it or in ../srdf, if there is one; False for none.
        gains: ``(kp, kd)`` or ``{joint: (kp, kd)}`` in place of the file's, True for those of
            ``robots.gains`` where it has none, False for none; by default True if no motor has any.
        self_collision: True to keep all pairs of links that could touch, False for none; by default
            without pairs across hinges whose axes meet (``robots.compound_joints``), and without
            those that overlap in the neutral or the half-sitting pose.
        stand_ins: whether to give a robot that tabi knows the soles that its file leaves out
            (see ``robots.known``).
        collision: ``"file"`` for what the file lets collide; ``"visual"`` to let links without a
            colliding shape collide as they look; ``"decomposed"`` to cut colliding meshes into
            convex pieces, by the package coacd.
        hull_tolerance, sole_tolerance: how far surfaces of convex hulls and outlines of soles may
            move inwards where fewer vertices take their place, default: 1 mm [m]; 0 keeps all.
        max_points: most vertices of each hull of a body without a foot; None for any number.
    """
    how = _settings(path, shapes)
    robot = _with_mass(reader.load(path, feet, base, name, srdf, how.collision))
    if stand_ins:
        known.complete(robot)
    seen = (note for note in robot.notes if note.startswith("feet found by shape"))
    notes = [*suspicious_values.doubts(robot), *seen]
    notes += shapes_of.prepare(robot, how)
    notes += _give_gains(robot, gains)
    notes += _exclude_links(robot, self_collision)
    if notes:
        message = f"{robot.name}, from {Path(path).name}: {'; '.join(notes)}"
        warnings.warn(message, RobotFileWarning, stacklevel=users_level())
    return robot


def _with_mass(robot: Robot) -> Robot:
    """The robot; refused if it moves and has no mass at all."""
    if robot.mass <= 0 and any(body.joint.v_count for body in robot.bodies):
        raise ModelError(
            f"robot {robot.name!r} has no mass: none of its {len(robot.bodies)} links has any; "
            f"expected kilograms, and an inertia, of every link that moves: add them to the file",
            robot.file,
        )
    return robot


def _settings(path: Any, keywords: Mapping[str, Any]) -> shapes_of.Settings:
    """Return the settings of ``load`` for shapes; refuse keywords that it does not have."""
    _check_built_in(path)
    known = [*shapes_of.ShapeKeys.__annotations__]
    every = [*inspect.signature(load).parameters][:-1] + known
    for word in keywords:
        if word not in known:
            choices = near(word, every) or f"; expected some of {', '.join(every)}"
            raise ModelError(f"tabi.load has no keyword {word!r}{choices}")
    return shapes_of.Settings(**keywords)


def _check_built_in(path: Any) -> None:
    """Refuse the name of a built-in robot, which is no file."""
    from tabi import robots

    if not isinstance(path, (str, Path)) or Path(path).suffix or Path(path).exists():
        return
    if close := nearest(str(path), robots.__all__, 1, 0.6):
        raise ModelError(
            f"robot {str(path)!r} is no file; the robot {close[0]} is built in: "
            f"tabi.robots.{close[0]}(), others are read from the path of their file"
        )


# ---- gains --------------------------------------------------------------------------------------


def _give_gains(robot: Robot, gains: Any) -> list[str]:
    """Set gains of the motors; return notes to report."""
    if gains is False or (gains is None and not made_up.is_limp(robot)):
        return []
    if gains is None or gains is True:
        made_up.give(robot)
        robot.notes.append(f"stand-in: gains of its motors are tabi's: {made_up.FORMULA}")
        note = "its motors have no gains, so some were made up"
        return [f"{note} ({made_up.FORMULA}; gains=False for none)"] if gains is None else []
    if isinstance(gains, Mapping):
        pairs = {name: _pair(f"gains of {name!r}", pair) for name, pair in gains.items()}
        _check_driven(robot, pairs)
    else:
        pair = _pair("gains", gains)
        pairs = {joint.name: pair for joint in made_up.driven_joints(robot)}
    _set_gains(robot, pairs)
    return []


def _check_driven(robot: Robot, names: Iterable[str]) -> None:
    """Refuse gains for joints that no motor can hold."""
    holdable = {joint.name: joint for joint in made_up.holdable_joints(robot)}
    every = {body.joint.name: body.joint for body in robot.bodies}
    for name in names:
        if name in holdable:
            continue
        if name not in every:
            missing = unknown("joint", name, robot.name, holdable)
            raise ModelError(
                f"gains are given for a joint that is not there: {missing}", robot.file
            )
        joint = every[name]
        why = (
            f"follows joint {joint.mimic.leader!r}, whose motor moves both"
            if joint.mimic
            else "is passive"
            if joint.passive
            else f"is {joint.kind}"
        )
        raise ModelError(
            f"gains are given for joint {name!r} of {robot.name}, which {why}; expected joints "
            f"with a motor of their own: leave it out",
            robot.file,
        )


def _set_gains(robot: Robot, pairs: Mapping[str, tuple[float, float]]) -> None:
    """The caller's gains, before those of the file, with a note of which these were."""
    replaced = []
    for name, (kp, kd) in pairs.items():
        joint = robot.joint(name)
        motor = joint.motor or Motor()
        if motor.kp > 0 or motor.kd > 0:
            replaced.append(f"{name!r} {motor.kp:g}, {motor.kd:g}")
        joint.motor = replace(motor, kp=kp, kd=kd)
    if replaced:
        extra = f" and {len(replaced) - 4} more" if len(replaced) > 4 else ""
        robot.notes.append(
            f"gains of {len(replaced)} motors are the caller's, not the file's (kp, kd there: "
            f"{'; '.join(replaced[:4])}{extra})"
        )


def _pair(what: str, value: Any) -> tuple[float, float]:
    try:
        kp, kd = (float(x) for x in value)
        if 0 <= kp < float("inf") and 0 <= kd < float("inf"):
            return kp, kd
    except (TypeError, ValueError):
        pass
    raise ModelError(f"{what} are {value!r}; {_GAINS}, none of them negative")


# ---- links that overlap -------------------------------------------------------------------------


def _exclude_links(robot: Robot, self_collision: bool | None) -> list[str]:
    """Exclude links that jam from collisions; return notes to report."""
    expect("self_collision", self_collision, bool | None, "True, False, or None for the default")
    if self_collision is True:
        return []
    if self_collision is False:
        names = [body.name for body in robot.bodies]
        robot.excluded |= {frozenset((a, b)) for a in names for b in names if a < b}
        robot.notes.append("its links never collide with each other (self_collision=False)")
        return []
    notes = exclude_near(robot)
    return [f"{'; '.join(notes)} (self_collision=True keeps them)"] if notes else []


def exclude_near(robot: Robot) -> list[str]:
    """Pairs of links that would be jammed never collide from now on: across hinges that are one
    joint, and those that overlap in the robot's poses, or nearly so. Returns what notes say of it.
    """
    notes = []
    shown = {body.name for body in robot.bodies if body.collision_shapes()}
    for pairs, why in (
        (pairs_across(robot), "are across two or three hinges whose axes meet, one joint,"),
        (overlaps(robot), "overlap or touch in its poses"),
    ):
        new = {pair for pair in pairs if pair <= shown} - robot.excluded
        if new:
            robot.excluded |= new
            names = ", ".join(sorted(" and ".join(sorted(pair)) for pair in new)[:4])
            notes.append(f"{len(new)} pairs of links {why} and never collide")
            robot.notes.append(f"stand-in: {notes[-1]}: {names}{' …' if len(new) > 4 else ''}")
    return notes


def overlaps(robot: Robot) -> set[frozenset[str]]:
    """Pairs of links that overlap, or nearly so, with the joints where they are, at zero, or
    half-sitting.
    """
    pairs: set[frozenset[str]] = set()
    if sum(bool(body.collision_shapes()) for body in robot.bodies) < 2:
        return pairs
    poses = []
    for pose in (None, {}, "half_sitting"):
        posed = robot.copied()
        with suppress(ModelError):
            if pose is not None:
                posed.set_pose(pose)
            poses.append(posed.compile())
    with suppress(ModelError):
        for model in poses:
            # the first one for all, because its tables of faces take the longest to make
            near = collision.contacts(poses[0], model.initial(), band=MAX_GAP_M)
            pairs |= {frozenset((c.link_a, c.link_b)) for c in near}
    return {pair for pair in pairs if len(pair) == 2}
