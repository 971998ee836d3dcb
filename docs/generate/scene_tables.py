"""Writes the tables of docs/scenes.md between their marker comments,
and the JSON schema of scene files into the package.

python docs/generate/scene_tables.py        from the types that scene files are read with
"""

from __future__ import annotations

import re
from pathlib import Path

from tabi import scenes
from tabi.scenes import schema

PAGE = Path(__file__).resolve().parents[1] / "scenes.md"


def gallery() -> str:
    """The built-in scenes with their pictures."""
    rows = ["| scene | | |", "|:--|:--|:--|"]
    for name in scenes.names():
        rows.append(
            f'| `{name}` | {scenes.load(name).title} | <img src="pictures/scenes/{name}.png" '
            f'width="200" alt="{name}"> |'
        )
    return "\n".join(rows)


def main() -> None:
    """Page and schema."""
    page = PAGE.read_text(encoding="utf-8")
    for name, table in {
        "gallery": gallery(),
        **{name: schema.table(name) for name in schema.TABLES},
    }.items():
        marked = re.compile(rf"(<!-- table {name}[^\n]*-->\n).*?(<!-- end {name} -->)", re.DOTALL)
        if not marked.search(page):
            raise SystemExit(f"{PAGE.name} has no place for the table {name}")
        page = marked.sub(lambda found, table=table: f"{found[1]}\n{table}\n\n{found[2]}", page)
    PAGE.write_text(page, encoding="utf-8")
    Path(schema.__file__).with_name(schema.FILE).write_text(schema.text(), encoding="utf-8")


if __name__ == "__main__":
    main()
