"""Player of a recording in one HTML file, without a network: player.html and player.js with the run
inside.

Numbers are integers of 16 bits between the ends of their range: positions to a 65,535th of the
range of the run, rotations to 3e-5. A humanoid takes 0.6 kB a frame. Data of the file are inserted
as JSON without angle brackets, so that no name in it can end the script that contains it.
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

MAX_TRIANGLES = 120_000
# ten minutes
MAX_FRAMES = 36_000


def write(run: Recorded, path: Path, selected: NDArray[np.int64]) -> list[Path]:
    """Write the page of some rows."""
    path.write_text(page(run, selected[:: -(-len(selected) // MAX_FRAMES)]), encoding="utf-8")
    return [path]


def page(run: Recorded, selected: NDArray[np.int64]) -> str:
    """Return the whole page as text."""
    folder = resources.files("tabi.reporting")
    shell = (folder / "player.html").read_text(encoding="utf-8")
    script = (folder / "player.js").read_text(encoding="utf-8")
    data = json.dumps(contents(run, selected), allow_nan=False).replace("<", "\\u003c")
    title = html.escape(_title(run) or ", ".join(run.world.robot_names)[:120] or "a recording")
    title += f", {run.episode_name}" if run.episode_name else ""
    return (
        shell.replace("<!--title-->", title).replace("/*player*/", script).replace("/*data*/", data)
    )


def _title(run: Recorded) -> str:
    """Return the title of the scene, or its name; "" without a scene."""
    return (title_of(run.scene) or str(run.meta.get("name") or ""))[:120]


def contents(run: Recorded, selected: NDArray[np.int64]) -> dict[str, Any]:
    """Return the data of the player."""
    world, look = run.world, run.look
    drawn = frames(run, selected)
    pieces = thinned(look.pieces, MAX_TRIANGLES)
    centre, radius = bounds(drawn, look.pieces)
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
        "arrow": drawn.arrow,
        "view": {"centre": centre.tolist(), "radius": radius},
        "planes": [[[float(x) for x in row] for row in plane] for plane in look.planes],
        "pieces": [_piece(piece) for piece in pieces],
        "feet": [
            {"body": int(b), "outline": outline_in_body(world, k).tolist()}
            for k, b in enumerate(world.feet.body)
        ],
        "frames": _frames(drawn),
    }


def outline_in_body(world: Any, k: int) -> NDArray[np.float64]:
    """Return the corners of a foot in its moving body's frame [m], shape (n, 3)."""
    flat = np.column_stack([world.feet.outlines[k], np.zeros(len(world.feet.outlines[k]))])
    return flat @ world.feet.rotation[k].T + world.feet.position[k]


def _frames(drawn: Frames) -> dict[str, Any]:
    n, b = drawn.position.shape[:2]
    marks = np.concatenate([drawn.centre_of_mass, drawn.zmp, drawn.pressure], axis=1)
    there: NDArray[np.bool_] = np.asarray(np.isfinite(marks).all(axis=2))
    return {
        "count": n,
        "bodies": b,
        "time": [round(float(t), 6) for t in drawn.time],
        "position": packed(drawn.position.reshape(-1, 3)),
        "quaternion": text(np.round(32767 * drawn.quaternion).astype("<i2")),
        "arrows": [int(k) for k in drawn.arrow_count],
        "point": packed(drawn.point),
        "force": packed(drawn.force),
        # centres of mass, then zero moment points, then centres of pressure
        "marks": packed(np.where(there[..., None], marks, 0.0).reshape(-1, 3)),
        "there": text(there.astype(np.uint8)),
        "robots": drawn.centre_of_mass.shape[1],
        "feet": drawn.pressure.shape[1],
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
    """Pack columns as integers of 16 bits between their minimum and maximum."""
    values = np.asarray(values, float).reshape(-1, 3)
    low = values.min(axis=0) if len(values) else np.zeros(3)
    step = (values.max(axis=0) - low) / 65535 if len(values) else np.zeros(3)
    whole = np.round((values - low) / np.where(step > 0, step, 1.0)).astype("<u2")
    return {"low": low.tolist(), "step": step.tolist(), "data": text(whole)}


def unpacked(data: dict[str, Any]) -> NDArray[np.float64]:
    """Unpack columns of ``packed``, as the player does."""
    whole = np.frombuffer(base64.b64decode(data["data"]), "<u2").reshape(-1, 3)
    return whole * np.array(data["step"]) + np.array(data["low"])


def text(values: NDArray[Any]) -> str:
    """Return the bytes of an array as base64."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
