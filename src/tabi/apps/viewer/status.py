"""The three lines of a page that say how a simulation is: its time and pace; contacts and
certificate; what the robot does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tabi.apps.viewer.panels.markup import literal, unbroken
from tabi.apps.viewer.view import View
from tabi.recording.foot_words import NONE


def status(view: View, pace: str, robots: Sequence[str], feet: Sequence[str]) -> list[str]:
    """Return three lines about a moment.

    Args:
        pace: of the simulation, in words. robots, feet: names, in the order of the view.
    """
    count = len(view.points)
    checked = (
        f"**{view.missed} steps did not converge**"
        if view.missed
        else "exact to " + unbroken(f"{view.residual:.1e} m/s")
    )
    return [
        f"time **{view.time:.2f} s** · {pace}",
        f"**{count}** {'contact' if count == 1 else 'contacts'} · {checked}",
        activity(view, robots, feet),
    ]


def activity(view: View, robots: Sequence[str], feet: Sequence[str]) -> str:
    """Return what the first robot does, or what moves, and with what force the mouse pulls."""
    parts = []
    if view.fallen:
        parts.append(f"{' and '.join(map(literal, view.fallen))} **fell**")
    elif robots:
        parts.append(f"{literal(robots[0])} {_stands(view, feet)}")
    else:
        moving = len(view.positions)
        parts.append("one body" if moving == 1 else f"{moving} bodies")
    if view.bands:
        force = float(np.linalg.norm(view.bands[-1].force))
        parts.append("pull: **" + unbroken(f"{force:.1f} N") + "**")
    return " · ".join(parts)


def _stands(view: View, feet: Sequence[str]) -> str:
    """Return how a robot stands or walks: the feet that bear it."""
    bearing = [
        name
        for name, state in zip(feet, view.soles.states, strict=False)
        if int(state) != NONE and "/" not in name
    ]
    on = (
        f"on the {literal(bearing[0])} foot"
        if len(bearing) == 1
        else f"on {'both' if len(feet) == 2 else len(bearing)} feet"
        if bearing
        else ""
    )
    reasons = [walk.reason for walk in view.walks if walk.reason]
    if reasons:
        return "**gave its walk up**"
    if view.steered:
        return f"**{'stands' if view.steered[0].stands else 'walks'}** {on}".strip()
    if not feet:
        return "moves" if len(view.points) == 0 else "touches something"
    return f"**{on}**" if on else "**without a foot on the ground**"
