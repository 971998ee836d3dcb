"""A recording as tables for other programs: CSV, or Parquet.
One table has a row per moment, a second one a row per contact point, and where there are feet a
third one a row per change of a foot's state.

Columns carry their units: time_s, q_NAME [rad or m], v_NAME, effort_NAME [N·m or N],
foot_NAME_force_x_n, …; a floating base has _x _y _z _qw _qx _qy _qz in q and _x _y _z _wx _wy _wz
in v, along the world's axes. Numbers that are not there (pressure without a load) are empty in CSV
and NaN in Parquet. A recording of several episodes has the number of this one in the column
episode.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.model.arrays import FLOATING, PLANAR, SPHERICAL
from tabi.recording.foot_words import name_of
from tabi.recording.recorded import STATUS, Recorded, RecordingError
from tabi.reporting.frames import contact_rows, foot_events

XYZ = ("x", "y", "z")
PARTS_Q = {
    PLANAR: ("_x", "_y", "_angle"),
    SPHERICAL: ("_qw", "_qx", "_qy", "_qz"),
    FLOATING: ("_x", "_y", "_z", "_qw", "_qx", "_qy", "_qz"),
}
PARTS_V = {
    PLANAR: ("_x", "_y", "_angle"),
    SPHERICAL: ("_wx", "_wy", "_wz"),
    FLOATING: ("_x", "_y", "_z", "_wx", "_wy", "_wz"),
}
# rows of CSV at a time
BATCH = 2000


def moments(run: Recorded, chosen: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Columns of the first table."""
    world = run.world
    found: dict[str, NDArray[Any]] = {"time_s": run.time[chosen]} | _episode(run, len(chosen))
    kinds = [int(kind) for kind in world.body["kind"][1:]]
    names = [world.joint_of[int(start)] for start in world.body["v_start"][1:]]
    columns_q = [
        name + part
        for name, kind in zip(names, kinds, strict=True)
        for part in PARTS_Q.get(kind, ("",))
    ]
    columns_v = [
        name + part
        for name, kind in zip(names, kinds, strict=True)
        for part in PARTS_V.get(kind, ("",))
    ]
    for prefix, columns, values in (
        ("q", columns_q, run.q),
        ("v", columns_v, run.v),
        ("effort", columns_v, run.motors["effort"]),
        ("target", columns_v, run.motors["target"]),
    ):
        found |= {f"{prefix}_{name}": values[chosen, k] for k, name in enumerate(columns)}
    found |= _foot_columns(run, chosen)
    for name, values in run.sensors.items():
        found |= {
            f"sensor_{name}_{label}": values[chosen, c]
            for c, label in enumerate(run.sensor_labels[name])
        }
    for k, name in enumerate(world.robot_names):
        found |= {
            f"{name}_com_{axis}_m": run.robots["centre_of_mass"][chosen, k, c]
            for c, axis in enumerate(XYZ)
        }
        found |= {
            f"{name}_zmp_{axis}_m": run.robots["zmp"][chosen, k, c] for c, axis in enumerate(XYZ)
        }
    found |= {f"{part}_energy_j": run.energy[part][chosen] for part in ("kinetic", "potential")}
    units = {
        "residual": "residual_m_s",
        "gap": "gap_m",
        "iterations": "iterations",
        "missed": "missed",
    }
    found |= {column: run.certificate[name][chosen] for name, column in units.items()}
    return found | {"contacts": run.contact_count[chosen]}


def _foot_columns(run: Recorded, chosen: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """What the first table says of feet."""
    found: dict[str, NDArray[Any]] = {}
    for k, name in enumerate(run.world.feet.names):
        wrench, pressure = run.feet["wrench"][chosen, k], run.feet["pressure"][chosen, k]
        found |= {f"foot_{name}_force_{axis}_n": wrench[:, c] for c, axis in enumerate(XYZ)}
        found |= {f"foot_{name}_torque_{axis}_nm": wrench[:, 3 + c] for c, axis in enumerate(XYZ)}
        found |= {f"foot_{name}_cop_{axis}_m": pressure[:, c] for c, axis in enumerate("xy")}
        words = [name_of(state) for state in run.feet["state"][chosen, k]]
        found |= {
            f"foot_{name}_state": np.array(words, object),
            f"foot_{name}_margin_m": run.feet["margin"][chosen, k],
            f"foot_{name}_signal": run.feet["signal"][chosen, k],
        }
    return found


def touches(run: Recorded, chosen: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Columns of the second table."""
    index, n = contact_rows(run, chosen), run.contact_count
    c, names = run.contacts, np.array(run.body_names, object)
    found: dict[str, NDArray[Any]] = {"time_s": np.repeat(run.time[chosen], n[chosen])}
    found |= _episode(run, len(index))
    found |= {side: names[c[side][index]] for side in ("body_a", "body_b")}
    for name, column in (
        ("point", "{}_m"),
        ("normal", "normal_{}"),
        ("force", "force_{}_n"),
        ("moment", "moment_{}_nm"),
    ):
        found |= {column.format(axis): c[name][index, k] for k, axis in enumerate(XYZ)}
    return found | {
        "gap_m": c["gap"][index],
        "status": np.array(STATUS, object)[c["status"][index]],
    }


def changes(run: Recorded, chosen: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Columns of the third table."""
    events = foot_events(run, chosen)
    return {
        "time_s": np.array([event.time for event in events], float),
        **_episode(run, len(events)),
        **{
            name: np.array([getattr(event, name) for event in events], object)
            for name in ("foot", "before", "after")
        },
    }


def _episode(run: Recorded, count: int) -> dict[str, NDArray[Any]]:
    """A column with the number of the episode, where there are several."""
    return {"episode": np.full(count, run.episode)} if run.episode_name else {}


def beside(path: Path, what: str) -> Path:
    """Where the others go: run.csv has run.contacts.csv and run.feet.csv beside it."""
    return path.with_name(f"{path.stem}.{what}{path.suffix}")


def _tables(
    run: Recorded, path: Path, chosen: NDArray[np.int64]
) -> dict[Path, dict[str, NDArray[Any]]]:
    """All tables by where they go."""
    found = {path: moments(run, chosen), beside(path, "contacts"): touches(run, chosen)}
    return found | ({beside(path, "feet"): changes(run, chosen)} if run.world.feet.names else {})


def write_csv(run: Recorded, path: Path, chosen: NDArray[np.int64]) -> list[Path]:
    """The tables as text; every number with all its digits."""
    found = _tables(run, path, chosen)
    for file, columns in found.items():
        with file.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(columns)
            for start in range(0, len(columns["time_s"]), BATCH):
                some = [column[start : start + BATCH].tolist() for column in columns.values()]
                # only a NaN is not itself
                writer.writerows(
                    ["" if value != value else value for value in row]
                    for row in zip(*some, strict=True)
                )
    return list(found)


def write_parquet(run: Recorded, path: Path, chosen: NDArray[np.int64]) -> list[Path]:
    """The tables, with the run's meta data in theirs."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise RecordingError(
            f"{path}: Parquet needs the package pyarrow; "
            "install it with: pip install 'tabi[export]'"
        ) from None
    about = {
        "tabi": json.dumps(
            run.meta
            | {"created": run.created, "dt": run.dt, "tolerance": run.tolerance, "scene": run.scene}
        )
    }
    found = _tables(run, path, chosen)
    for file, columns in found.items():
        table = pyarrow.table({name: pyarrow.array(column) for name, column in columns.items()})
        parquet.write_table(table.replace_schema_metadata(about), file)
    return list(found)
