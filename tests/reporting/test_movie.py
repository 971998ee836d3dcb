"""Pictures without a graphics card, GIFs, and films where there is ffmpeg."""

import subprocess

import numpy as np
import pytest
from PIL import Image

from tabi.recording.recorded import RecordingError
from tabi.reporting import movie
from tabi.reporting.frames import frames, rows
from tabi.reporting.raster import FORCE, Painter


def test_picture_shows_the_robot_in_its_colours(run):
    painter = Painter(run.look, frames(run, rows(run, 10)), (160, 120))
    pixels = np.asarray(painter.picture(1)).astype(int)
    assert pixels.shape == (120, 160, 3)
    # white and blue of HRP-2, brown of the crate, red of the arrows
    red, green, blue = pixels.transpose(2, 0, 1)
    assert ((blue > red + 30) & (blue > 60)).sum() > 20
    assert ((red > blue + 40) & (green > blue)).sum() > 50
    assert (abs(red - green) + abs(green - blue) < 20).sum() > 5000


def test_gif_has_its_frames_and_their_pace(run, tmp_path):
    selected, told = rows(run, 25), []
    (path,) = movie.write(
        run,
        tmp_path / "run.gif",
        selected,
        (96, 72),
        lambda done, count: told.append((done, count)),
    )
    with Image.open(path) as image:
        assert image.size == (96, 72)
        assert image.n_frames == len(selected)
        assert image.info["duration"] == 40
    assert told[-1] == (len(selected) - 1, len(selected))


def test_colours_of_forces_are_kept_though_they_come_later(tmp_path):
    grey = Image.new("RGB", (20, 20), (200, 200, 200))
    red = Image.new("RGB", (20, 20), (200, 200, 200))
    # as many shades as the palette holds, none of them red
    for k in range(256):
        grey.putpixel((k % 20, k // 20), (k, k, k))
    red.paste(FORCE, (5, 5, 15, 15))
    movie.write_gif(tmp_path / "run.gif", iter([grey, red]), 0.04)
    with Image.open(tmp_path / "run.gif") as image:
        image.seek(1)
        assert image.convert("RGB").getpixel((10, 10)) == FORCE


@pytest.mark.process
@pytest.mark.skipif(movie.ffmpeg() is None, reason="no ffmpeg on the path")
def test_film_by_ffmpeg_itself_has_its_frames(run, tmp_path):
    selected, path = rows(run, 10), tmp_path / "run.mp4"
    movie.write(run, path, selected, (96, 72))
    done = subprocess.run(
        [str(movie.ffmpeg()), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True,
        timeout=60,
    )
    assert len(done.stdout) == len(selected) * 96 * 72 * 3


def test_film_without_ffmpeg_is_refused_in_a_sentence(run, tmp_path, monkeypatch):
    monkeypatch.setattr(movie, "ffmpeg", lambda: None)
    with pytest.raises(
        RecordingError,
        match=r"run.mp4: a film needs ffmpeg, and there is none; install it, or choose a .gif",
    ):
        movie.write(run, tmp_path / "run.mp4", rows(run, 10), (96, 72))


@pytest.mark.process
@pytest.mark.parametrize("code", [0, 1])
def test_film_gets_every_pixel_and_ffmpegs_own_words(run, tmp_path, monkeypatch, code):
    # stands for ffmpeg: keeps what it is given, and complains if it is told to
    fake = tmp_path / "ffmpeg"
    fake.write_text(
        f"#!/bin/sh\nfor last; do :; done\ncat > $last\necho no such codec >&2\nexit {code}\n"
    )
    fake.chmod(0o755)
    monkeypatch.setattr(movie, "ffmpeg", lambda: str(fake))
    selected, path = rows(run, 10), tmp_path / "run.mp4"
    if code:
        with pytest.raises(RecordingError, match="ffmpeg could not write it: no such codec"):
            movie.write(run, path, selected, (32, 24))
    else:
        movie.write(run, path, selected, (32, 24))
    assert path.stat().st_size == len(selected) * 32 * 24 * 3
