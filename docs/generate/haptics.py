"""Draws the figure and writes the table of the page on haptics.

python docs/generate/haptics.py          some seconds; the table is what was measured by
                                     tabi bench haptics --json > docs/measured/haptics.json
"""

from __future__ import annotations

import json

import matplotlib.pyplot as plt
import numpy as np
from filling import BLUE, DOCS, ORANGE, PICTURES, plain, table, write
from saving import save_figure

from tabi.lab.validate.haptic_passivity import MAX_ENERGY_J, contact

PAGE = DOCS / "haptics.md"
# scene, mass [kg], stiffness [N/m], jitter [s]
CASES = (("press", 0.1, 1000.0, 5e-3), ("hold", 0.05, 1000.0, 5e-3))


def figure() -> None:
    """Energy of a hand on a sampled wall, with the controller and without."""
    drawn, rows = plt.subplots(2, len(CASES), figsize=(8.0, 4.6), sharex="col")
    for column, (scene, mass, stiffness, jitter) in enumerate(CASES):
        energies, places = rows[0][column], rows[1][column]
        for passive, color, name in ((False, ORANGE, "without"), (True, BLUE, "with")):
            found = contact(scene, mass, stiffness, jitter, passive=passive)
            label = f"{name} the controller"
            energies.plot(found["time"], 1e3 * np.array(found["energy"]), color=color, label=label)
            places.plot(found["time"], 1e3 * np.array(found["place"]), color=color)
        energies.axhline(1e3 * MAX_ENERGY_J, color="0.3", lw=0.8, ls="--")
        energies.set_yscale("symlog", linthresh=1.0)
        energies.set_yticks([-100.0, -10.0, -1.0, 0.0, 1.0, 10.0, 100.0, 1000.0, 10000.0])
        energies.yaxis.set_major_formatter("{x:g}")
        energies.set_title(
            f"{scene}: {1e3 * mass:g} g, {stiffness:g} N/m, {1e3 * jitter:g} ms late"
        )
        places.set_xlabel("time [s]")
        places.set_ylim(-25.0, 45.0)
        plain(energies)
        plain(places)
    rows[0][0].set_ylabel("energy to the hand [mJ]")
    rows[1][0].set_ylabel("handle before the wall [mm]")
    rows[1][0].legend(*rows[0][0].get_legend_handles_labels(), frameon=False, fontsize=8)
    drawn.tight_layout()
    save_figure(drawn, PICTURES / "haptic_passivity.svg")


def figures_table() -> str:
    """What was measured, one row a case."""
    found = json.loads((DOCS / "measured" / "haptics.json").read_text(encoding="utf-8"))
    head = [
        "|",
        "contacts",
        "periods below 2 ms",
        "worst",
        "oldest reading",
        "real time",
        "late, 99 %",
    ]
    rows = [
        [
            name,
            str(one["contacts"]),
            f"{one['periods_below_2_ms']:.2%}",
            f"{one['worst_period_ms']:.1f} ms",
            f"{one['oldest_reading_ms']:.1f} ms",
            f"{one['real_time_factor']:.3f} ×",
            f"{one['late_ms']['99 %']:.2f} ms",
        ]
        for name, one in found["cases"].items()
    ]
    head[0] = ""
    hardware = found["hardware"]
    seconds = found["settings"]["seconds"]
    told = f"{hardware['processor']}, {hardware['cores']} cores, {seconds:g} s each"
    return f"{table(head, rows)}\n\n{told}."


def main() -> None:
    """Figure and table."""
    figure()
    write(PAGE, "haptics", figures_table())


if __name__ == "__main__":
    main()
