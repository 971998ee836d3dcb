"""Checks of a scene for things that contradict each other, which no single value shows.
Each check gives the path and the sentence of the first it finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import hypot
from typing import Any

from tabi._errors import ModelError, near
from tabi.model.controllers.rates import steps_between
from tabi.scenes.keys.contents import Contents
from tabi.scenes.keys.sensors import PlateKeys
from tabi.scenes.keys.things import COEFFICIENTS, Compound, FixedHeightField, Posed, Surface
from tabi.scenes.reader import Path

Fault = tuple[Path, str]
# steps of one run, and bodies of one world
MAX_STEPS, MAX_BODIES = 1_000_000_000, 2000


def faults(c: Contents) -> Iterator[Fault]:
    """All contradictions in a scene."""
    for check in (
        _surfaces,
        _places,
        _compounds,
        _names,
        _bodies,
        _bonds,
        _robots,
        _fields,
        _times,
        _rates,
        _plates,
        _patches,
        _camera,
        _hand,
    ):
        yield from check(c)


def _hand(c: Contents) -> Iterator[Fault]:
    if c.hand is not None and c.hand.plays and not c.hand.frames:
        yield (("hand", "plays"), "the hand plays, but has no frames; give them, or leave it out")


def _posed(c: Contents) -> Iterator[tuple[Path, Posed]]:
    """Yield everything that has a pose."""
    for key in ("fixed", "objects"):
        for i, thing in enumerate(getattr(c, key)):
            yield (key, i), thing
            if isinstance(thing, Compound):
                yield from (((key, i, "parts", k), part) for k, part in enumerate(thing.parts))


def _surfaces(c: Contents) -> Iterator[Fault]:
    plain: list[tuple[Path, Surface]] = [
        (("materials", name), surface) for name, surface in c.materials.items()
    ]
    plain += [(("ground",), c.ground)] if c.ground else []
    for path, surface in [*plain, *_posed(c)]:
        if surface.static_friction is not None and surface.static_friction < surface.friction:
            yield (
                (*path, "static_friction"),
                (
                    f"is {surface.static_friction:g}, and friction {surface.friction:g}; "
                    "expected a static one that is not the smaller"
                ),
            )
    for i, pair in enumerate(c.pairs):
        if pair.static_friction is not None and pair.static_friction < (pair.friction or 0.0):
            at = ("pairs", i, "static_friction")
            yield (
                at,
                (
                    f"is {pair.static_friction:g}, and friction {pair.friction:g}; "
                    "expected a static one that is not the smaller"
                ),
            )
    default = Surface()
    for path, thing in _posed(c):
        if thing.material is None:
            continue
        if thing.material not in c.materials:
            known = ", ".join(c.materials) or "none"
            yield (
                (*path, "material"),
                (
                    f"is {thing.material!r}, which is not among materials "
                    f"({known}){near(thing.material, c.materials)}"
                ),
            )
        for key in COEFFICIENTS:
            if getattr(thing, key) != getattr(default, key):
                yield (*path, key), f"is given beside material {thing.material!r}; keep one of them"


def _places(c: Contents) -> Iterator[Fault]:
    posed: list[tuple[Path, Any]] = [*_posed(c)]
    posed += [(("force_plates", i), plate) for i, plate in enumerate(c.force_plates)]
    for path, thing in posed:
        if thing.quaternion is not None:
            if not hypot(*thing.quaternion) > 1e-6:
                yield (*path, "quaternion"), "is zero; expected w, x, y, z of a rotation"
            if any(thing.rotation_deg):
                yield (*path, "rotation_deg"), "is given beside quaternion; keep one of them"
    for i, robot in enumerate(c.robots):
        for name, sensor in robot.sensors.items():
            if sensor.quaternion is not None and not hypot(*sensor.quaternion) > 1e-6:
                yield (
                    ("robots", i, "sensors", name, "quaternion"),
                    "is zero; expected w, x, y, z of a rotation",
                )
        for name, foot in robot.feet.items():
            if isinstance(foot, str):
                continue
            for key in ("position_m", "quaternion"):
                if getattr(foot, key) is not None and foot.polygon_m is None:
                    at = ("robots", i, "feet", name, key)
                    yield (
                        at,
                        (
                            "is given without polygon_m; give both, "
                            "or neither to find the sole from the body's shapes"
                        ),
                    )
            if foot.quaternion is not None and not hypot(*foot.quaternion) > 1e-6:
                yield (
                    ("robots", i, "feet", name, "quaternion"),
                    "is zero; expected w, x, y, z of a rotation",
                )


def _compounds(c: Contents) -> Iterator[Fault]:
    for i, thing in enumerate(c.objects):
        if isinstance(thing, Compound):
            for key in (*COEFFICIENTS, "material", "color"):
                if getattr(thing, key) != (getattr(Surface(), key, None)):
                    yield (
                        ("objects", i, key),
                        "is given for a compound; expected it in each of its parts",
                    )


def _names(c: Contents) -> Iterator[Fault]:
    taken = {"world"} | ({"ground"} if c.ground else set())
    for key in ("robots", "fixed", "patches", "force_plates", "objects"):
        for i, thing in enumerate(getattr(c, key)):
            for name in copies(thing) if thing.name is not None else ():
                if name in taken:
                    yield (
                        (key, i, "name"),
                        f"is {name!r}, which is taken; give everything its own name",
                    )
                taken.add(name)


def copies(thing: Any) -> list[str]:
    """The names of all that an entry stands for."""
    count = getattr(thing, "count", 1)
    name = thing.name or thing.__struct_config__.tag
    return [name] if count == 1 else [f"{name}{k + 1}" for k in range(count)]


def _bodies(c: Contents) -> Iterator[Fault]:
    if not c.robots and not c.objects:
        yield (), "has neither robots nor objects; expected something that can move"
    count = 0
    for i, thing in enumerate(c.objects):
        count += thing.count
        if count > MAX_BODIES:
            yield (
                ("objects", i, "count"),
                f"makes it more than {MAX_BODIES} objects; expected fewer",
            )
        if thing.count > 1 and not any(thing.spacing_m):
            yield (
                ("objects", i, "count"),
                f"is {thing.count}, all in one place; give spacing_m, from each to the next",
            )


def _bonds(c: Contents) -> Iterator[Fault]:
    for i, bond in enumerate(c.bonds):
        if bond.bodies[0] == bond.bodies[1]:
            yield ("bonds", i, "bodies"), f"are twice {bond.bodies[0]!r}; expected two bodies"
        if bond.kind == "hinge" and bond.axis is None:
            yield ("bonds", i), "is a hinge and has no axis; expected axis: [x, y, z]"
        if bond.kind != "hinge" and bond.axis is not None:
            yield ("bonds", i, "axis"), f"is given for a {bond.kind}; only a hinge has one"
        if bond.axis is not None and not hypot(*bond.axis) > 1e-6:
            yield ("bonds", i, "axis"), "is zero; expected a direction"


def _robots(c: Contents) -> Iterator[Fault]:
    for i, robot in enumerate(c.robots):
        if robot.stands and len(robot.position_m) == 3:
            yield (
                ("robots", i, "position_m"),
                "has a z, but the robot stands on the ground; give x and y, or stands: false",
            )
        if robot.stands is False and len(robot.position_m) == 2:
            yield (
                ("robots", i, "position_m"),
                "has no z, and the robot does not stand on the ground; give x, y, z of its base",
            )
        if c.ground and c.ground.slope_deg and stands(robot):
            yield ("robots", i), "stands on a slope; give position_m with a z, and stands: false"
        timed = robot.motion.timed
        if timed:
            times = [event.at_s for event in getattr(robot.motion, timed)]
            for k, (a, b) in enumerate(pairwise(times)):
                if b <= a:
                    yield (
                        ("robots", i, "motion", timed, k + 1, "at_s"),
                        f"is {b:g}, after {a:g}; expected growing times",
                    )


def stands(robot: Any) -> bool:
    """Whether a robot is put on its soles, as far as the file specifies it."""
    return (
        robot.stands
        if robot.stands is not None
        else robot.base != "fixed" and len(robot.position_m) == 2
    )


def _fields(c: Contents) -> Iterator[Fault]:
    for i, thing in enumerate(c.fixed):
        if isinstance(thing, FixedHeightField):
            widths = [len(row) for row in thing.heights_m]
            for k, width in enumerate(widths):
                if width != widths[0]:
                    yield (
                        ("fixed", i, "heights_m", k),
                        (
                            f"has {width} values, the first row {widths[0]}; "
                            "expected rows of one length"
                        ),
                    )


def _times(c: Contents) -> Iterator[Fault]:
    steps = c.duration_s / c.simulation.step_s
    if steps < 0.5:
        yield ("duration_s",), f"is {c.duration_s:g}, less than a step of {c.simulation.step_s:g} s"
    if steps > MAX_STEPS:
        yield (
            ("duration_s",),
            f"is {c.duration_s:g}, {steps:.0e} steps; expected at most {MAX_STEPS:.0e}",
        )


def _rates(c: Contents) -> Iterator[Fault]:
    """Check for rates that do not divide that of the steps."""
    rates: list[tuple[Path, float | None]] = [(("record",), c.record.rate_hz)]
    rates += [(("force_plates", i), plate.rate_hz) for i, plate in enumerate(c.force_plates)]
    for i, robot in enumerate(c.robots):
        rates += [(("robots", i, "sensors", n), s.rate_hz) for n, s in robot.sensors.items()]
        if robot.motion.tick_s is not None:
            yield from _tick(c, i, robot.motion.tick_s)
    for path, rate in rates:
        try:
            steps_between(rate, c.simulation.step_s, "it")
        except ModelError as fault:
            yield (*path, "rate_hz"), f"is {rate:g}; {str(fault).partition('; ')[2]}"


def _tick(c: Contents, i: int, tick: float) -> Iterator[Fault]:
    """Time between the commands of a walk that is no whole number of steps."""
    step = c.simulation.step_s
    if abs(tick / step - max(1, round(tick / step))) > 1e-6:
        yield (
            ("robots", i, "motion", "gait", "tick_s"),
            f"is {tick:g}; expected a multiple of the step, {step:g} s",
        )


def _plates(c: Contents) -> Iterator[Fault]:
    """Check for keys of a force plate that belong to the thing it refers to."""
    none = PlateKeys()
    places = ("name", "size_m", "position_m", "rotation_deg", "quaternion")
    for i, plate in enumerate(c.force_plates):
        for key in (*places, "thickness_m", "friction") if plate.of is not None else ():
            if getattr(plate, key) != getattr(none, key):
                yield (
                    ("force_plates", i, key),
                    f"is given beside of: {plate.of}, which has its own; leave it out",
                )


def _patches(c: Contents) -> Iterator[Fault]:
    """Patches that have nothing to lie on, or nothing level."""
    for i, _ in enumerate(c.patches):
        if c.ground is None:
            yield ("patches", i), "lies on the ground, but there is none; add ground: {}"
        elif c.ground.slope_deg:
            yield ("patches", i), "lies on a slope; expected level ground, or a fixed box"


def _camera(c: Contents) -> Iterator[Fault]:
    if (
        c.camera
        and hypot(*(a - b for a, b in zip(c.camera.position_m, c.camera.look_at_m, strict=True)))
        < 1e-6
    ):
        yield ("camera", "position_m"), "is where the camera looks at; expected another place"
