"""Draws the figure of the page on scenes: how hard and how long HRP-2 may be pushed,
by ``tabi sweep`` itself.

python docs/generate/sweep_figure.py            a minute on two cores
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from filling import PICTURES
from saving import shrink

FIGURE = PICTURES / "sweep_push.png"
SWEEP = (
    "sweep push --over pushes.0.force_n.0=100:400:11 --over pushes.0.duration_s=0.05:0.25:9 "
    "--set pushes.1.force_n=[0,0,0] --time 3 --plot fallen_at"
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        words = [
            *SWEEP.split(),
            "--out",
            str(Path(folder) / "push"),
            "--figure",
            str(FIGURE),
            "--plot",
            "fallen_at",
        ]
        subprocess.run([sys.executable, "-m", "tabi.apps.cli", *words], check=True)
    shrink(FIGURE)


if __name__ == "__main__":
    main()
