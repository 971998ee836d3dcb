"""Makes the film of the page on walking: the built-in scene ``walk``, some of its steps.

python docs/generate/walking_figures.py            needs Pillow; no graphics card, no browser
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

FILE = PICTURES / "walking.webp"
# from and until when [s], pictures a second, pixels
FROM, UNTIL, RATE, SIZE = 3.0, 9.4, 5.0, (300, 318)


def main() -> None:
    """The film."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "walk.h5"
        play(scenes.load("walk", ["record.rate_hz=100"]), file, show=False)
        run = read(file)
        movie.write(run, film := Path(folder) / "film.gif", rows(run, RATE, FROM, UNTIL), SIZE)
        save_film(film, FILE)


if __name__ == "__main__":
    main()
