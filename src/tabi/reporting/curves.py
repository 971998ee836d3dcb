"""Data of the figures of a recording: panels of curves over time, or in the plane of a foot.

Panels, by name: forces (vertical and horizontal, of each foot), cop (centre of pressure in the
outline of each foot), feet (their states, and every change), soles (pressure, sink and tilt of soft
ones), zmp (with the centre of mass above it), joints (position, target and effort), energy,
certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, unknown
from tabi.model.arrays import PRISMATIC
from tabi.recording.foot_words import NOT_RECORDED, STATES
from tabi.recording.recorded import Recorded
from tabi.recording.sensor_history import parts
from tabi.reporting.frames import foot_events, rows

Array = NDArray[np.float64]
WHAT = ("forces", "cop", "feet", "soles", "zmp", "joints", "energy", "certificate")
# only on request: all sensors, or one by its name
SENSORS = "sensors"
# default number of joints: those that move most
MAX_JOINTS = 6
# maps of soft soles beside each other
MAX_MAPS = 4
# minimum range of the axes of balance [mm]
MIN_SWAY_MM = 1.0
# contacts of a foot, from the bottom to the top of its panel, and distance between feet there
CONTACTS, FOOT_OFFSET = ("none", "vertex", "edge", "face"), 0.12


@dataclass(frozen=True, eq=False)
class Curve:
    """Curve of a panel: its name, numbers, index in its panel, and style: solid, dashed, in steps,
    as a band, dots or crosses, or as a limit.
    """

    label: str
    x: Array
    y: Array
    place: int = 0
    style: str = "solid"


@dataclass(frozen=True, eq=False)
class Panel:
    """Panel with one pair of axes.

    Attributes:
        x_label, y_label: with units. log: a logarithmic scale of y. height: on paper [inch].
        least: minimum range of y, so that noise does not fill the axes [unit of y].
        ticks: words at 0, 1, … of y; default: numbers.
        outline: in the plane of a foot, its polygon, shape (n, 2), and x, y are lengths.
        face: instead of curves, points (n, 2) and triangles of a soft sole, and a number at each
            point. scale: quantity of these numbers with its unit; panels of one scale are side by
            side.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    curves: list[Curve]
    log: bool = False
    outline: Array | None = None
    colour_by: Array | None = field(default=None)
    height: float = 1.9
    least: float = 0.0
    ticks: tuple[str, ...] = ()
    face: tuple[Array, NDArray[np.int64], Array] | None = None
    scale: str = ""


def panels(
    run: Recorded,
    what: Sequence[str] = WHAT,
    joints: Sequence[str] | None = None,
    start: float | None = None,
    end: float | None = None,
) -> list[Panel]:
    """Return the requested panels, between two times [s]."""
    for name in what:
        if name not in (*WHAT, SENSORS, *run.sensors):
            raise unknown("figure", name, "a recording", (*WHAT, SENSORS, *run.sensors))
    selected = rows(run, None, start, end)
    makers: dict[str, Any] = {
        "forces": _forces,
        "cop": _pressure,
        "feet": _feet,
        "soles": _soles,
        "zmp": _zmp,
        "energy": _energy,
        "certificate": _certificate,
    }
    panel_list: list[Panel] = []
    for name in what:
        if name == "joints":
            panel_list += _joints(run, selected, joints)
        elif name in makers:
            panel_list += makers[name](run, selected)
        else:
            panel_list += _sensors(run, selected, list(run.sensors) if name == SENSORS else [name])
    if not panel_list:
        raise ModelError(
            f"the recording has nothing to plot of {', '.join(what)}; it has no robot with feet, "
            "no soft soles, or no sensors"
        )
    return panel_list


def _over_time(
    name: str,
    title: str,
    y_label: str,
    curves: list[Curve],
    log: bool = False,
    least: float = 0.0,
) -> Panel:
    return Panel(name, title, "time [s]", y_label, curves, log, least=least)


def _forces(run: Recorded, selected: NDArray[np.int64]) -> list[Panel]:
    t, wrench, names = run.time[selected], run.feet["wrench"][selected], run.world.feet.names
    if not names:
        return []
    up = [Curve(f"{name} foot", t, wrench[:, k, 2], k) for k, name in enumerate(names)]
    total = (
        [Curve("together", t, wrench[:, :, 2].sum(axis=1), len(names), "dashed")]
        if len(names) > 1
        else []
    )
    level = [
        Curve(f"{name} foot, {axis}", t, wrench[:, k, c], k, style)
        for k, name in enumerate(names)
        for c, axis, style in _AXES
    ]
    return [
        _over_time("forces", "Vertical force of the ground", "force [N]", up + total),
        _over_time("forces", "Horizontal force", "force [N]", level),
    ]


