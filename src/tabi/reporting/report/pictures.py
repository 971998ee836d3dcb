"""Pictures of ``tabi report``: figures of ``tabi plot``, a time line of contacts, and frames of the
motion, as texts embedded in a page.
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

FRAME_COUNT, SIZE, QUALITY = 6, (480, 360), 88
# number of bodies in the time line
MAX_LINES = 12
STICKS, SLIPS = "#0072B2", "#D55E00"


def plots(run: Recorded) -> dict[str, str]:
    """Return figures by their names in ``tabi plot``, if the recording has data for them."""
    panels = curves.panels(run)
    return {
        name: svg(figures.picture(shown))
        for name in curves.WHAT
        if (shown := [panel for panel in panels if panel.name == name])
    }


def svg(figure: Any) -> str:
    """Return a drawing as the address of a picture."""
    file = io.BytesIO()
    figure.savefig(file, format="svg", dpi=160)
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def walk(run: Recorded, recorded: walks.RecordedWalk) -> tuple[str, str]:
    """Return footsteps from above, and curves of a walk against its plan."""
    return svg(walks.from_above(run, recorded)), svg(figures.picture(walks.panels(run, recorded)))


def moments(run: Recorded) -> list[tuple[float, str]]:
    """Return times [s], evenly spaced, and the addresses of their pictures."""
    wanted = np.linspace(run.time[0], run.time[-1], min(FRAME_COUNT, len(run.time)))
    selected = np.unique(np.abs(run.time[:, None] - wanted).argmin(axis=0)).astype(np.int64)
    shown = frames(run, selected)
    painter = Painter(run.look, shown, SIZE, whole(shown, run.look.pieces))
    images = []
    for k, row in enumerate(selected):
        file = io.BytesIO()
        painter.picture(k).save(file, format="JPEG", quality=QUALITY)
        images.append(
            (
                float(run.time[row]),
                "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode("ascii"),
            )
        )
    return images


def timeline(run: Recorded, touching: contacts.Touches) -> str | None:
    """Return the time line of contacts and slips; feet first, then the bodies with the largest
    load.
    """
    feet = run.world.feet
    rows = [
        (f"{name} foot", row)
        for k, name in enumerate(feet.names)
        if (row := touching.row(int(feet.body[k]))) is not None
    ]
    rest = [
        k
        for k in np.argsort(-touching.load.max(axis=1, initial=0.0))
        if k not in [row for _, row in rows]
    ]
    rows += [
        (run.body_names[int(np.flatnonzero(run.world.link == touching.bodies[k])[0])], int(k))
        for k in rest
    ]
    if not rows:
        return None
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    rows = rows[:MAX_LINES]
    figure = Figure(figsize=(7.2, 0.9 + 0.26 * len(rows)), layout="constrained")
    ax = figure.add_subplot()
    for line, (_, k) in enumerate(rows):
        for holds, colour, size in (
            (touching.load[k] > 0, STICKS, 0.36),
            (touching.slips[k], SLIPS, 0.36),
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
