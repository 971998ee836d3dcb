"""What the README and the examples show runs as it stands."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from tabi.apps.cli import app

pytestmark = pytest.mark.docs

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def python(*arguments: str, folder: Path) -> str:
    """What a fresh interpreter prints, in a folder where it may leave files."""
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=folder, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.process
def test_script_of_the_readme_runs_and_its_forces_are_certified(tmp_path):
    (script,) = BLOCKS
    printed = python("-c", script, folder=tmp_path)
    lines = printed.splitlines()
    # eight corners of the soles and four of the crate, all at rest
    assert sum(line.startswith(("right_foot world", "left_foot world")) for line in lines) == 8
    assert sum(line.startswith("box world") and line.endswith("stick") for line in lines) == 4
    assert "Contacts solved: " in printed
    assert re.search(r"missed +0 steps", printed)


@pytest.mark.process
@pytest.mark.slow
def test_commands_of_the_readme_run_word_for_word(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "release"))
    script = importlib.import_module("readme_commands")
    assert [command.split()[:2] for command, _ in script.commands()][:2] == [
        ["tabi", "list"],
        ["tabi", "run"],
    ]
    script.run_all(Path(sys.executable))
    with pytest.raises(RuntimeError, match="no-such-scene"):
        script._run([sys.executable, "-m", "tabi", "run", "no-such-scene"], ROOT, None)
    sys.modules.pop("readme_commands")


def test_links_and_pictures_of_the_readme_are_there():
    targets = [target for target in re.findall(r"\]\(([^)#]+)", README) if "://" not in target]
    assert len(targets) > 3
    assert [target for target in targets if not (ROOT / target).exists()] == []


@pytest.mark.process
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example_runs(example, tmp_path):
    assert isinstance(python(str(example), folder=tmp_path), str)


def test_the_speed_and_errors_of_the_readme_are_what_was_measured(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "generate"))
    script = importlib.import_module("front_page")
    measured = [script.load(name) for name in ("step", "dynamics", "compare")]
    assert all(figures["revision"] in README for figures in measured[::2])
    assert script.speed_and_error(*measured) in README, "run docs/generate/front_page.py --tables"
    for name in ("front_page", "filling"):
        sys.modules.pop(name)


def test_there_are_ten_short_numbered_examples_and_the_readme_names_each():
    numbered = [path for path in EXAMPLES if path.name[0].isdigit()]
    assert [path.name[:2] for path in numbered] == [f"{k:02d}" for k in range(1, 11)]
    lengths = {path.name: path.read_text(encoding="utf-8").count("\n") for path in numbered}
    assert {name: lines for name, lines in lengths.items() if lines > 40} == {}
    assert [path.name for path in numbered if f"(examples/{path.name})" not in README] == []


def test_every_page_of_the_docs_is_linked_from_the_index_and_is_in_the_navigation():
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert len(pages) > 20
    linked = set(re.findall(r"\]\(([a-z_0-9]+\.md)", index)) | {"index.md"}
    assert pages - linked == set()
    assert {page for page in pages if f": {page}" not in navigation} == set()


def test_every_command_and_what_the_changelog_names_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    commands = set(typer.main.get_command(app).commands)
    named = set(re.findall(r"`tabi ([a-z]+)", changelog)) & commands
    assert len(named) > 10
    listed = set(re.findall(r"\btabi ([a-z-]+)", index))
    assert (commands | named) - listed == set()
    # pages that the changelog links are listed, too
    pages = set(re.findall(r"\(docs/([a-z_0-9]+\.md)", changelog))
    assert len(pages) > 1
    assert pages - set(re.findall(r"\]\(([a-z_0-9]+\.md)", index)) == set()


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "CHANGELOG.md"])
def test_nothing_that_is_there_is_said_to_come(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    coming = re.findall(r"(?i)(?:^.*come next.*$|^next:.*$|^.*not,? yet:.*$)", text, re.MULTILINE)
    there = ("walk", "sole", "sensor", "haptic", "page", "recording")
    assert [line for line in coming if any(word in line.lower() for word in there)] == []
