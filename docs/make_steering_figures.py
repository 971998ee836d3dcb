"""Makes the film of the page on balance: the built-in scene ``steer``, ahead, on an arc and
sideways, with two pushes on the way.

python docs/make_steering_figures.py            needs Pillow; no graphics card, no browser
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tabi import scenes
from tabi.apps.recordings import movie
from tabi.apps.recordings.frames import rows
from tabi.apps.run import play
from tabi.recording.recorded import read

FILE = Path(__file__).resolve().parent / "pictures" / "steering.gif"
# from and until when [s], pictures a second, pixels
FROM, UNTIL, RATE, SIZE = 0.4, 10.4, 8.0, (340, 360)
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
        movie.write(run, FILE, rows(run, RATE, FROM, UNTIL), SIZE)
    print(f"{FILE.name}: {FILE.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
