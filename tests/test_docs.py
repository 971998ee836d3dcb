"""What the documentation shows runs as it stands:
the Python of a page in one piece, and what it prints is what the page says.

A ``text`` block right after a ``python`` block is that block's output;
"…" in it stands for anything.
"""

import ast
import contextlib
import importlib
import io
import json
import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from lxml import etree
from matplotlib.figure import Figure
from PIL import Image

pytestmark = pytest.mark.docs

DOCS = Path(__file__).resolve().parents[1] / "docs"
SCRIPTS = DOCS / "generate"
PAGES = sorted(DOCS.glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\s*^```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)


def blocks(page):
    """Code, expected output or None, and line of each Python block."""
    text = page.read_text(encoding="utf-8")
    return [
        (found[1], found[2], text[: found.start()].count("\n") + 2)
        for found in BLOCK.finditer(text)
    ]


def like(expected: str) -> re.Pattern:
    """The expected output as a pattern, "…" for anything."""
    return re.compile(
        r"\s*" + ".*?".join(map(re.escape, expected.strip().split("…"))) + r"\s*", re.DOTALL
    )


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_python_of_a_page_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    for module in ("pinocchio", "mujoco"):
        if module in text:
            pytest.importorskip(module)
    namespace: dict = {"__name__": "documentation"}
    assert blocks(page)
    for code, expected, line in blocks(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            # empty lines in front, so that a traceback names the page's own line
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
        if expected is not None:
            assert like(expected).fullmatch(printed.getvalue()), (
                f"{page.name}, line {line} prints\n{printed.getvalue()}"
            )
        else:
            assert printed.getvalue() == "", (
                f"{page.name}, line {line} prints something that the page does not show"
            )


@pytest.fixture
def tables(monkeypatch):
    """docs/generate/tables.py as a module."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    monkeypatch.syspath_prepend(str(SCRIPTS))
    yield importlib.import_module("tables")
    for name in ("tables", "agreement", "filling"):
        sys.modules.pop(name)


def test_every_measured_table_has_its_place_and_is_filled(tables):
    assert len(tables.TABLES) > 0
    for name, (page, _) in tables.TABLES.items():
        found = re.search(
            rf"<!-- table {name}[^\n]*-->\n(.*?)<!-- end {name} -->",
            (DOCS / page).read_text(encoding="utf-8"),
            re.DOTALL,
        )
        assert found, f"{page} has no place for {name}"
        assert found[1].count("\n|") > 3


def test_table_of_joints_is_that_of_the_robot(tables):
    for name in ("hrp2", "hrp1s"):
        assert tables.joints(name) in (DOCS / f"{name}.md").read_text(encoding="utf-8")


def test_a_table_is_replaced_between_its_markers_and_nothing_else_changes(tables, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- table x: made -->\nold\n<!-- end x -->\nafter\n", encoding="utf-8"
    )
    tables.write(page, "x", r"| new \1 |")
    assert (
        page.read_text(encoding="utf-8")
        == "before\n<!-- table x: made -->\n\n| new \\1 |\n\n<!-- end x -->\nafter\n"
    )
    with pytest.raises(SystemExit, match="no place for the table y"):
        tables.write(page, "y", "new")


def test_a_table_without_its_robots_stays_as_it_is(tables, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.modules["agreement"], "ROBOTS", tmp_path / "nowhere")
    monkeypatch.setattr(tables, "DOCS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["tables.py", "humanoids"])
    tables.main()
    assert (
        capsys.readouterr().out == "dynamics.md: humanoids stays as it is, ../shared is not there\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_tables_of_the_contact_problem_are_what_was_measured(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    figures = importlib.import_module("solver_figures")
    measured = json.loads((DOCS / "measured" / "solver.json").read_text(encoding="utf-8"))
    page = (DOCS / "contact.md").read_text(encoding="utf-8")
    assert len(figures.TABLES) > 0
    for name, make in figures.TABLES.items():
        assert f"<!-- table {name}" in page
        assert make(measured) in page, f"{name}: run docs/generate/solver_figures.py"
    sys.modules.pop("solver_figures")


def test_the_gallery_of_scenes_is_that_of_its_script(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    script = importlib.import_module("scene_tables")
    assert script.gallery() in (DOCS / "gallery.md").read_text(encoding="utf-8")
    for name in ("scene_tables", "filling"):
        sys.modules.pop(name)


def test_the_site_has_a_font_for_every_character_and_links_from_docstrings(monkeypatch):
    from matplotlib import ft2font

    monkeypatch.syspath_prepend(str(SCRIPTS))
    script = importlib.import_module("site_hooks")
    there = set(ft2font.FT2Font(str(script.font())).get_charmap())
    pages = [*DOCS.glob("*.md"), *DOCS.glob("api/*.md"), *DOCS.glob("notebooks/*.ipynb")]
    # docstrings are the reference
    used = {
        ord(letter)
        for path in [*pages, *(DOCS.parent / "src").rglob("*.py")]
        for letter in path.read_text(encoding="utf-8")
    }
    assert ord("λ") in used
    assert {chr(letter) for letter in used - there if letter > 126} == set()
    assert (
        script.linked("Example: docs/worlds.md") == 'Example: <a href="../worlds.html">worlds</a>'
    )
    sys.modules.pop("site_hooks")


def test_links_between_pages_and_pictures_are_there():
    link = re.compile(r"""\]\(([^)#]+)|src="([^"]+)\"""")
    targets = [
        (page.name, a or b)
        for page in PAGES
        for a, b in link.findall(page.read_text(encoding="utf-8"))
    ]
    assert len(targets) > 8
    assert [
        (page, target)
        for page, target in targets
        if "://" not in target and not (DOCS / target).exists()
    ] == []


@pytest.mark.parametrize(
    "script",
    sorted(path.stem for path in SCRIPTS.glob("*.py") if "def main" in path.read_text("utf-8")),
)
def test_scripts_of_the_documentation_find_what_they_use(script, monkeypatch):
    pytest.importorskip("playwright")
    monkeypatch.syspath_prepend(str(SCRIPTS))
    # a folder of tests may have the same name
    monkeypatch.delitem(sys.modules, script, raising=False)
    before = set(sys.modules)
    assert callable(importlib.import_module(script).main)
    for name in set(sys.modules) - before:
        if (SCRIPTS / f"{name}.py").is_file():
            sys.modules.pop(name)


def test_a_drawing_is_saved_in_fewer_characters_and_is_the_same_drawing(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    saving = importlib.import_module("saving")
    figure = Figure(figsize=(4.0, 3.0))
    axes = figure.add_subplot()
    axes.plot(np.linspace(0.0, 1.0, 40), np.linspace(0.0, 1.0, 40) ** 2, label="x²")
    axes.legend()
    figure.savefig(tmp_path / "drawn.svg")
    long, saved = (tmp_path / "drawn.svg").read_text(encoding="utf-8"), tmp_path / "saved.svg"
    saving.save_figure(figure, saved)
    short = saved.read_text(encoding="utf-8")
    assert len(short) < 0.75 * len(long)
    assert saving.plain_svg(short) == short
    before, after = (etree.fromstring(text.encode()) for text in (long, short))
    assert [e.tag for e in after.iter()] == [
        e.tag
        for e in before.iter(etree.Element)
        if not any(up.tag.endswith("}metadata") for up in (e, *e.iterancestors()))
    ]
    # every name that is asked for is there, and coordinates are to 0.01
    asked = re.findall(r'(?:href="|url\()#([^")]+)', short)
    assert set(asked) == set(re.findall(r' id="([^"]+)"', short))
    for path, same in zip(before.iter("{*}path"), after.iter("{*}path"), strict=True):
        x, y = (
            [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?", e.get("d"))] for e in (path, same)
        )
        np.testing.assert_allclose(y, x, atol=0.005 + 1e-9)
    sys.modules.pop("saving")


def test_a_picture_is_saved_with_a_palette_or_with_shades_and_a_film_as_one_file(
    monkeypatch, tmp_path
):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    saving = importlib.import_module("saving")
    image = Image.linear_gradient("L").convert("RGB")
    saving.save_image(image, tmp_path / "a.png")
    assert Image.open(tmp_path / "a.png").mode == "P"
    saving.save_image(image, tmp_path / "a.webp")
    shades = np.asarray(Image.open(tmp_path / "a.webp").convert("L"), dtype=float)
    assert np.abs(shades - np.asarray(image.convert("L"))).max() < 8
    with pytest.raises(SystemExit, match="saved as"):
        saving.save_image(image, tmp_path / "a.bmp")
    frames = [Image.new("RGB", (64, 48), (20 * k, 0, 0)) for k in range(6)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:], duration=100)
    saving.save_film(tmp_path / "a.gif", tmp_path / "film.webp", every=2, width=32)
    film = Image.open(tmp_path / "film.webp")
    assert (film.n_frames, film.size) == (3, (32, 24))
    film.seek(1)
    film.load()
    assert film.info["duration"] == 200
    sys.modules.pop("saving")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("rollout", "rollout"),
        ("step", "step"),
        ("step", "solve"),
        ("step", "find_points"),
        ("step", "find_velocities"),
        ("step", "conclude"),
        ("free_motion", "free_motion"),
        ("solving", "solve_contacts"),
        ("solving", "solve_groups"),
        ("solving", "solve_group"),
        ("assembly", "assemble"),
        ("laws/coulomb", "solve"),
    ],
)
def test_the_step_that_the_architecture_shows_is_the_one_that_runs(file, name):
    source = (DOCS.parent / f"src/tabi/step/{file}.py").read_text(encoding="utf-8")
    (found,) = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    lines = source.splitlines()[found.lineno - 1 : found.end_lineno]
    kernel = textwrap.dedent("\n".join(lines))
    assert kernel in (DOCS / "architecture.md").read_text(encoding="utf-8")
    # one screen, each of them
    assert len(lines) <= 40
