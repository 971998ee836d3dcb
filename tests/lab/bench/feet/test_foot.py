"""The bench of the laws of feet, short."""

import importlib
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tabi.apps import cli
from tabi.lab.bench.feet import foot, foot_jump, foot_laws, foot_robots

DOCS = Path(__file__).resolve().parents[4] / "docs"


@pytest.fixture(scope="module")
def fall():
    return foot_laws.toes(tracks=True)


@pytest.mark.slow
def test_over_the_toes_each_foot_tips_once_in_the_step_in_which_pressure_is_at_the_edge(fall):
    ruled = fall["pressure rule"]
    assert ruled["face_to_edge"] == ruled["transitions"] == {"left": 1, "right": 1}
    # inside of the edge in the step before, and over it in the next one had it stayed on its face
    assert 0 < ruled["steps_before_the_edge"] <= 1
    assert abs(ruled["ms_after_coulomb"]) <= 1
    assert ruled["missed"] == 0


@pytest.mark.slow
def test_without_the_rule_feet_let_go_early_and_more_often(fall):
    bare = fall["without it"]
    assert bare["ms_after_coulomb"] < -10
    assert bare["steps_before_the_edge"] > 5
    assert sum(bare["transitions"].values()) > 2


@pytest.mark.slow
def test_the_track_of_a_fall_has_a_row_for_every_step(fall):
    track = fall["pressure rule"]["track"]
    assert {len(column) for column in track.values()} == {round(foot_laws.TOES / 1e-3)}
    assert max(track["forward_mm"]) == pytest.approx(135.0, abs=0.01)


@pytest.mark.slow
def test_without_transitions_selection_is_the_exact_law():
    found = foot_laws.agreement(0.3)
    assert list(found) == ["standing", "squat", "sway"]
    for name, x in found.items():
        # a percent of the weight, a tenth of a millimetre
        assert x["force_percent_of_weight"] < 1, name
        assert x["moved_mm"] < 0.1, name
        assert (x["events_ms"], x["missed"]) == (0, 0), name


@pytest.mark.slow
def test_a_step_down_and_a_slide_happen_at_the_same_time_as_by_the_exact_law():
    down, slid = foot_laws.step_down(duration=0.3), foot_laws.slide()
    assert down["moved_mm"] < 1
    assert down["events_ms"] <= 1
    assert slid["moved_mm"] < 0.1
    assert slid["events_ms"] <= 1
    # half a step at the first speed
    assert slid["distance_m"] == pytest.approx(slid["closed_form_m"], abs=6e-4)


def test_no_magnetic_shoe():
    found = foot_laws.lifted()
    assert list(found) == ["exact", "one-step"]
    for x in found.values():
        # 1e-6 of the plate's weight
        assert x["least_normal_force_N"] > -3e-5
        assert x["last_normal_force_N"] == 0


@pytest.mark.slow
def test_springs_give_way_as_their_formulas_say():
    s = foot_laws.springs()
    assert s["depth_off"] < 1e-4
    assert s["creep_off"] < 1e-3
    assert s["coulomb_creep_mm_s"] < 1e-5 * s["creep_mm_s"]


@pytest.mark.slow
@pytest.mark.parametrize(("feet", "corners"), [(2, 8), (4, 4)])
def test_a_jump_is_timed_and_judged_in_both_modes(feet, corners):
    row = foot_jump.jump(feet, corners, passes=1, duration=0.2)
    assert row["steps"] == 200
    assert len(row["along"]["exact"]) == 200 // foot_jump.BLOCK
    assert row["ratio"] == pytest.approx(
        row["microseconds"]["exact"] / row["microseconds"]["one-step"], rel=0.01
    )
    assert min(row["search_microseconds"].values()) > 0
    # it only bends so far
    assert row["missed"] == {"exact": 0, "one-step": 0}
    assert row["one_step"]["wrong_states"] == 0
    assert row["least_normal_force_N"] >= 0


def test_tables_and_robots_jump_on_soles_of_many_corners():
    sim, robot = foot_robots.jumping_table("selection", 4, 8)
    assert {len(f.polygon) for f in robot.feet.values()} == {8}
    none = []
    sim.every(1, lambda data: none.append((data.memory.foot["state"] == 0).all()))
    sim.run(1.2)
    assert sum(none) > 100
    _, robot = foot_robots.jumping_hrp2("coulomb", 16)
    assert {len(f.polygon) for f in robot.feet.values()} == {16}


@pytest.mark.slow
def test_figures_are_json_and_text_has_them(fall):
    row = {"feet": 4, "corners": 8} | foot_jump.jump(4, 8, passes=1, duration=0.1)
    found = {
        "hardware": {"processor": "p", "cores": 2},
        "versions": {"tabi": "0"},
        "toes": fall,
        "against_coulomb": {"slide": foot_laws.slide()},
        "lifted": foot_laws.lifted(),
        "springs": foot_laws.springs(),
        "jump": [row],
        "jump_summary": foot.summary([row]),
        "standing": foot_jump.standing(3),
    }
    assert json.loads(json.dumps(found)) == found
    page = foot.FootBench().text(found)
    assert "2 of 2 transitions of both feet" in page
    assert "exact over one-step" in page
    assert "1.4224 mm" in page


def test_growth_is_that_from_the_fewest_corners_to_the_most():
    rows = [
        {
            "feet": 2,
            "corners": n,
            "ratio": n / 4,
            "microseconds": {"one-step": 10.0 * n},
            "search_microseconds": {"one-step": 3.0},
        }
        for n in (4, 8)
    ]
    assert foot.summary(rows) == {
        "ratio": {"2": 1.5},
        "one_step_growth": {"2": 2.0},
        "one_step_search_growth": {"2": 1.0},
    }


def test_the_command_is_there():
    assert "constraint selection" in CliRunner().invoke(cli.app, ["bench", "foot", "--help"]).stdout


def test_tables_of_the_page_are_what_was_measured(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "generate"))
    figures = importlib.import_module("foot_figures")
    measured = json.loads((DOCS / "measured" / "foot.json").read_text(encoding="utf-8"))
    page = (DOCS / "foot.md").read_text(encoding="utf-8")
    assert page.count("<!-- table ") == len(figures.TABLES) > 0
    for name, make in figures.TABLES.items():
        assert f"<!-- table {name}" in page
        assert make(measured) in page, f"{name}: run docs/generate/foot_figures.py"
    sys.modules.pop("foot_figures")
