"""``tabi compare``: what it prints and draws, how it ends,
and that the page shows what was measured.
"""

import importlib
import importlib.util
import json
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from apps import sentences
from typer.testing import CliRunner

pytest.importorskip("mujoco")

from tabi import scenes
from tabi.apps import cli
from tabi.lab import referee
from tabi.lab.commands import compare, compare_figure
from tabi.lab.commands.compare import text
from tabi.lab.referee.engines import MuJoCo

DOCS = Path(__file__).resolve().parents[3] / "docs"


def invoke(*arguments):
    return CliRunner().invoke(cli.app, ["compare", *map(str, arguments)])


def mistake(monkeypatch, capsys, *arguments: object) -> str:
    return sentences.mistake(monkeypatch, capsys, "compare", *arguments)


@pytest.mark.slow
def test_it_says_how_far_apart_they_are_and_with_which_settings(tmp_path):
    picture = tmp_path / "slide.png"
    done = invoke("slide", "--time", "0.6", "--figure", picture)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "slide: Three cubes slide at 2 m/s and stop after v² / 2 μ g"
    assert lines[1].startswith("  They agree to ")
    assert lines[2] == "  ran 0.6 s in 600 steps; forces and creep after 0.15 s"
    assert lines[3].startswith("  tabi ")
    assert (
        "integrator implicitfast, cone elliptic, solver Newton, iterations 100, "
        "tolerance 1e-08, impratio 1, solref 0.02 1"
    ) in lines[4]
    assert "deepest overlap [mm]" in done.stdout
    assert "weight 58.860 N" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_json_has_all_figures_with_units(tmp_path):
    page = json.loads(invoke("standing", "--time", "0.3", "--json").stdout)
    assert (page["scene"], page["time_s"], page["steps"], page["fault"], page["interrupted"]) == (
        "standing",
        0.3,
        300,
        None,
        False,
    )
    assert list(page["engines"]) == ["tabi", "MuJoCo"]
    for engine in page["engines"].values():
        assert engine["microseconds_per_step"] > 0
        assert set(engine["feet"]["left"]) == {"load_n", "flicker_n", "creep_mm_s"}
        assert set(engine["penetration_mm"]) == {"largest", "mean"}
    assert page["differences"]["feet"]["left"]["pressure_mean_mm"] >= 0
    assert page["hardware"]["cores"] >= 1


@pytest.mark.skipif(
    importlib.util.find_spec("pinocchio") is None, reason="Pinocchio is not installed"
)
def test_pinocchio_is_asked_for_by_its_name():
    done = invoke("standing", "--time", "0.05", "--with", "pinocchio")
    assert done.exit_code == 0, done.output
    assert "  Pinocchio " in done.stdout
    assert "    only the feet touch, and only the ground" in done.stdout


# ---- exit codes ---------------------------------------------------------------------------------


def test_an_engine_that_breaks_down_ends_it_with_1(monkeypatch):
    step = MuJoCo.step

    def broken(self):
        self.d.qvel[:] = np.nan if self.steps == 20 else self.d.qvel
        step(self)

    monkeypatch.setattr(MuJoCo, "step", broken)
    done = invoke("slide", "--time", "0.1")
    assert done.exit_code == 1
    assert "  Not to be compared after 0.02 s: MuJoCo broke down at 0.021 s" in done.stdout


def test_one_that_breaks_down_in_its_first_step_is_told_and_not_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr(
        MuJoCo,
        "step",
        lambda self: (
            self.mj.nothing if self.steps else (_ for _ in ()).throw(referee.TabiError("gone"))
        ),
    )
    done = invoke("slide", "--figure", tmp_path / "x.png")
    assert done.exit_code == 1
    assert "Not to be compared after 0 s: gone." in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_ends_it_with_130_and_what_was_found(monkeypatch):
    @contextmanager
    def asked():
        yield [2]

    monkeypatch.setattr(compare, "interrupt", asked)
    done = invoke("slide")
    assert done.exit_code == 130
    assert "  interrupted after 0.05 s in 50 steps" in done.stdout


def test_without_mujoco_one_sentence_says_how_to_get_it(monkeypatch, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name == "mujoco" else found(name, *more),
    )
    assert mistake(monkeypatch, capsys, "slide").endswith(
        'install it with: pip install "tabi[referee]"\n'
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["bounce"], "scene 'bounce' uses restitution, which is not carried over to MuJoCo"),
        (["slide", "--with", "bullet"], "referee 'bullet' not found"),
        (["slide", "--time", "-1"], "duration_s"),
        (["slide", "--figure", "x.bmp"], ".bmp"),
        (["slid"], "did you mean"),
    ],
)
def test_mistakes_are_one_sentence_and_2(monkeypatch, capsys, arguments, sentence):
    assert sentence in mistake(monkeypatch, capsys, *arguments)


# ---- words and figure ---------------------------------------------------------------------------


def test_many_bodies_are_counted_and_falls_told():
    found = referee.measure(scenes.load("wall", ["duration_s=0.01", "watch=[]"]))
    result = found.result
    assert "and 12 bodies more" in text(result)
    result["engines"]["MuJoCo"]["fallen_at_s"] = {"hrp2": 0.5}
    assert [
        line
        for line in text(result).splitlines()
        if line.split() == ["hrp2", "falls", "at", "[s]", "stands", "0.5"]
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("push", ["duration_s=0.3"]),
        ("linkage", ["duration_s=0.1"]),
        ("dominoes", ["duration_s=0.002"]),
    ],
)
def test_every_kind_of_scene_can_be_drawn(name, settings, tmp_path, recwarn):
    found = referee.measure(scenes.load(name, settings))
    compare_figure.draw(tmp_path / "x.svg", found)
    drawn = (tmp_path / "x.svg").read_text(encoding="utf-8")
    # both engines in their colours
    assert "#0072b2" in drawn
    assert "#d55e00" in drawn
    assert [str(w.message) for w in recwarn if "matplotlib" in str(w.filename)] == []


# ---- the page -----------------------------------------------------------------------------------


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "generate"))
    yield importlib.import_module("compare")
    for name in ("compare", "filling", "saving"):
        sys.modules.pop(name, None)


def test_what_the_page_shows_is_what_was_measured(tables):
    measured = json.loads((DOCS / "measured" / "compare.json").read_text(encoding="utf-8"))
    page = (DOCS / "right.md").read_text(encoding="utf-8")
    assert len(tables.TABLES) > 0
    for name, make in tables.TABLES.items():
        assert f"<!-- table {name}" in page
        assert make(measured) in page, f"{name}: run docs/generate/compare.py"


def test_every_built_in_scene_was_compared_or_refused(tables):
    measured = json.loads((DOCS / "measured" / "compare.json").read_text(encoding="utf-8"))
    assert list(measured["mujoco"]) == scenes.names()
    refused = {name for name, found in measured["mujoco"].items() if "refused" in found}
    assert refused == {
        name for name in scenes.names() if list(referee.obstacles(scenes.load(name), "MuJoCo"))
    }
    assert all(
        found["fault"] is None and not found["interrupted"]
        for found in measured["mujoco"].values()
        if "refused" not in found
    )