_AXES = ((0, "x", "solid"), (1, "y", "dashed"))


def _pressure(run: Recorded, selected: NDArray[np.int64]) -> list[Panel]:
    feet, panel_list = run.world.feet, []
    for k, name in enumerate(feet.names):
        at = 1e3 * run.feet["pressure"][selected, k]
        there = np.isfinite(at).all(axis=1)
        curve = Curve("centre of pressure", at[there, 0], at[there, 1], k)
        labels = (f"Centre of pressure, {name} foot", "x in the foot [mm]", "y [mm]")
        panel_list.append(
            Panel(
                "cop",
                *labels,
                [curve],
                outline=1e3 * feet.outlines[k],
                colour_by=run.time[selected][there],
            )
        )
    return panel_list


def _feet(run: Recorded, selected: NDArray[np.int64]) -> list[Panel]:
    """Return states over time, with a cross at every change; sliding as a broad band."""
    names, t, curves = run.world.feet.names, run.time[selected], []
    if not names or (run.feet["state"][selected] == NOT_RECORDED).all():
        return []
    for k, name in enumerate(names):
        events = [event for event in foot_events(run, selected) if event.foot == name]
        when = np.array([event.time for event in events], float)
        after = np.array([STATES.index(event.after) for event in events], int)
        x, y = t, run.feet["state"][selected, k].astype(int)
        # changes between the rows; not for a run that was set back in time
        if (np.diff(t) >= 0).all():
            order = np.argsort(np.concatenate([x, when]), kind="stable")
            x, y = (np.concatenate(pair)[order] for pair in ((x, when), (y, after)))
        shift = FOOT_OFFSET * (k - 0.5 * (len(names) - 1))
        level = np.where(y >= 0, y % len(CONTACTS) + shift, np.nan)
        slides = np.where(y > len(CONTACTS), level, np.nan)
        curves.append(Curve(f"{name} foot", x, level, k, "steps"))
        if np.isfinite(slides).any():
            curves.append(Curve(f"{name} foot slides", x, slides, k, "band"))
        if len(when):
            label = f"{name} foot changes"
            curves.append(Curve(label, when, after % len(CONTACTS) + shift, k, "crosses"))
    panel = _over_time("feet", "What the feet touch with", "", curves)
    return [replace(panel, ticks=CONTACTS)]


def _soles(run: Recorded, selected: NDArray[np.int64]) -> list[Panel]:
    """Return the pressure on the faces of soft soles and pads, at its maximum and on average, and
    over time its maximum, sink and tilt.
    """
    t, pads = run.time[selected], list(run.pads.values())
    if not pads:
        return []
    highest = [1e-3 * pad.pressure[selected].max(axis=1) for pad in pads]
    panel_list = []
    for scale in ("pressure, highest [kPa]", "pressure, mean [kPa]"):
        for pad, top in list(zip(pads, highest, strict=True))[:MAX_MAPS]:
            k = int(top.argmax())
            pressure = 1e-3 * pad.pressure[selected]
            peak = scale == "pressure, highest [kPa]"
            title = f"{pad.name}, {t[k]:.3f} s" if peak else f"{pad.name}, mean of the run"
            values = pressure[k] if peak else pressure.mean(axis=0)
            face = (1e3 * pad.nodes[:, :2], pad.triangles, np.maximum(values, 0.0))
            labels = (title, "x in the foot [mm]", "y [mm]")
            panel_list.append(Panel("soles", *labels, [], face=face, scale=scale))
    tops = [Curve(pad.name, t, highest[k], k) for k, pad in enumerate(pads)]
    sinks = [Curve(pad.name, t, 1e3 * pad.sink[selected], k) for k, pad in enumerate(pads)]
    tilts = [
        Curve(f"{pad.name}, about {axis}", t, 1e3 * pad.tilt[selected, c], k, style)
        for k, pad in enumerate(pads)
        for c, axis, style in _AXES
    ]
    return [
        *panel_list,
        _over_time("soles", "Highest pressure under soft soles", "pressure [kPa]", tops),
        _over_time("soles", "How far soft soles sink in", "sink [mm]", sinks),
        _over_time("soles", "Tilt of the planes through what presses", "tilt [mrad]", tilts),
    ]


