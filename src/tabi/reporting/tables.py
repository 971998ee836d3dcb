"""Export of a recording to tables for other programs: CSV, or Parquet.

Columns carry their units: time_s, q_NAME [rad or m], v_NAME, effort_NAME [N·m or N],
foot_NAME_force_x_n, …; a floating base has _x _y _z _qw _qx _qy _qz in q and _x _y _z _wx _wy _wz
in v, along the world's axes. Missing numbers (pressure without a load) are empty in CSV and
NaN in Parquet. A recording of several episodes has the number of this one in the column
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


def moments(run: Recorded, selected: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the columns of the first table."""
    world = run.world
    table: dict[str, NDArray[Any]] = {"time_s": run.time[selected]} | _episode(run, len(selected))
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
        table |= {f"{prefix}_{name}": values[selected, k] for k, name in enumerate(columns)}
    table |= _foot_columns(run, selected)
    for name, values in run.sensors.items():
        table |= {
            f"sensor_{name}_{label}": values[selected, c]
            for c, label in enumerate(run.sensor_labels[name])
        }
    for k, name in enumerate(world.robot_names):
        table |= {
            f"{name}_com_{axis}_m": run.robots["centre_of_mass"][selected, k, c]
            for c, axis in enumerate(XYZ)
        }
        table |= {
            f"{name}_zmp_{axis}_m": run.robots["zmp"][selected, k, c] for c, axis in enumerate(XYZ)
        }
    table |= {f"{part}_energy_j": run.energy[part][selected] for part in ("kinetic", "potential")}
    units = {
        "residual": "residual_m_s",
        "gap": "gap_m",
        "iterations": "iterations",
        "missed": "missed",
    }
    table |= {column: run.certificate[name][selected] for name, column in units.items()}
    return table | {"contacts": run.contact_count[selected]}


def _foot_columns(run: Recorded, selected: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the columns of feet in the first table."""
    columns: dict[str, NDArray[Any]] = {}
    for k, name in enumerate(run.world.feet.names):
        wrench, pressure = run.feet["wrench"][selected, k], run.feet["pressure"][selected, k]
        columns |= {f"foot_{name}_force_{axis}_n": wrench[:, c] for c, axis in enumerate(XYZ)}
        columns |= {f"foot_{name}_torque_{axis}_nm": wrench[:, 3 + c] for c, axis in enumerate(XYZ)}
        columns |= {f"foot_{name}_cop_{axis}_m": pressure[:, c] for c, axis in enumerate("xy")}
        words = [name_of(state) for state in run.feet["state"][selected, k]]
        columns |= {
            f"foot_{name}_state": np.array(words, object),
            f"foot_{name}_margin_m": run.feet["margin"][selected, k],
            f"foot_{name}_signal": run.feet["signal"][selected, k],
        }
    return columns


def touches(run: Recorded, selected: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the columns of the second table."""
    index, n = contact_rows(run, selected), run.contact_count
    c, names = run.contacts, np.array(run.body_names, object)
    columns: dict[str, NDArray[Any]] = {"time_s": np.repeat(run.time[selected], n[selected])}
    columns |= _episode(run, len(index))
    columns |= {side: names[c[side][index]] for side in ("body_a", "body_b")}
    for name, column in (
        ("point", "{}_m"),
        ("normal", "normal_{}"),
        ("force", "force_{}_n"),
        ("moment", "moment_{}_nm"),
    ):
        columns |= {column.format(axis): c[name][index, k] for k, axis in enumerate(XYZ)}
    return columns | {
        "gap_m": c["gap"][index],
        "status": np.array(STATUS, object)[c["status"][index]],
    }


def changes(run: Recorded, selected: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the columns of the third table."""
    events = foot_events(run, selected)
    return {
        "time_s": np.array([event.time for event in events], float),
        **_episode(run, len(events)),
        **{
            name: np.array([getattr(event, name) for event in events], object)
            for name in ("foot", "before", "after")
        },
    }


def _episode(run: Recorded, count: int) -> dict[str, NDArray[Any]]:
    """Return a column with the number of the episode, if there are several."""
    return {"episode": np.full(count, run.episode)} if run.episode_name else {}


def beside(path: Path, what: str) -> Path:
    """Return the path of another table: run.csv has run.contacts.csv and run.feet.csv beside it."""
    return path.with_name(f"{path.stem}.{what}{path.suffix}")


def _tables(
    run: Recorded, path: Path, selected: NDArray[np.int64]
) -> dict[Path, dict[str, NDArray[Any]]]:
    """Return all tables by their paths."""
    tables = {path: moments(run, selected), beside(path, "contacts"): touches(run, selected)}
    return tables | ({beside(path, "feet"): changes(run, selected)} if run.world.feet.names else {})


def write_csv(run: Recorded, path: Path, selected: NDArray[np.int64]) -> list[Path]:
    """Write the tables as text; every number with all its digits."""
    tables = _tables(run, path, selected)
    for file, columns in tables.items():
        with file.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(columns)
            for start in range(0, len(columns["time_s"]), BATCH):
                batch = [column[start : start + BATCH].tolist() for column in columns.values()]
                # only a NaN differs from itself
                writer.writerows(
                    ["" if value != value else value for value in row]
                    for row in zip(*batch, strict=True)
                )
    return list(tables)


def write_parquet(run: Recorded, path: Path, selected: NDArray[np.int64]) -> list[Path]:
    """Write the tables, with the run's meta data in theirs."""
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
    tables = _tables(run, path, selected)
    for file, columns in tables.items():
        table = pyarrow.table({name: pyarrow.array(column) for name, column in columns.items()})
        parquet.write_table(table.replace_schema_metadata(about), file)
    return list(tables)
