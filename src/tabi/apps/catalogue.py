"""``tabi list``, ``tabi scene`` and ``tabi scene-schema``:
what scenes there are, what one says, what one may say.
"""

from __future__ import annotations

import base64
import json
from html import escape
from pathlib import Path
from typing import Annotated

import typer

from tabi.apps.run import SceneArgument, Settings
from tabi.reporting.outputs import check_writable

# in an installed package, and in a checkout
PICTURES = (
    Path(__file__).resolve().parents[1] / "scenes" / "pictures",
    Path(__file__).resolve().parents[3] / "docs" / "pictures" / "scenes",
)
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Scenes of tabi</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; \
padding: 0 1rem; color: #1c2333; }}
main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1.5rem; }}
figure {{ margin: 0; border: 1px solid #d5dae3; border-radius: 8px; overflow: hidden; \
background: #fff; }}
img {{ width: 100%; display: block; }} figcaption {{ padding: .6rem .9rem .9rem; }}
code {{ background: #eef0f5; padding: .1rem .35rem; border-radius: 4px; }}
</style>
<h1>Scenes of tabi</h1><p>Open one in the browser with <code>tabi run NAME --page</code>; \
copy it to change it with <code>tabi scene NAME</code>.</p>
<main>{figures}</main></html>
"""


def list_scenes(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write all of them with their pictures into one HTML page.")
    ] = None,
) -> None:
    """The built-in scenes: name and one line, and into a page with pictures."""
    from tabi import scenes

    if html is not None:
        check_writable(html)
    entries: list[dict[str, str | None]] = [
        {"name": name, "title": scenes.load(name).title, "picture": picture(name)}
        for name in scenes.names()
    ]
    if html is not None:
        html.write_text(gallery(entries), encoding="utf-8")
    if as_json:
        print(json.dumps(entries, indent=2), flush=True)
        return
    wide = max(len(str(entry["name"])) for entry in entries)
    lines = [f"{entry['name']:{wide}}  {entry['title']}" for entry in entries]
    print("\n".join([*lines, "", "with pictures: tabi list --html scenes.html"]), flush=True)


def picture(name: str) -> str | None:
    """Return the path of the picture of a built-in scene; None without one."""
    return next(
        (str(path) for folder in PICTURES if (path := folder / f"{name}.webp").is_file()), None
    )


def gallery(entries: list[dict[str, str | None]]) -> str:
    """Return an HTML page with all pictures in it."""
    figures = []
    for entry in entries:
        data = (
            base64.b64encode(Path(entry["picture"]).read_bytes()).decode()
            if entry["picture"]
            else ""
        )
        name, title = escape(str(entry["name"])), escape(str(entry["title"]))
        image = f'<img src="data:image/webp;base64,{data}" alt="{name}">' if data else ""
        figures.append(
            f"<figure>{image}<figcaption><code>{name}</code><br>{title}</figcaption></figure>"
        )
    return PAGE.format(figures="\n".join(figures))


def show_scene(scene: SceneArgument, settings: Settings = None) -> None:
    """Check a scene and print it as a file to begin from;
    one with --set or from a file as it will be run.
    """
    from tabi import scenes

    loaded = scenes.load(scene, settings or [])
    built_in = scene in scenes.names() and not settings
    assert loaded.file is not None
    # the schema is looked for beside the file that this becomes
    text = (
        loaded.file.read_text(encoding="utf-8").replace("$schema=../", "$schema=")
        if built_in
        else loaded.to_yaml()
    )
    print(text, end="", flush=True)


def scene_schema() -> None:
    """The JSON schema of scene files, for editors."""
    from tabi.scenes import schema

    print(schema.text(), end="", flush=True)
