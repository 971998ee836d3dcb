"""What the documentation shows runs as it stands:
the Python of a page in one piece, and what it prints is what the page says.

A ``text`` block right after a ``python`` block is that block's output;
"…" in it stands for anything.
"""

import contextlib
import importlib
import io
import json
import re
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.docs

DOCS = Path(__file__).resolve().parents[1] / "docs"
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
def make_tables(monkeypatch):
    """docs/make_tables.py as a module."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    monkeypatch.syspath_prepend(str(DOCS))
    yield importlib.import_module("make_tables")
    sys.modules.pop("make_tables")


def test_every_measured_table_has_its_place_and_is_filled(make_tables):
    assert len(make_tables.TABLES) > 0
    for name, (page, _) in make_tables.TABLES.items():
        found = re.search(
            rf"<!-- table {name}[^\n]*-->\n(.*?)<!-- end {name} -->",
            (DOCS / page).read_text(encoding="utf-8"),
            re.DOTALL,
        )
        assert found, f"{page} has no place for {name}"
        assert found[1].count("\n|") > 3


def test_table_of_joints_is_that_of_the_robot(make_tables):
    for name in ("hrp2", "hrp1s"):
        assert make_tables.joints(name) in (DOCS / f"{name}.md").read_text(encoding="utf-8")


def test_a_table_is_replaced_between_its_markers_and_nothing_else_changes(make_tables, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- table x: made -->\nold\n<!-- end x -->\nafter\n", encoding="utf-8"
    )
    make_tables.write(page, "x", r"| new \1 |")
    assert (
        page.read_text(encoding="utf-8")
        == "before\n<!-- table x: made -->\n\n| new \\1 |\n\n<!-- end x -->\nafter\n"
    )
    with pytest.raises(SystemExit, match="no place for the table y"):
        make_tables.write(page, "y", "new")


def test_a_table_without_its_robots_stays_as_it_is(make_tables, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(make_tables, "ROBOTS", tmp_path / "nowhere")
    monkeypatch.setattr(make_tables, "DOCS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["make_tables.py", "humanoids"])
    make_tables.main()
    assert (
        capsys.readouterr().out == "dynamics.md: humanoids stays as it is, ../shared is not there\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_tables_of_the_contact_problem_are_what_was_measured(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    figures = importlib.import_module("make_solver_figures")
    measured = json.loads((DOCS / "measured" / "solver.json").read_text(encoding="utf-8"))
    page = (DOCS / "contact.md").read_text(encoding="utf-8")
    assert len(figures.TABLES) > 0
    for name, make in figures.TABLES.items():
        assert f"<!-- table {name}" in page
        assert make(measured) in page, f"{name}: run docs/make_solver_figures.py"
    sys.modules.pop("make_solver_figures")


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


@pytest.mark.parametrize("script", sorted(path.stem for path in DOCS.glob("make_*.py")))
def test_scripts_of_the_documentation_find_what_they_use(script, monkeypatch):
    pytest.importorskip("playwright")
    monkeypatch.syspath_prepend(str(DOCS))
    assert callable(importlib.import_module(script).main)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("step", "step"),
        ("step", "find_velocities"),
        ("step", "conclude"),
        ("solving", "leave_overlaps"),
        ("free_motion", "free_motion"),
        ("solving", "solve_contacts"),
    ],
)
def test_the_step_that_the_architecture_shows_is_the_one_that_runs(file, name):
    source = (DOCS.parent / "src" / "tabi" / "simulation" / f"{file}.py").read_text(
        encoding="utf-8"
    )
    found = re.search(
        rf"^    def {name}\(.*?(?=^    (?:@|return|\S))", source, re.MULTILINE | re.DOTALL
    )
    assert found
    kernel = re.sub(r"^    ", "", found[0], flags=re.MULTILINE).strip()
    assert kernel in (DOCS / "architecture.md").read_text(encoding="utf-8")
    # one screen, each of them
    assert len(kernel.splitlines()) <= 40
