"""Makes the film of the page on balance: the built-in scene ``steer``, ahead, on an arc and
sideways, with two pushes on the way.

python docs/generate/steering_figures.py            needs Pillow; no graphics card, no browser
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from filling import PICTURES
from saving import save_film

from tabi import scenes
from tabi.recording.recorded import read
from tabi.reporting import movie
from tabi.reporting.frames import rows
from tabi.runs.play import play

FILE = PICTURES / "steering.webp"
# from and until when [s], pictures a second, pixels
FROM, UNTIL, RATE, SIZE = 0.4, 10.4, 4.0, (300, 318)
SETTINGS = (
    "duration_s=10.5",
    "record.rate_hz=100",
    "fixed=[]",
    "patches=[]",
    "robots.0.motion.steer=[{at_s: 0.3, forward_m_s: 0.22}, {at_s: 4.0, forward_m_s: 0.15, "
    "turn_deg_s: 12}, {at_s: 7.5, sideways_m_s: 0.08}, {at_s: 9.0}]",
    "pushes=[{body: chest, at_s: 2.6, duration_s: 0.1, force_n: [0, 100, 0]}, "
    "{body: chest, at_s: 5.8, duration_s: 0.1, force_n: [90, 0, 0]}]",
)


def main() -> None:
    """The film."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "steer.h5"
        told = play(scenes.load("steer", list(SETTINGS)), file, show=False)
        if told.fallen:
            raise SystemExit(f"it fell: {told.fallen}; push less")
        run = read(file)
        movie.write(run, film := Path(folder) / "film.gif", rows(run, RATE, FROM, UNTIL), SIZE)
        save_film(film, FILE)


if __name__ == "__main__":
    main()
