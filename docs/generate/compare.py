"""Fills the part of "Is it right?" on other engines:
every built-in scene against MuJoCo, those with a robot on its feet against Pinocchio.

python docs/generate/compare.py            runs them (a minute), keeps the figures in
                                       docs/measured/compare.json, draws the picture
python docs/generate/compare.py --tables   only writes the tables, from that file
"""

from __future__ import annotations

import json
import sys
from typing import Any

from filling import DOCS, PICTURES, keep, table, write
from saving import shrink

from tabi import ModelError, scenes
from tabi.lab import referee
from tabi.lab.commands.compare import hardware
from tabi.lab.commands.compare_figure import draw

PAGE, FILE = DOCS / "right.md", DOCS / "measured" / "compare.json"
STANDING, DRAWN = ("standing", "squat", "push", "tilt-and-release"), "push"
# what has come to rest at the end of a scene, by what its title says
RESTING = {"slide": "slippery", "slope": "stays", "stack": "heavy5"}


def measure() -> dict[str, Any]:
    """All figures, by referee and scene; what is refused with its sentence."""
    found: dict[str, Any] = hardware() | {"mujoco": {}, "pinocchio": {}}
    for engine, names in (("mujoco", scenes.names()), ("pinocchio", STANDING)):
        for name in names:
            try:
                one = referee.measure(scenes.load(name), engine)
            except ModelError as error:
                found[engine][name] = {"refused": str(error)}
                continue
            found[engine][name] = rounded(one.result)
            print(f"{name} with {engine}: {one.result['verdict']}", flush=True)
            if (engine, name) == ("mujoco", DRAWN):
                draw(drawn := PICTURES / "compare_push.png", one)
                shrink(drawn)
    return found


def rounded(value: Any) -> Any:
    """Four digits: more would be another machine's rounding."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


# ---- tables -------------------------------------------------------------------------------------


def number(x: float | None) -> str:
    """Two digits, or a dash."""
    if x is None:
        return "–"
    if x == 0 or abs(x) < 1e-6:
        return "< 1e-6"
    return (
        f"{x:.0e}".replace("e-0", "e−")
        if abs(x) < 1e-3
        else f"{x:.2g}"
        if abs(x) < 10
        else f"{x:,.0f}"
    )


def both(figures: list[float | None]) -> str:
    """tabi's and MuJoCo's, or a dash where there are none."""
    return "–" if all(x is None for x in figures) else " / ".join(number(x) for x in figures)


def largest(engine: dict[str, Any], key: str) -> float | None:
    """Of the feet."""
    some = [foot[key] for foot in engine["feet"].values() if foot[key] is not None]
    return max(some, default=None)


def against_mujoco(measured: dict[str, Any]) -> str:
    rows = []
    for name, found in measured["mujoco"].items():
        if "refused" in found:
            continue
        engines = list(found["engines"].values())
        parted, apart = found["differences"]["parted_at_s"], found["differences"]["bodies"]
        far = max(body["largest_mm"] for body in apart.values())
        cells = [
            f"`{name}`",
            f"{found['time_s']:g}",
            number(far),
            "–" if parted is None else f"{parted:.2f}",
        ]
        # feet of a robot that lies do not stand
        fell = any(engine["fallen_at_s"] for engine in engines)
        cells.append(both([engine["penetration_mm"]["largest"] for engine in engines]))
        cells.append(both([None if fell else largest(engine, "creep_mm_s") for engine in engines]))
        cells.append(
            both(
                [
                    engine["bodies"][RESTING[name]]["drift_mm_s"] if name in RESTING else None
                    for engine in engines
                ]
            )
        )
        cells.append(
            both(
                [
                    engine["ground_force_n"]["flicker"]
                    if engine["ground_force_n"]["mean"]
                    else None
                    for engine in engines
                ]
            )
        )
        rows.append(cells)
    head = [
        "tabi / MuJoCo",
        "time [s]",
        "apart [mm]",
        "a centimetre from [s]",
        "overlap [mm]",
        "feet creep [mm/s]",
        "rests, and drifts [mm/s]",
    ]
    return table([*head, "flicker of the ground's force [N]"], rows)


def against_pinocchio(measured: dict[str, Any]) -> str:
    rows = []
    for name, found in measured["pinocchio"].items():
        feet, body = found["differences"]["feet"].values(), found["differences"]["bodies"]["hrp2"]
        creep = " / ".join(
            number(1e3 * (largest(engine, "creep_mm_s") or 0.0))
            for engine in found["engines"].values()
        )
        force, pressure = (
            max(foot[key] for foot in feet) for key in ("force_largest_n", "pressure_largest_mm")
        )
        rows.append(
            [
                f"`{name}`",
                f"{found['time_s']:g}",
                number(1e3 * body["largest_mm"]),
                number(1e3 * force),
                number(1e3 * pressure),
                creep,
            ]
        )
    head = [
        "",
        "time [s]",
        "apart [µm]",
        "force on a foot, difference [mN]",
        "centre of pressure, difference [µm]",
        "creep, tabi / Pinocchio [µm/s]",
    ]
    return table(head, rows)


def refused(measured: dict[str, Any]) -> str:
    sentences = [found["refused"] for found in measured["mujoco"].values() if "refused" in found]
    return "\n".join(f"- {sentence.partition('; ')[0]}" for sentence in sentences)


TABLES = {
    "compare-mujoco": against_mujoco,
    "compare-pinocchio": against_pinocchio,
    "compare-refused": refused,
}


def main() -> None:
    """Everything, or the tables only."""
    if "--tables" not in sys.argv[1:]:
        keep(FILE, measure())
    measured = json.loads(FILE.read_text(encoding="utf-8"))
    for name, make in TABLES.items():
        write(PAGE, name, make(measured))


if __name__ == "__main__":
    main()
