"""From two runs of one scene to figures: of each engine by itself, and how far apart they are.

    flicker of a force   RMS of f about its 5 Hz low-pass                                      (1)
    creep of a foot      |p(t₂) − p(t₁)| / (t₂ − t₁), level                                    (2)
    drift of a body      |p(T) − p(T − END_TIME_S)| / END_TIME_S                               (3)
The low-pass is a Butterworth of second order, forwards and backwards; t₁…t₂ is the longest while in
which the foot bears a load. Forces, creep and overlap in the mean are taken after SETTLING_TIME_S
or a quarter of a short run: before, soft contacts sink in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.lab.referee.track import Watched

Array = NDArray[np.float64]
Columns = dict[str, dict[str, Array]]
# s: until forces are looked at; the end of the run over which bodies drift.
# m: apart by so much, two runs have parted
SETTLING_TIME_S, END_TIME_S, DIVERGENCE_M = 0.5, 0.5, 0.01
# Hz; of the weight, what a foot has to bear to stand
CUTOFF_HZ, LOAD_SHARE = 5.0, 0.02
# minimum number of rows for a low-pass that means something
MIN_ROWS = 200


def figures(
    about: dict[str, Any],
    engines: dict[str, dict[str, Any]],
    columns: Columns,
    time: Array,
    see: Watched,
) -> dict[str, Any]:
    """All figures, plain data with units in the names;
    ``about`` and ``engines`` with what is known of them.
    """
    settled = time >= min(SETTLING_TIME_S, 0.25 * time[-1])
    for name, track in columns.items():
        engines[name] |= _alone(track, time, settled, see, about["weight_n"])
    result = about | {"settled_after_s": round(float(time[settled][0]), 9), "engines": engines}
    ours, theirs = columns.values()
    result["differences"] = _apart(ours, theirs, time, settled, see, LOAD_SHARE * about["weight_n"])
    result["verdict"] = verdict(result)
    return result


# ---- one engine ---------------------------------------------------------------------------------


def _alone(
    track: dict[str, Array], time: Array, settled: NDArray[np.bool_], see: Watched, weight: float
) -> dict[str, Any]:
    ends = np.searchsorted(time, time[-1] - END_TIME_S)
    drift = np.linalg.norm(track["position"][-1] - track["position"][ends], axis=1) / max(
        time[-1] - time[ends], 1e-12
    )
    bodies = {
        name: {
            "end_m": [float(x) for x in track["position"][-1, k]],
            "drift_mm_s": 1e3 * float(drift[k]),
        }
        for k, name in enumerate(see.names)
    }
    feet = {}
    for k, name in enumerate(see.world.feet.names):
        load = track["wrench"][:, k, 2]
        feet[name] = {
            "load_n": float(load[settled].mean()),
            "flicker_n": flicker(load[settled], time[1] - time[0] if len(time) > 1 else 1.0),
            "creep_mm_s": creep(
                track["foot"][settled, k], load[settled] > LOAD_SHARE * weight, time[settled]
            ),
        }
    below = {
        name: np.flatnonzero(track["position"][:, k, 2] < least)
        for name, (k, least) in see.bases.items()
    }
    ground = track["ground"][settled, 2]
    return {
        "fallen_at_s": {
            name: round(float(time[rows[0]]), 9) for name, rows in below.items() if len(rows)
        },
        "penetration_mm": {
            "largest": 1e3 * float(track["penetration"].max()),
            "mean": 1e3 * float(track["penetration"][settled].mean()),
        },
        "energy_j": {"start": float(track["energy"][0]), "end": float(track["energy"][-1])},
        "ground_force_n": {
            "mean": float(ground.mean()),
            "flicker": flicker(ground, time[1] - time[0] if len(time) > 1 else 1.0),
        },
        "bodies": bodies,
        "feet": feet,
    }


def flicker(force: Array, dt: float) -> float | None:
    """Equation (1) [N]; None for runs that are too short, or sampled too slowly."""
    if len(force) < MIN_ROWS or 0.5 / dt <= 2 * CUTOFF_HZ:
        return None
    from scipy import signal

    sections = signal.butter(2, CUTOFF_HZ, fs=1.0 / dt, output="sos")
    return float(np.sqrt(np.mean((force - signal.sosfiltfilt(sections, force)) ** 2)))


def creep(place: Array, bears: NDArray[np.bool_], time: Array) -> float | None:
    """Equation (2) [mm/s]; None for a foot that never stands."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], bears.astype(np.int8), [0]])))
    lengths = edges[1::2] - edges[::2]
    if not len(lengths) or lengths.max() < 2:
        return None
    k = int(lengths.argmax())
    first, last = int(edges[2 * k]), int(edges[2 * k + 1]) - 1
    return 1e3 * float(
        np.linalg.norm((place[last] - place[first])[:2]) / (time[last] - time[first])
    )


