"""Fills the README's table of speed and error from docs/measured.

python docs/generate/front_page.py            measures step and dynamics (two minutes), writes all
python docs/generate/front_page.py --tables   only writes the table, from the files

Errors are those of docs/measured/compare.json (docs/generate/compare.py measures them).
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from filling import DOCS, keep, table, write

README = DOCS.parent / "README.md"
MEASURED = ("step", "dynamics")


def load(name: str) -> dict[str, Any]:
    """Read what was measured."""
    return json.loads((DOCS / "measured" / f"{name}.json").read_text(encoding="utf-8"))


def measure() -> None:
    """Run the benchmarks, each in a process of its own, and store their JSON."""
    for name in MEASURED:
        command = [str(Path(sys.executable).parent / "tabi"), "bench", name, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        keep(DOCS / "measured" / f"{name}.json", json.loads(done.stdout))


def speed_and_error(step: Any, dynamics: Any, compared: Any) -> str:
    """Make the table, and the sentence on where and when it was measured."""
    rows = []
    for motion, title in (("standing", "stands"), ("squat", "squats")):
        x = step["robots"]["hrp2"][motion]
        ours, theirs, pin = x["microseconds"], x["ratio_to_mujoco"], x["ratio_to_pinocchio"]
        rows.append(
            [
                f"HRP-2 {title} on 8 contacts: one step",
                f"{ours['tabi']:.0f} µs",
                f"{theirs['default']:.1f} ×",
                f"{pin['PGS']:.1f} × (PGS), {pin['ADMM']:.1f} × (ADMM)",
                "`tabi bench step`",
            ]
        )
    x = dynamics["robots"]["hrp2"]
    free = x["free_step"]
    rows += [
        [
            "HRP-2 in free flight: one step",
            f"{free['microseconds']['compiled loop']:.1f} µs",
            f"{free['ratio_to_mujoco']:.1f} ×",
            "–",
            "`tabi bench dynamics`",
        ],
        [
            "HRP-2: forward dynamics (ABA)",
            f"{x['microseconds']['aba']:.1f} µs",
            "–",
            f"{x['ratio_to_pinocchio']['aba']:.1f} ×",
            "`tabi bench dynamics`",
        ],
    ]
    slope = compared["mujoco"]["slope"]["engines"]
    creep = [slope[name]["bodies"]["stays"]["drift_mm_s"] for name in ("tabi", "MuJoCo")]
    rows.append(
        [
            "a box that friction holds on a slope of 20° creeps at",
            *(f"{number(x)} mm/s" for x in creep),
            "–",
            "`tabi compare slope`",
        ]
    )
    stands = compared["mujoco"]["standing"]["engines"]
    sinks = [stands[name]["penetration_mm"]["largest"] for name in ("tabi", "MuJoCo")]
    rows.append(
        [
            "HRP-2's soles sink into rigid ground by",
            *(f"{number(x)} mm" for x in sinks),
            "–",
            "`tabi compare standing`",
        ]
    )
    head = ["", "tabi", "MuJoCo", "Pinocchio", "measured by"]
    where, versions = step["hardware"], step["versions"]
    note = (
        f"×: their time over tabi's, medians of interleaved blocks in one process, on one core of "
        f"an {where['processor']}, in compiled loops. MuJoCo {versions['mujoco']} with elliptic "
        f"cones through `rollout`; Pinocchio {versions['pin']}: aba, crba, constraint Cholesky and "
        f"a solver to the same certified residual. Revision {step['revision']}, "
        f"{step['measured']}; errors: revision {compared['revision']}, {compared['measured']}."
    )
    return f"{table(head, rows)}\n\n{textwrap.fill(note, 100)}"


def number(x: float) -> str:
    """Write a length with two digits."""
    if x >= 0.01:
        return f"{x:.2g}"
    digits, power = f"{x:.0e}".split("e")
    return f"{digits}·10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


if __name__ == "__main__":
    if "--tables" not in sys.argv:
        measure()
    write(README, "speed", speed_and_error(load("step"), load("dynamics"), load("compare")))
