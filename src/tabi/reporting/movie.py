"""Export of a recording to a GIF by Pillow, or to an MP4 where ffmpeg is installed."""

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
COLOR_COUNT = 128
# GIFs count time in hundredths of a second; browsers slow down frames below two of them
GIF_TICK_S = 0.01


def write(
    run: Recorded,
    path: Path,
    selected: NDArray[np.int64],
    size: tuple[int, int],
    report: Report | None = None,
) -> list[Path]:
    """Write a film of some rows, in real time."""
    look = run.look
    drawn = frames(run, selected)
    between = float(np.median(np.abs(np.diff(drawn.time)))) if len(selected) > 1 else 0.1
    painter = Painter(look, drawn, size)

    def pictures() -> Iterator[Image.Image]:
        for k in range(len(selected)):
            if report is not None:
                report(k, len(selected))
            yield painter.picture(k)

    if path.suffix.lower() == ".gif":
        write_gif(path, pictures(), between)
    else:
        write_mp4(path, pictures(), between, size)
    return [path]


def write_gif(path: Path, pictures: Iterator[Image.Image], between: float) -> None:
    """Write pictures in a loop, with the colours of the first one, and those of forces and marks,
    which may appear later.
    """
    first, mark_colors = next(pictures), (FORCE, *MARKS)
    plain, palette = first.quantize(COLOR_COUNT - len(mark_colors)), Image.new("P", (1, 1))
    colors = plain.getpalette() or []
    palette.putpalette(
        [
            *colors[: 3 * (COLOR_COUNT - len(mark_colors))],
            *(part for color in mark_colors for part in color),
        ]
    )
    first, *rest = [
        picture.quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in chain([first], pictures)
    ]
    duration = max(20, int(1000 * GIF_TICK_S * round(between / GIF_TICK_S)))
    first.save(
        path,
        format="GIF",
        save_all=True,
        append_images=rest,
        duration=duration,
        loop=0,
        optimize=False,
    )


def ffmpeg() -> str | None:
    """Return the program ffmpeg, on the path or from the package imageio-ffmpeg."""
    program = shutil.which("ffmpeg")
    if program is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe

            program = get_ffmpeg_exe()
        except (ImportError, RuntimeError):
            program = None
    return program


def write_mp4(
    path: Path, pictures: Iterator[Image.Image], between: float, size: tuple[int, int]
) -> None:
    """Write pictures with ffmpeg to a film."""
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
        pass  # its error message follows below
    finally:
        _, errors = process.communicate()
    if process.returncode:
        why = errors.decode(errors="replace").strip().splitlines()
        raise RecordingError(
            f"{path}: ffmpeg could not write it: {why[-1] if why else process.returncode}"
        )
