"""The figure of a sweep: an outcome over one key as a curve, over more keys as a family of curves,
or over two with many values as a map.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tabi import TabiError
from tabi.reporting.curves import Curve, Panel
from tabi.reporting.figures import COLOURS, draw_map
from tabi.reporting.figures import draw as draw_panels
from tabi.reporting.outputs import check_figure
from tabi.runs.rows import Row, flat

Grid = dict[str, list[str]]
UNITS = {
    "_m_s2": "m/s²",
    "_rad_s": "rad/s",
    "_m_s": "m/s",
    "_kg": "kg",
    "_pa": "Pa",
    "_hz": "Hz",
    "_deg": "°",
    "_n": "N",
    "_m": "m",
    "_s": "s",
}
# lists of a scene, and what one of each is called that has no name
LISTS = {"robots": "robot", "objects": "object", "fixed": "thing", "pushes": "push"}
LISTS |= {"bonds": "bond", "pairs": "pair"}
# outcomes over orders of magnitude
LOGARITHMIC = (
    "worst_residual_m_s",
    "worst_force_residual_n",
    "worst_joint_residual",
    "worst_penetration_m",
)


def check(path: Path, grid: Grid) -> None:
    """Refuse what cannot be drawn, before the work."""
    check_figure(path)
    x, series_keys = axes(grid)
    count = math.prod(len(grid[key]) for key in series_keys)
    if count > len(COLOURS) and not _is_map(grid, series_keys):
        raise TabiError(
            f"--figure would have {count} curves over {x}; "
            f"expected at most {len(COLOURS)}, take fewer values"
        )


def axes(grid: Grid) -> tuple[str, list[str]]:
    """The key along x, the first with numbers, of those that vary; and the others."""
    varying = [key for key, values in grid.items() if len(values) > 1] or list(grid)
    numbers = [key for key in varying if _numbers(grid[key]) is not None]
    if not numbers:
        raise TabiError(
            "--figure needs a key whose values are numbers; "
            f"{', '.join(varying)} {'has' if len(varying) == 1 else 'have'} others"
        )
    return numbers[0], [key for key in varying if key != numbers[0]]


def _numbers(values: list[str]) -> NDArray[np.float64] | None:
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _is_map(grid: Grid, series_keys: list[str]) -> bool:
    return (
        len(series_keys) == 1
        and len(grid[series_keys[0]]) > len(COLOURS)
        and _numbers(grid[series_keys[0]]) is not None
    )


def most_varying_place(rows: list[Row]) -> str:
    """Return the name of the place that differs most from run to run;
    the worst error where nothing moves.
    """
    columns = [flat(row["outcome"]) for row in rows]
    names = dict.fromkeys(
        name for column in columns for name in column if name.startswith("places_m.")
    )
    spread = {
        name: float(
            np.ptp([column[name] for column in columns if column.get(name) is not None] or [0.0])
        )
        for name in names
    }
    best = max(spread, key=lambda name: spread[name], default="")
    return best if best and spread[best] > 0 else "worst_residual_m_s"


def draw(path: Path, grid: Grid, rows: list[Row], name: str, title: str) -> None:
    """Draw the figure into a file."""
    x, series_keys = axes(grid)
    outcomes = {
        tuple(row["parameters"][key] for key in (x, *series_keys)): flat(row["outcome"]).get(name)
        for row in rows
    }

    def along(point: tuple[str, ...]) -> NDArray[np.float64]:
        values = (outcomes.get((value, *point)) for value in grid[x])
        return np.array([math.nan if value is None else float(value) for value in values])

    at = np.array([float(value) for value in grid[x]])
    log = name in LOGARITHMIC
    if _is_map(grid, series_keys):
        z = np.array([along((value,)) for value in grid[series_keys[0]]])
        y = np.array([float(value) for value in grid[series_keys[0]]])
        draw_map(path, (at, y, z), (label(x), label(series_keys[0]), label(name)), title, log)
        return
    order = np.argsort(at)
    curves = []
    for point in dict.fromkeys(
        tuple(row["parameters"][key] for key in series_keys) for row in rows
    ):
        words = ", ".join(named(key, value) for key, value in zip(series_keys, point, strict=True))
        curves.append(Curve(words, at[order], along(point)[order], len(curves), "marks"))
    # what is exact has no place on a logarithmic scale
    log = log and any((curve.y > 0).any() for curve in curves)
    draw_panels(path, [Panel("sweep", "", label(x), label(name), curves, log, height=4.0)], title)


def label(key: str) -> str:
    """A key or an outcome in words, with its unit:
    objects.crate.mass_kg is mass of crate [kg], pushes.0.force_n.0 force of push 1 along x [N].
    """
    unit = _parted(key)[1]
    return f"{words(key)} [{unit}]" if unit else words(key)


def named(key: str, value: str) -> str:
    """One value of a key, for a legend."""
    return f"{words(key)} = {value} {_parted(key)[1]}".rstrip()


def words(key: str) -> str:
    """Format a key or an outcome in words, the thing after its property."""
    parts = _parted(key)[0]
    if parts[0] == "fallen at":
        return f"when {parts[1]} falls" if parts[1:] else "fallen at"
    along = ""
    if len(parts) > 2 and parts[-1] in ("0", "1", "2"):
        along = f" along {'xyz'[int(parts.pop())]}"
    for group, singular in LISTS.items():
        if parts[0] == group and len(parts) > 2:
            thing = f"{singular} {int(parts[1]) + 1}" if parts[1].isdigit() else parts[1]
            parts = [thing, *parts[2:]]
    if parts[0] == "places" and len(parts) > 1:
        return f"{' '.join(reversed(parts[1:])).replace(' ', ' of ', 1)} at the end"
    return " of ".join(reversed(parts)) + along


def _parted(key: str) -> tuple[list[str], str]:
    """Parts of a key without its unit, and the unit."""
    parts = key.split(".")
    # a key has its unit near its end, an outcome in front
    for k in reversed(range(len(parts))):
        for ending, unit in UNITS.items():
            if parts[k].endswith(ending):
                parts[k] = parts[k].removesuffix(ending)
                return [part.replace("_", " ") for part in parts], unit
    return [part.replace("_", " ") for part in parts], ""
