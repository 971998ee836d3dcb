"""Writes the tables of docs/scenes.md and the grid of docs/gallery.md between their marker
comments, and the JSON schema of scene files into the package.

python docs/generate/scene_tables.py        from the types that scene files are read with
"""

from __future__ import annotations

from pathlib import Path

from filling import DOCS, write

from tabi import scenes
from tabi.scenes import schema

PAGE, GALLERY = DOCS / "scenes.md", DOCS / "gallery.md"


def gallery() -> str:
    """Make a grid of the built-in scenes: picture, title, and the command that shows it."""
    cells = ['<div class="gallery">']
    for name in scenes.names():
        title = scenes.load(name).title
        cells.append(
            f'<figure><img src="pictures/scenes/{name}.webp" alt="{title}" loading="lazy">'
            f"<figcaption>{title}<br><code>tabi run {name} --page</code></figcaption></figure>"
        )
    return "\n".join([*cells, "</div>"])


def main() -> None:
    """Pages and schema."""
    write(GALLERY, "gallery", gallery())
    for name in schema.TABLES:
        write(PAGE, name, schema.table(name))
    Path(schema.__file__).with_name(schema.FILE).write_text(schema.text(), encoding="utf-8")


if __name__ == "__main__":
    main()
