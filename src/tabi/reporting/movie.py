"""A recording as a GIF by Pillow, or as an MP4 where ffmpeg is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tabi.recording.recorded import Recorded, RecordingError
from tabi.reporting.frames import frames
from tabi.reporting.raster import FORCE, MARKS, Painter

Report = Callable[[int, int], None]
COLORS = 128
# a GIF counts time in hundredths of a second; browsers slow down what is faster than two of them
TICK = 0.01


def write(
    run: Recorded,
    path: Path,
    chosen: NDArray[np.int64],
    size: tuple[int, int],
    report: Report | None = None,
) -> list[Path]:
    """Write a film of some rows, at the pace they were simulated at."""
    look = run.look
    found = frames(run, chosen)
    between = float(np.median(np.abs(np.diff(found.time)))) if len(chosen) > 1 else 0.1
    painter = Painter(look, found, size)

    def pictures() -> Iterator[Image.Image]:
        for k in range(len(chosen)):
            if report is not None:
                report(k, len(chosen))
            yield painter.picture(k)

    if path.suffix.lower() == ".gif":
        write_gif(path, pictures(), between)
    else:
        write_mp4(path, pictures(), between, size)
    return [path]


def write_gif(path: Path, pictures: Iterator[Image.Image], between: float) -> None:
    """Pictures in a loop, with the colours of the first one, and those of forces and marks,
    which may come later.
    """
    first, kept = next(pictures), (FORCE, *MARKS)
    plain, palette = first.quantize(COLORS - len(kept)), Image.new("P", (1, 1))
    own = plain.getpalette() or []
    palette.putpalette(
        [*own[: 3 * (COLORS - len(kept))], *(part for color in kept for part in color)]
    )
    first, *others = [
        picture.quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in chain([first], pictures)
    ]
    duration = max(20, int(1000 * TICK * round(between / TICK)))
    first.save(
        path,
        format="GIF",
        save_all=True,
        append_images=others,
        duration=duration,
        loop=0,
        optimize=False,
    )


def ffmpeg() -> str | None:
    """The program that writes films, on the path or from the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe

            found = get_ffmpeg_exe()
        except (ImportError, RuntimeError):
            found = None
    return found


def write_mp4(
    path: Path, pictures: Iterator[Image.Image], between: float, size: tuple[int, int]
) -> None:
    """Pictures through ffmpeg."""
    program = ffmpeg()
    if program is None:
        raise RecordingError(
            f"{path}: a film needs ffmpeg, and there is none; "
            "install it, or choose a .gif or an .html file"
        )
    stream = [
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-s",
        f"{size[0]}x{size[1]}",
        "-r",
        f"{1 / max(between, 1e-3):g}",
        "-i",
        "-",
    ]
    command = [
        program,
        "-loglevel",
        "error",
        "-y",
        *stream,
        "-pix_fmt",
        "yuv420p",
        str(path.absolute()),
    ]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    try:
        for picture in pictures:
            process.stdin.write(picture.tobytes())
    except BrokenPipeError:
        pass  # it says below why it has stopped
    finally:
        _, said = process.communicate()
    if process.returncode:
        why = said.decode(errors="replace").strip().splitlines()
        raise RecordingError(
            f"{path}: ffmpeg could not write it: {why[-1] if why else process.returncode}"
        )
