"""``tabi list``, ``tabi scene``, ``tabi scene-schema``."""

import json

import pytest
from typer.testing import CliRunner

from tabi import scenes
from tabi.apps import catalogue, cli
from tabi.scenes import schema


def invoke(*arguments: str) -> str:
    done = CliRunner().invoke(cli.app, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_every_scene_is_listed_with_its_line_and_no_path():
    lines = invoke("list").splitlines()
    assert len(lines) == len(scenes.names()) + 2
    assert lines[-1] == "with pictures: tabi list --html scenes.html"
    assert ".webp" not in "".join(lines)
    for name in scenes.names():
        title = next(line for line in lines if line.startswith(f"{name} "))
        assert title.endswith(f"  {scenes.load(name).title}")


@pytest.mark.parametrize("name", scenes.names())
def test_every_scene_has_a_small_picture(name):
    path = catalogue.picture(name)
    assert path is not None, "run docs/generate/scene_pictures.py"
    with open(path, "rb") as file:
        data = file.read()
    assert (data[:4], data[8:12]) == (b"RIFF", b"WEBP")
    assert 1_000 < len(data) <= 30_000


def test_the_list_as_json_has_names_titles_and_pictures():
    page = json.loads(invoke("list", "--json"))
    assert [one["name"] for one in page] == scenes.names()
    assert set(page[0]) == {"name", "title", "picture"}


def test_the_gallery_is_one_page_with_every_picture(tmp_path):
    invoke("list", "--html", str(tmp_path / "scenes.html"))
    page = (tmp_path / "scenes.html").read_text(encoding="utf-8")
    assert page.count("data:image/webp;base64,UklGR") == len(scenes.names())
    assert all(f"<code>{name}</code>" in page for name in scenes.names())
    assert "http" not in page


def test_a_scene_is_printed_as_a_file_to_begin_from():
    first, *rest = invoke("scene", "cart").splitlines()
    # the schema is looked for beside the new file
    assert first == f"# yaml-language-server: $schema={schema.FILE}"
    assert rest == scenes.load("cart").file.read_text(encoding="utf-8").splitlines()[1:]
    changed = invoke("scene", "slide", "--set", "duration_s=1")
    assert scenes.loads(changed) == scenes.load("slide", ["duration_s=1"])


def test_the_schema_is_printed():
    assert invoke("scene-schema") == schema.text()
