"""One HTML file that plays a recording by itself, without a network:
player.html and player.js with the run inside.

Numbers are whole ones of 16 bits between the ends of their range: places to a 65,535th of where the
run goes, turns to 3e-5. A humanoid takes 0.6 kB a frame. What comes from the file goes in as JSON
without angle brackets, so that no name in it can end the script it stands in.
"""

from __future__ import annotations

import base64
import html
import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.recording.look import Piece
from tabi.recording.recorded import Recorded
from tabi.reporting.frames import Frames, bounds, frames, thinned
from tabi.scenes.tree import title_of

TRIANGLES = 120_000
# the most in a file: ten minutes
FRAMES = 36_000


def write(run: Recorded, path: Path, chosen: NDArray[np.int64]) -> list[Path]:
    """Write the page, of some rows."""
    path.write_text(page(run, chosen[:: -(-len(chosen) // FRAMES)]), encoding="utf-8")
    return [path]


def page(run: Recorded, chosen: NDArray[np.int64]) -> str:
    """The whole page as text."""
    folder = resources.files("tabi.reporting")
    shell = (folder / "player.html").read_text(encoding="utf-8")
    script = (folder / "player.js").read_text(encoding="utf-8")
    data = json.dumps(contents(run, chosen), allow_nan=False).replace("<", "\\u003c")
    title = html.escape(_title(run) or ", ".join(run.world.robot_names)[:120] or "a recording")
    title += f", {run.episode_name}" if run.episode_name else ""
    return (
        shell.replace("<!--title-->", title).replace("/*player*/", script).replace("/*data*/", data)
    )


def _title(run: Recorded) -> str:
    """What the scene calls itself, or its name; empty without a scene."""
    return (title_of(run.scene) or str(run.meta.get("name") or ""))[:120]


def contents(run: Recorded, chosen: NDArray[np.int64]) -> dict[str, Any]:
    """What the player reads."""
    world, look = run.world, run.look
    found = frames(run, chosen)
    pieces = thinned(look.pieces, TRIANGLES)
    centre, radius = bounds(found, look.pieces)
    worst = run.summary
    about = {
        "title": _title(run),
        "episode": run.episode_name,
        "robots": world.robot_names,
        "created": run.created,
        "version": run.version,
        "dt": run.dt,
        "residual": worst["residual"],
        "missed": worst["missed"],
        "tolerance": run.tolerance,
    }
    return {
        "about": about,
        "arrow": found.arrow,
        "view": {"centre": centre.tolist(), "radius": radius},
        "planes": [[[float(x) for x in row] for row in plane] for plane in look.planes],
        "pieces": [_piece(piece) for piece in pieces],
        "feet": [
            {"body": int(b), "outline": outline_in_body(world, k).tolist()}
            for k, b in enumerate(world.feet.body)
        ],
        "frames": _frames(found),
    }


def outline_in_body(world: Any, k: int) -> NDArray[np.float64]:
    """Corners of a foot in its moving body's frame [m], shape (n, 3)."""
    flat = np.column_stack([world.feet.outlines[k], np.zeros(len(world.feet.outlines[k]))])
    return flat @ world.feet.rotation[k].T + world.feet.position[k]


def _frames(found: Frames) -> dict[str, Any]:
    n, b = found.position.shape[:2]
    marks = np.concatenate([found.centre_of_mass, found.zmp, found.pressure], axis=1)
    there: NDArray[np.bool_] = np.asarray(np.isfinite(marks).all(axis=2))
    return {
        "count": n,
        "bodies": b,
        "time": [round(float(t), 6) for t in found.time],
        "position": packed(found.position.reshape(-1, 3)),
        "quaternion": text(np.round(32767 * found.quaternion).astype("<i2")),
        "arrows": [int(k) for k in found.arrow_count],
        "point": packed(found.point),
        "force": packed(found.force),
        # centres of mass, then zero moment points, then centres of pressure
        "marks": packed(np.where(there[..., None], marks, 0.0).reshape(-1, 3)),
        "there": text(there.astype(np.uint8)),
        "robots": found.centre_of_mass.shape[1],
        "feet": found.pressure.shape[1],
    }


def _piece(piece: Piece) -> dict[str, Any]:
    kind = "<u2" if len(piece.vertices) < 65536 else "<u4"
    return {
        "body": piece.body,
        "color": [round(c, 4) for c in piece.color],
        "vertices": packed(piece.vertices),
        "triangles": text(piece.triangles.astype(kind)),
        "wide": kind == "<u4",
    }


def packed(values: Any) -> dict[str, Any]:
    """Columns as whole numbers of 16 bits between their least and their largest value."""
    values = np.asarray(values, float).reshape(-1, 3)
    low = values.min(axis=0) if len(values) else np.zeros(3)
    step = (values.max(axis=0) - low) / 65535 if len(values) else np.zeros(3)
    whole = np.round((values - low) / np.where(step > 0, step, 1.0)).astype("<u2")
    return {"low": low.tolist(), "step": step.tolist(), "data": text(whole)}


def unpacked(data: dict[str, Any]) -> NDArray[np.float64]:
    """The inverse of ``packed``, as the player does it."""
    whole = np.frombuffer(base64.b64decode(data["data"]), "<u2").reshape(-1, 3)
    return whole * np.array(data["step"]) + np.array(data["low"])


def text(values: NDArray[Any]) -> str:
    """Bytes as base64."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
