"""Pictures of ``tabi report``: figures of ``tabi plot``, a time line of who touches,
and moments of the motion, as texts that stand in a page.
"""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np

from tabi.recording.recorded import Recorded
from tabi.reporting import curves, figures
from tabi.reporting.frames import frames, whole
from tabi.reporting.raster import Painter
from tabi.reporting.report import contacts, walks

MOMENTS, SIZE, QUALITY = 6, (480, 360), 88
# bodies in the time line, at most
LINES = 12
STICKS, SLIPS = "#0072B2", "#D55E00"


def plots(run: Recorded) -> dict[str, str]:
    """Figures by their names in ``tabi plot``, those that the recording has something for."""
    panels = curves.panels(run)
    return {
        name: svg(figures.picture(own))
        for name in curves.WHAT
        if (own := [panel for panel in panels if panel.name == name])
    }


def svg(figure: Any) -> str:
    """A drawing as the address of a picture."""
    file = io.BytesIO()
    figure.savefig(file, format="svg", dpi=160)
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def walk(run: Recorded, one: walks.RecordedWalk) -> tuple[str, str]:
    """Footsteps from above, and curves of a walk against its plan."""
    return svg(walks.from_above(run, one)), svg(figures.picture(walks.panels(run, one)))


def moments(run: Recorded) -> list[tuple[float, str]]:
    """Times [s], evenly spaced, and the addresses of their pictures."""
    wanted = np.linspace(run.time[0], run.time[-1], min(MOMENTS, len(run.time)))
    chosen = np.unique(np.abs(run.time[:, None] - wanted).argmin(axis=0)).astype(np.int64)
    shown = frames(run, chosen)
    painter = Painter(run.look, shown, SIZE, whole(shown, run.look.pieces))
    found = []
    for k, row in enumerate(chosen):
        file = io.BytesIO()
        painter.picture(k).save(file, format="JPEG", quality=QUALITY)
        found.append(
            (
                float(run.time[row]),
                "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode("ascii"),
            )
        )
    return found


def timeline(run: Recorded, found: contacts.Touches) -> str | None:
    """Who touches something, and when it slips; feet first, then who bears most."""
    feet = run.world.feet
    rows = [
        (f"{name} foot", row)
        for k, name in enumerate(feet.names)
        if (row := found.row(int(feet.body[k]))) is not None
    ]
    others = [
        k
        for k in np.argsort(-found.load.max(axis=1, initial=0.0))
        if k not in [row for _, row in rows]
    ]
    rows += [
        (run.body_names[int(np.flatnonzero(run.world.link == found.bodies[k])[0])], int(k))
        for k in others
    ]
    if not rows:
        return None
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    rows = rows[:LINES]
    figure = Figure(figsize=(7.2, 0.9 + 0.26 * len(rows)), layout="constrained")
    ax = figure.add_subplot()
    for line, (_, k) in enumerate(rows):
        for holds, colour, size in (
            (found.load[k] > 0, STICKS, 0.36),
            (found.slips[k], SLIPS, 0.36),
        ):
            bars = [
                (run.time[a], max(run.time[b] - run.time[a], run.dt))
                for a, b in contacts.spans(holds, run.time)
            ]
            ax.broken_barh(bars, (line - size, 2 * size), color=colour, linewidth=0.3)
    ax.set_yticks(range(len(rows)), [figures.plain(name)[:40] for name, _ in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(run.time[0], max(run.time[-1], run.time[0] + run.dt))
    ax.set_xlabel("time [s]", fontsize=8)
    ax.tick_params(labelsize=7)
    ax.spines[["top", "right"]].set_visible(False)
    patches = [Patch(color=STICKS, label="touches"), Patch(color=SLIPS, label="slips")]
    ax.legend(
        handles=patches, fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5)
    )
    return svg(figure)
