"""Notebooks of the site run from top to bottom and end where their text says."""

import contextlib
import io
import json
from pathlib import Path

import matplotlib
import pytest

pytestmark = pytest.mark.docs

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
# what each prints, in its order
SAID = {
    "push.ipynb": ("stands; largest backward error",),
    "tour.ipynb": ("8 contacts bear", "stick", "walked: True; fallen: False", "0.000000000 m/s"),
    "reaching.ipynb": ("True", "fallen: False; the hand is", "right_hand"),
}


def test_every_notebook_is_known_here():
    assert {path.name for path in FOLDER.glob("*.ipynb")} == set(SAID)


@pytest.mark.parametrize("name", SAID)
def test_a_notebook_runs_and_says_what_it_should(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    cells = json.loads((FOLDER / name).read_text(encoding="utf-8"))["cells"]
    namespace: dict = {"__name__": "notebook"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), f"{name}, cell {number}", "exec"), namespace)
    said, place = printed.getvalue(), 0
    for words in SAID[name]:
        place = said.index(words, place) + len(words)
    assert place > 0


@pytest.mark.parametrize("name", SAID)
def test_notebooks_are_kept_without_what_a_run_leaves(name):
    cells = json.loads((FOLDER / name).read_text(encoding="utf-8"))["cells"]
    assert any(cell["cell_type"] == "code" for cell in cells)
    for cell in cells:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
