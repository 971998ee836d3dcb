"""``tabi list``, ``tabi scene`` and ``tabi scene-schema``: what scenes there are, what one says, what one may say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tabi.apps.run import SceneArgument, Settings

# beside the sources of a checkout; an installed package comes without them
PICTURES = Path(__file__).resolve().parents[3] / "docs" / "pictures" / "scenes"


def list_scenes(as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False) -> None:
    """The built-in scenes: name, one line, one picture."""
    from tabi import scenes

    found = [{"name": name, "title": scenes.load(name).title, "picture": picture(name)} for name in scenes.names()]
    if as_json:
        print(json.dumps(found, indent=2), flush=True)
        return
    wide = max(len(str(one["name"])) for one in found)
    lines = [f"{one['name']:{wide}}  {one['title']}" + (f"\n{'':{wide}}  {one['picture']}" if one["picture"] else "") for one in found]
    print("\n".join(lines), flush=True)


def picture(name: str) -> str | None:
    """Where the picture of a built-in scene is, if there is one."""
    path = PICTURES / f"{name}.png"
    return str(path) if path.is_file() else None


def show_scene(scene: SceneArgument, settings: Settings = None) -> None:
    """Check a scene and print it as a file to begin from; one with --set or from a file as it will be run."""
    from tabi import scenes

    told = scenes.load(scene, settings or [])
    built_in = scene in scenes.names() and not settings
    assert told.file is not None
    print(told.file.read_text(encoding="utf-8") if built_in else told.to_yaml(), end="", flush=True)


def scene_schema() -> None:
    """The JSON schema of scene files, for editors."""
    from tabi.scenes import schema

    print(schema.text(), end="", flush=True)
