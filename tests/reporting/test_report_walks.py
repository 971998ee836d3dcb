"""Walks in a report: what a recording says of them is what was seen while it ran."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tabi import scenes
from tabi.apps.cli import app
from tabi.recording.recorded import read
from tabi.reporting.report import contacts, findings, page, pictures, walks
from tabi.runs.play import play

SCENE = """title: two steps
duration_s: 5
ground: {}
record: {rate_hz: 200}
robots:
  - robot: hrp2
    motion: {kind: walk, path: [{go: steps, count: 2, length_m: 0.1, turn_deg: 5}]}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    file = tmp_path_factory.mktemp("walk") / "walk.h5"
    return play(scenes.loads(SCENE), file, show=False), file


@pytest.fixture(scope="module")
def run(recorded):
    return read(recorded[1])


@pytest.mark.slow
def test_it_tells_what_was_measured_while_it_ran(recorded, run):
    seen = recorded[0].walks["hrp2"]
    told = walks.measure(run, walks.walked(run), {})["hrp2"]
    assert (told["planned"], told["landed"], told["finished"]) == (2, 2, True)
    for key in ("landing_m", "landing_deg", "slip_m", "end_deg"):
        # rows are ticks; kinematics of the recording against those of the simulator
        assert told[key] == pytest.approx(seen[key], abs=1e-9)
    assert told["end_m"] == pytest.approx(seen["end_m"], abs=1e-9)


@pytest.mark.slow
def test_the_summary_of_the_run_says_it_in_a_line(recorded):
    assert "hrp2 landed 2 of 2 steps to " in recorded[0].text()
    assert recorded[0].to_dict()["walks"]["hrp2"]["finished"]


@pytest.mark.slow
def test_loads_of_the_plan_are_the_weight_and_curves_are_whole(run):
    (walk,) = walks.walked(run)
    panels = walks.panels(run, walk)
    loads = next(panel for panel in panels if panel.title == "Load of the feet")
    planned = [curve.y for curve in loads.curves if curve.style == "dashed"]
    assert sum(planned) == pytest.approx(walk.pattern.biped.mass * 9.81, rel=1e-6)
    ankles = next(panel for panel in panels if "ankles" in panel.title)
    names = [curve.label for curve in ankles.curves if curve.style == "solid"]
    assert names == ["LLEG_ANKLE_P", "LLEG_ANKLE_R", "RLEG_ANKLE_P", "RLEG_ANKLE_R"]
    assert all(len(curve.x) == len(curve.y) for panel in panels for curve in panel.curves)


@pytest.mark.slow
def test_the_page_has_a_section_and_json_the_numbers(recorded, run, tmp_path, monkeypatch):
    out = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["report", str(recorded[1]), "--json", "--out", str(out)])
    assert result.exit_code == 0
    assert json.loads(result.output)["walks"]["hrp2"]["landed"] == 2
    assert "<h2>Walk of hrp2</h2>" in out.read_text(encoding="utf-8")
    # one without a walk, words alone
    monkeypatch.setattr(pictures, "plots", lambda run: {})
    monkeypatch.setattr(pictures, "moments", lambda run: [])
    found = contacts.touches(run)
    numbers = findings.measure(run, found)
    assert "Walk of" not in page.page(run, found, numbers, Path("walk.h5"))


@pytest.mark.slow
def test_without_a_scene_that_can_be_made_again_nothing_is_told(run):
    assert walks.walked(replace(run, scene="")) == []
    assert walks.walked(replace(run, scene="motion: {kind: walk, :")) == []
    assert walks.walked(replace(run, scene=SCENE.replace("robot: hrp2", "robot: gone.urdf"))) == []
    assert walks.walked(replace(run, time=run.time + 1.0)) == []


@pytest.mark.slow
def test_who_falls_lands_no_more_steps(run):
    told = walks.measure(run, walks.walked(run), {"hrp2": 2.0})["hrp2"]
    assert told["landed"] == 0
    assert np.isfinite(told["zmp_rms_m"]).all()


def test_a_verdict_says_that_a_walk_was_not_finished_and_why():
    walk = {"finished": False, "stopped": "it fell at 3 s", "landed": 2, "planned": 8}
    words = walks.unfinished({"hrp2": walk, "g1": walk | {"finished": True}})
    assert words == "; hrp2 landed 2 of 8 steps and did not finish its walk: it fell at 3 s"
    assert "the recording ends before" in walks.unfinished({"hrp2": walk | {"stopped": None}})
