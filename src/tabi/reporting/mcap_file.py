"""Export of a recording to an MCAP file of JSON messages, which Foxglove and others play.

Topics: /tf (places of bodies), /scene (their meshes, once), /forces (arrows), /joint_states, /feet,
/foot_events (changes of feet, when they were), /robots, /energy, /certificate. Those that
Foxglove draws have its schemas' names: foxglove.FrameTransforms and foxglove.SceneUpdate. Time
begins at zero.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.recording.foot_words import name_of
from tabi.recording.recorded import Recorded, RecordingError
from tabi.reporting.frames import Frames, foot_events, frames, thinned

TRIANGLES = 40_000
OBJECT = {"type": "object"}
LISTS = {
    name: {"type": "array", "items": OBJECT} for name in ("transforms", "entities", "deletions")
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "foxglove.FrameTransforms": {"transforms": LISTS["transforms"]},
    "foxglove.SceneUpdate": {"entities": LISTS["entities"], "deletions": LISTS["deletions"]},
    "tabi.Values": {"time": {"type": "number"}},
}
TOPICS = {
    "/tf": "foxglove.FrameTransforms",
    "/scene": "foxglove.SceneUpdate",
    "/forces": "foxglove.SceneUpdate",
    **dict.fromkeys(
        (
            *("/joint_states", "/feet", "/foot_events", "/robots", "/sensors", "/energy"),
            "/certificate",
        ),
        "tabi.Values",
    ),
}
WORLD = "world"


def write(run: Recorded, path: Path, selected: NDArray[np.int64]) -> list[Path]:
    """Write the selected rows to a file."""
    try:
        from mcap.writer import Writer
    except ImportError:
        raise RecordingError(
            f"{path}: MCAP needs the package mcap; install it with: pip install 'tabi[export]'"
        ) from None
    drawn = frames(run, selected)
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start(profile="", library="tabi")
        schemas = {
            name: writer.register_schema(
                name,
                "jsonschema",
                json.dumps({"type": "object", "properties": properties}).encode(),
            )
            for name, properties in SCHEMAS.items()
        }
        channels = {
            topic: writer.register_channel(topic, "json", schemas[name])
            for topic, name in TOPICS.items()
        }
        writer.add_metadata(
            "tabi",
            {
                "created": run.created,
                "version": run.version,
                "scene": run.scene,
                "episode": str(run.episode),
                "meta": json.dumps(run.meta),
            },
        )
        begin = float(drawn.time.min())

        def send(topic: str, at: float, message: dict[str, Any]) -> None:
            stamp = round(1e9 * (at - begin))
            writer.add_message(channels[topic], stamp, json.dumps(message).encode(), stamp)

        send("/scene", begin, {"entities": _meshes(run), "deletions": []})
        for k, row in enumerate(selected):
            at = float(drawn.time[k])
            send("/tf", at, {"transforms": _places(drawn, k, at - begin)})
            send("/forces", at, {"entities": [_arrows(drawn, k, at - begin)], "deletions": []})
            for topic, values in _values(run, int(row)).items():
                send(topic, at, {"time": at} | values)
        for event in foot_events(run, selected):
            send("/foot_events", max(event.time, begin), asdict(event))
        writer.finish()
    return [path]


def _stamp(seconds: float) -> dict[str, int]:
    nanoseconds = round(1e9 * seconds)
    return {"sec": nanoseconds // 10**9, "nsec": nanoseconds % 10**9}


def _point(p: Any) -> dict[str, float]:
    return {axis: float(x) for axis, x in zip("xyz", p, strict=True)}


def _turn(q: Any) -> dict[str, float]:
    return {part: float(x) for part, x in zip("wxyz", q, strict=True)}


def _places(drawn: Frames, k: int, at: float) -> list[dict[str, Any]]:
    """Return X_WB of every moving body."""
    return [
        {
            "timestamp": _stamp(at),
            "parent_frame_id": WORLD,
            "child_frame_id": f"body{b}",
            "translation": _point(p),
            "rotation": _turn(q),
        }
        for b, (p, q) in enumerate(zip(drawn.position[k], drawn.quaternion[k], strict=True))
        if b
    ]


def _entity(name: str, frame: str, at: float) -> dict[str, Any]:
    kinds = (
        "arrows",
        "cubes",
        "spheres",
        "cylinders",
        "lines",
        "triangles",
        "texts",
        "models",
        "metadata",
    )
    return {
        "id": name,
        "frame_id": frame,
        "timestamp": _stamp(at),
        "lifetime": _stamp(0.0),
        "frame_locked": True,
        **{kind: [] for kind in kinds},
    }


def _color(rgba: Any) -> dict[str, float]:
    return {part: float(x) for part, x in zip("rgba", rgba, strict=True)}


def _meshes(run: Recorded) -> list[dict[str, Any]]:
    look = run.look
    origin = {"position": _point((0, 0, 0)), "orientation": _turn((1, 0, 0, 0))}
    entities = []
    for k, piece in enumerate(thinned(look.pieces, TRIANGLES)):
        entity = _entity(f"mesh{k}", f"body{piece.body}" if piece.body else WORLD, 0.0)
        points = [_point(p) for p in np.round(piece.vertices.astype(float), 5)]
        part = {
            "pose": origin,
            "points": points,
            "color": _color(piece.color),
            "colors": [],
            "indices": piece.triangles.ravel().tolist(),
        }
        entities.append(entity | {"triangles": [part]})
    return entities


def _arrows(drawn: Frames, k: int, at: float) -> dict[str, Any]:
    """Return the forces of one frame; an arrow points along its x axis."""
    arrows = []
    for point, force in zip(*drawn.arrows(k), strict=True):
        size = float(np.linalg.norm(force))
        if size == 0.0:
            continue
        # half way between x and the force is the axis of a half turn;
        # against x, any axis across will do
        half = np.array([1.0, 0.0, 0.0]) + force / size
        turn = (
            (0.0, *(half / np.linalg.norm(half)))
            if np.linalg.norm(half) > 1e-9
            else (0.0, 0.0, 0.0, 1.0)
        )
        long = drawn.arrow * size
        shape = {
            "shaft_length": 0.8 * long,
            "shaft_diameter": 0.008,
            "head_length": 0.2 * long,
            "head_diameter": 0.02,
        }
        arrows.append(
            {
                "pose": {"position": _point(point), "orientation": _turn(turn)},
                "color": _color((0.84, 0.24, 0.16, 1.0)),
                **shape,
            }
        )
    return _entity("forces", WORLD, at) | {"arrows": arrows}


def _values(run: Recorded, row: int) -> dict[str, dict[str, Any]]:
    """Return the numbers of one frame; missing ones are null."""
    world: Any = run.world

    def listed(values: Any) -> list[float | None]:
        return [float(x) if np.isfinite(x) else None for x in values]

    joints = {
        "names": world.joint_of,
        "velocity": listed(run.v[row]),
        "effort": listed(run.motors["effort"][row]),
        "q": listed(run.q[row]),
    }
    feet = {
        name: {
            "force": listed(run.feet["wrench"][row, k, :3]),
            "torque": listed(run.feet["wrench"][row, k, 3:]),
            "cop": listed(run.feet["pressure"][row, k]),
            "state": name_of(run.feet["state"][row, k]),
            "margin": listed(run.feet["margin"][row, k : k + 1])[0],
            "signal": int(run.feet["signal"][row, k]),
        }
        for k, name in enumerate(world.feet.names)
    }
    robots = {
        name: {
            "centre_of_mass": listed(run.robots["centre_of_mass"][row, k]),
            "zmp": listed(run.robots["zmp"][row, k]),
        }
        for k, name in enumerate(world.robot_names)
    }
    return {
        "/joint_states": joints,
        "/feet": feet,
        "/robots": robots,
        "/sensors": {name: listed(values[row]) for name, values in run.sensors.items()},
        "/energy": {name: float(values[row]) for name, values in run.energy.items()},
        "/certificate": {name: float(values[row]) for name, values in run.certificate.items()},
    }
