"""Saves the pictures and films of the documentation small: a clone should not wait for them.

python docs/generate/saving.py FILE …     make files smaller that are there already

A figure with axes has few colours: PNG with a palette. What a browser or the renderer drew has
shades: WebP. A film is an animated WebP. Line drawings stay SVG, with coordinates to 0.01 points,
short names and no blanks.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

from PIL import Image, ImageSequence

# colours of a figure with axes; quality of shades and of films, of 100
COLOURS, QUALITY, FILM_QUALITY = 48, 80, 55


def save_figure(figure: Any, file: Path, dpi: int = 110) -> None:
    """A figure of Matplotlib: SVG, or PNG with a palette."""
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=dpi)
    shrink(file)


def save_image(image: Image.Image, file: Path) -> None:
    """A picture: WebP with shades, or PNG with a palette, by the file's name."""
    image = image.convert("RGB")
    if file.suffix == ".webp":
        image.save(file, quality=QUALITY, method=6)
    elif file.suffix == ".png":
        few = image.quantize(COLOURS, kmeans=2, dither=Image.Dither.NONE)
        few.save(file, optimize=True)
    else:
        raise SystemExit(f"{file.name}: a picture is saved as .webp or .png")
    print(f"{file.name}: {image.width} x {image.height}, {file.stat().st_size / 1000:.0f} kB")


def save_film(gif: Path, file: Path, every: int = 1, width: int | None = None) -> None:
    """A film as animated WebP, of every so many pictures of a GIF, at most so wide [pixels]."""
    with Image.open(gif) as film:
        duration = film.info["duration"] * every
        pictures = [frame.convert("RGB") for frame in ImageSequence.Iterator(film)][::every]
    if width is not None and width < pictures[0].width:
        size = (width, round(pictures[0].height * width / pictures[0].width))
        pictures = [one.resize(size, Image.Resampling.LANCZOS) for one in pictures]
    first, *others = pictures
    first.save(
        file,
        save_all=True,
        append_images=others,
        duration=duration,
        loop=0,
        quality=FILM_QUALITY,
        method=4,
    )
    print(f"{file.name}: {len(pictures)} pictures, {file.stat().st_size / 1000:.0f} kB")


def shrink(file: Path) -> None:
    """A file that is there already, in the same format."""
    if file.suffix == ".svg":
        file.write_text(plain_svg(file.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
        return
    with Image.open(io.BytesIO(file.read_bytes())) as image:
        save_image(image, file)


def plain_svg(text: str) -> str:
    """The same drawing in fewer characters."""
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<!DOCTYPE.*?>", "", text, flags=re.DOTALL)

    def rounded(found: re.Match[str]) -> str:
        return re.sub(r"-?\d+\.\d{3,}", lambda x: f"{round(float(x[0]), 2):g}", found[0])

    # scales stay as they are: a glyph is drawn at 1/64
    text = re.sub(r'\b(?:d|x|y|points)="[^"]*"|translate\([^)]*\)', rounded, text)
    # in the order in which they are used, so that a second time changes nothing
    used = dict.fromkeys(re.findall(r"(?:href=\"|url\()#([^\")]+)", text))
    short = {name: f"{number:x}" for number, name in enumerate(used)}
    text = re.sub(
        r' id="([^"]*)"', lambda x: f' id="n{short[x[1]]}"' if x[1] in short else "", text
    )
    text = re.sub(r'(href="|url\()#([^")]+)', lambda x: f"{x[1]}#n{short[x[2]]}", text)
    text = re.sub(r'style="([^"]*)"', lambda x: x[0].replace(": ", ":").replace("; ", ";"), text)
    text = re.sub(r"\s*\n\s*", "\n", text)
    text = re.sub(r' d="([^"]*)"', lambda x: f' d="{_steps(x[1])}"', text)
    return re.sub(r">\n<", "><", text).strip() + "\n"


def _steps(path: str) -> str:
    """A path without the blanks around its letters."""
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", path.strip())


def main() -> None:
    """Those named on the command line; a GIF becomes a film beside it."""
    for name in sys.argv[1:]:
        file = Path(name)
        before = file.stat().st_size
        if file.suffix == ".gif":
            save_film(file, file.with_suffix(".webp"))
        else:
            shrink(file)
            print(f"{name}: {before / 1000:.0f} kB, now {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
