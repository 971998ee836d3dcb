"""Makes the film of the page on walking: the built-in scene ``walk``, some of its steps.

python docs/make_walking_figures.py            needs Pillow; no graphics card, no browser
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tabi import scenes
from tabi.apps.recordings import movie
from tabi.apps.recordings.frames import rows
from tabi.apps.run import play
from tabi.recording.recorded import read

FILE = Path(__file__).resolve().parent / "pictures" / "walking.gif"
# from and until when [s], pictures a second, pixels
FROM, UNTIL, RATE, SIZE = 3.0, 9.4, 10.0, (340, 360)


def main() -> None:
    """The film."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "walk.h5"
        play(scenes.load("walk", ["record.rate_hz=100"]), file, show=False)
        run = read(file)
        movie.write(run, FILE, rows(run, RATE, FROM, UNTIL), SIZE)
    print(f"{FILE.name}: {FILE.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