def _sensors(run: Recorded, selected: NDArray[np.int64], names: list[str]) -> list[Panel]:
    """Return a panel for each kind of number of each sensor: its force, its torque, …"""
    t, panel_list = run.time[selected], []
    for name in names:
        values = run.sensors[name]
        for part in parts(run.sensor_labels[name]):
            curves = [
                Curve(f"{part.word} {axis}".rstrip(), t, values[selected, c], c)
                for c, axis in zip(part.columns, part.axes, strict=True)
            ]
            title = f"Sensor {name}, {part.word}"
            panel_list.append(_over_time("sensors", title, part.title, curves))
    return panel_list


def _zmp(run: Recorded, selected: NDArray[np.int64]) -> list[Panel]:
    t, panel_list = run.time[selected], []
    names = run.world.robot_names
    for k, name in enumerate(names):
        zmp, centre = run.robots["zmp"][selected, k], run.robots["centre_of_mass"][selected, k]
        for c, axis, _ in _AXES:
            curves = [
                Curve("zero moment point", t, 1e3 * zmp[:, c], 0),
                Curve("centre of mass", t, 1e3 * centre[:, c], 1, "dashed"),
            ]
            panel_list.append(
                _over_time(
                    "zmp",
                    f"Balance along {axis}" + (f", {name}" if len(names) > 1 else ""),
                    f"{axis} [mm]",
                    curves,
                    least=MIN_SWAY_MM,
                )
            )
    return panel_list


def _joints(
    run: Recorded, selected: NDArray[np.int64], requested: Sequence[str] | None
) -> list[Panel]:
    """Return one panel of positions in degrees, one in millimetres for sliding joints, one of
    efforts.
    """
    world: Any = run.world
    places = {
        name: world.joint_of.index(name)
        for name in run.joint_names
        if world.joint_of.count(name) == 1
    }
    for name in requested or ():
        if name not in places:
            raise unknown("joint", name, "the recording", places)
    kinds = {
        int(start): int(kind)
        for start, kind in zip(world.body["v_start"][1:], world.body["kind"][1:], strict=True)
    }
    q = {name: run.q[selected, world.dof["q"][k]] for name, k in places.items()}
    most_moving = sorted(places, key=lambda name: float(np.ptp(q[name])), reverse=True)[:MAX_JOINTS]
    names, t = (
        list(requested) if requested else [name for name in places if name in most_moving],
        run.time[selected],
    )
    panel_list = []
    for slides, unit, factor in ((False, "°", 180 / np.pi), (True, "mm", 1e3)):
        shown = [name for name in names if (kinds.get(places[name]) == PRISMATIC) == slides]
        curves = [Curve(name, t, factor * q[name], i) for i, name in enumerate(shown)]
        for i, name in enumerate(shown):
            target = factor * run.motors["target"][selected, places[name]]
            curves.append(Curve(f"{name}, target", t, target, i, "dashed"))
        if shown:
            title = "Joint positions (dashed: targets)"
            panel_list.append(_over_time("joints", title, f"position [{unit}]", curves))
    effort = [
        Curve(name, t, run.motors["effort"][selected, places[name]], i)
        for i, name in enumerate(names)
    ]
    unit = {True: "N", False: "N·m"}
    units = " or ".join(
        sorted({unit[kinds.get(places[name]) == PRISMATIC] for name in names}, reverse=True)
    )
    if not names:
        return []
    return [*panel_list, _over_time("joints", "Efforts of the motors", f"effort [{units}]", effort)]


def _energy(run: Recorded, selected: NDArray[np.int64]) -> list[Panel]:
    t = run.time[selected]
    kinetic = run.energy["kinetic"][selected]
    potential = run.energy["potential"][selected]
    lift = potential - potential[0]
    curves = [
        Curve("kinetic", t, kinetic, 0),
        Curve("potential, from the start", t, lift, 1),
        Curve("sum", t, kinetic + lift, 2, "dashed"),
    ]
    return [_over_time("energy", "Energy", "energy [J]", curves)]


def _certificate(run: Recorded, selected: NDArray[np.int64]) -> list[Panel]:
    t = run.time[selected]
    # zeros cannot be drawn on a logarithmic scale
    residual, depth = (
        np.where(x > 0, x, np.nan)
        for x in (run.certificate["residual"][selected], -run.certificate["gap"][selected])
    )
    limit = Curve("tolerance", t[[0, -1]], np.full(2, run.tolerance), 1, "limit")
    error = [Curve("residual", t, residual, 0, "dots"), limit]
    panel_list = [
        _over_time(
            "certificate", "Backward error of the contact forces", "residual [m/s]", error, log=True
        )
    ]
    if np.isfinite(depth).any():
        panel_list.append(
            _over_time(
                "certificate",
                "Deepest overlap of bodies",
                "depth [m]",
                [Curve("overlap", t, depth, 0, "dots")],
                log=True,
            )
        )
    return panel_list
