"""Writes the tables of docs/scenes.md between their marker comments,
and the JSON schema of scene files into the package.

python docs/generate/scene_tables.py        from the types that scene files are read with
"""

from __future__ import annotations

from pathlib import Path

from filling import DOCS, write

from tabi import scenes
from tabi.scenes import schema

PAGE = DOCS / "scenes.md"


def gallery() -> str:
    """The built-in scenes with their pictures."""
    rows = ["| scene | | |", "|:--|:--|:--|"]
    for name in scenes.names():
        rows.append(
            f'| `{name}` | {scenes.load(name).title} | <img src="pictures/scenes/{name}.webp" '
            f'width="200" alt="{name}"> |'
        )
    return "\n".join(rows)


def main() -> None:
    """Page and schema."""
    tables = {"gallery": gallery()} | {name: schema.table(name) for name in schema.TABLES}
    for name, table in tables.items():
        write(PAGE, name, table)
    Path(schema.__file__).with_name(schema.FILE).write_text(schema.text(), encoding="utf-8")


if __name__ == "__main__":
    main()