# ---- both ---------------------------------------------------------------------------------------


def _apart(
    a: dict[str, Array],
    b: dict[str, Array],
    time: Array,
    settled: NDArray[np.bool_],
    see: Watched,
    least: float,
) -> dict[str, Any]:
    gap = np.linalg.norm(a["position"] - b["position"], axis=2)
    bodies = {}
    for k, name in enumerate(see.names):
        worst = int(gap[:, k].argmax())
        bodies[name] = {
            "largest_mm": 1e3 * float(gap[worst, k]),
            "at_s": round(float(time[worst]), 9),
            "end_mm": 1e3 * float(gap[-1, k]),
        }
    feet: dict[str, dict[str, float | None]] = {}
    for k, name in enumerate(see.world.feet.names):
        force = a["wrench"][settled, k, :3] - b["wrench"][settled, k, :3]
        pressure = np.linalg.norm(a["pressure"][settled, k] - b["pressure"][settled, k], axis=1)
        # under a foot that bears next to nothing, it may be anywhere
        loaded = np.minimum(a["wrench"][settled, k, 2], b["wrench"][settled, k, 2]) > least
        pressure = pressure[loaded & np.isfinite(pressure)]
        feet[name] = {
            "load_mean_n": float(force[:, 2].mean()),
            "force_largest_n": float(np.linalg.norm(force, axis=1).max()),
        }
        feet[name] |= {
            "pressure_mean_mm": 1e3 * float(pressure.mean()) if len(pressure) else None,
            "pressure_largest_mm": 1e3 * float(pressure.max()) if len(pressure) else None,
        }
    parted = np.flatnonzero(gap.max(axis=1, initial=0.0) > DIVERGENCE_M)
    return {
        "bodies": bodies,
        "feet": feet,
        "parted_at_s": round(float(time[parted[0]]), 9) if len(parted) else None,
        "energy_largest_j": float(np.abs(a["energy"] - b["energy"]).max()),
        "ground_force_mean_n": float((a["ground"] - b["ground"])[settled, 2].mean()),
    }


# ---- in words -----------------------------------------------------------------------------------


def verdict(result: dict[str, Any]) -> str:
    """One sentence or two."""
    if result["fault"]:
        return f"Not to be compared after {result['time_s']:g} s: {result['fault']}."
    ours, theirs = result["engines"]
    fallen = {name: engine["fallen_at_s"] for name, engine in result["engines"].items()}
    for robot in sorted({robot for falls in fallen.values() for robot in falls}):
        if robot not in fallen[ours] or robot not in fallen[theirs]:
            engine, other = (ours, theirs) if robot in fallen[ours] else (theirs, ours)
            return (
                f"They disagree: {robot} falls in {engine} at {fallen[engine][robot]:g} s, "
                f"and stands in {other}. {_soft(result)}"
            )
    apart = result["differences"]["bodies"]
    worst = max(apart, key=lambda name: apart[name]["largest_mm"])
    far, parted = apart[worst], result["differences"]["parted_at_s"]
    where = f"({worst}, at {far['at_s']:g} s)"
    if parted is None:
        return (
            f"They agree to {length(far['largest_mm'])} for {result['time_s']:g} s {where}. "
            f"{_soft(result)}"
        )
    return (
        f"They agree to a centimetre until {parted:g} s, "
        f"and are up to {length(far['largest_mm'])} apart later {where}. {_soft(result)}"
    )


def _soft(result: dict[str, Any]) -> str:
    """Describe how deep bodies sink and how fast feet creep, or the energy where nothing
    touches; both engines.
    """
    parts = []
    touching = any(engine["penetration_mm"]["largest"] > 0 for engine in result["engines"].values())
    for name, engine in result["engines"].items():
        if not touching:
            parts.append(
                f"in {name} energy goes from {engine['energy_j']['start']:.6g} to "
                f"{engine['energy_j']['end']:.6g} J"
            )
            continue
        creeps = [
            foot["creep_mm_s"] for foot in engine["feet"].values() if foot["creep_mm_s"] is not None
        ]
        feet = f", feet creep {length(max(creeps))}/s" if creeps else ""
        parts.append(
            f"in {name} bodies overlap by {length(engine['penetration_mm']['largest'])}{feet}"
        )
    words = "; ".join(parts)
    return f"{words[0].upper()}{words[1:]}."


def length(mm: float) -> str:
    """Millimetres by a unit that suits."""
    for unit, scale in (("m", 1e-3), ("mm", 1.0), ("µm", 1e3)):
        if mm * scale >= 0.9995 or unit == "µm":
            return f"{mm * scale:.3g} {unit}" if mm * scale >= 1e-4 else f"< 1e-4 {unit}"
    return ""
