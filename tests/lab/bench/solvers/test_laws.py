"""The bench of the older laws, small: closed forms for one contact, rows,
and what counts as a crossover.
"""

import importlib
import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tabi.apps import cli
from tabi.lab.bench.solvers import answers, laws

DOCS = Path(__file__).resolve().parents[4] / "docs"


# in which one contact is pushed; an even number, as between two edges both push
ANGLES = 14


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as m:
        m.setattr(laws, "slip", partial(laws.slip, angles=ANGLES))
        sizes = {"plate": (1, 4), "tower": (1,), "pile": (3,)}
        return laws.LawsBench(sizes=sizes, cases_of_a_kind=1, cart=False).run()


@pytest.mark.slow
def test_slip_and_sliding_are_off_by_what_the_shape_of_the_pyramid_says(found):
    assert [s["facets"] for s in found["slip"]] == list(answers.FACETS)
    for s in found["slip"]:
        k = s["facets"]
        # from the middle of a side: 1 − cos(π/k)/cos x; from the nearest edge: 2 sin |x|/2
        side = np.pi / k * np.linspace(-0.99, 0.99, ANGLES)
        early = 1 - np.cos(np.pi / k) / np.cos(side)
        sliding = 2 * np.sin(0.5 * (np.pi / k - np.abs(side)))
        # four digits are told
        for name, expected in (("early", early), ("sliding", sliding)):
            assert s[f"{name}_worst"] == pytest.approx(expected.max(), rel=1e-3)
            assert s[f"{name}_mean"] == pytest.approx(expected.mean(), rel=1e-3)
        assert s["early_worst"] <= (1 - np.cos(np.pi / k)) * (1 + 1e-3)
        assert s["sliding_worst"] <= 2 * np.sin(np.pi / (2 * k)) * (1 + 1e-3)


@pytest.mark.slow
def test_rows_are_three_for_the_cone_and_facets_and_two_for_a_pyramid(found):
    # as many as sizes were asked for
    assert {name: len(rows) for name, rows in found["series"].items()} == {
        "plate": 2,
        "tower": 1,
        "pile": 1,
    }
    for rows in found["series"].values():
        for row in rows:
            n, by = row["contacts"], row["laws"]
            assert by[answers.LIST]["rows"] == by[answers.EXACT]["rows"] == 3 * n
            assert by[answers.NONE]["rows"] == n
            assert [by[name]["rows"] for name in answers.PYRAMIDS.values()] == [
                (k + 2) * n for k in answers.FACETS
            ]


@pytest.mark.slow
def test_the_exact_solvers_are_exact_and_the_pyramids_are_not(found):
    for row in (row for rows in found["series"].values() for row in rows):
        for name in (answers.LIST, answers.EXACT):
            assert row["laws"][name]["solved"]
            # solved to 1e-8 of the largest free velocity
            assert row["laws"][name]["motion_error"] < 1e-5
        assert all(x["solved"] and x["seconds"] > 0 for x in row["laws"].values())
    assert (
        max(
            row["laws"]["4 facets"]["motion_error"]
            for rows in found["series"].values()
            for row in rows
        )
        > 0.01
    )


@pytest.mark.slow
def test_sweeps_stop_where_the_motion_is_as_near_as_that_of_eight_facets(found):
    by = found["series"]["plate"][1]["laws"]
    assert by[answers.COARSE]["motion_error"] <= 1.01 * by["8 facets"]["motion_error"]
    assert by[answers.COARSE]["iterations"] < by[answers.EXACT]["iterations"]


def test_as_many_sweeps_are_found_as_are_needed_also_where_they_are_many():
    g, near = answers.law_problem(laws.tower(6), None), 1e-5
    exact = answers.nearest(g, answers.sweep(g, 0.0, answers.SWEEPS).impulse)
    needed = answers.sweeps_until(g, near, exact)
    assert needed is not None
    assert needed > 256
    # it looks after every sixteenth part more
    for sweeps, enough in ((needed, True), (int(0.85 * needed), False)):
        assert (answers.distance(g, answers.sweep(g, 0.0, sweeps).impulse, exact) <= near) == enough


def test_tangents_turned_leave_the_exact_motion_as_it_is():
    p = laws.tower(2)
    plain, turned = answers.law_problem(p, None), answers.law_problem(p, 3)
    one, two = (answers.nearest(g, np.zeros(24)) for g in (plain, turned))
    assert not np.allclose(plain.W, turned.W)
    # normals of contacts are not turned, lengths of what is left are kept
    for a, b in (
        (plain.W @ one, turned.W @ two),
        (plain.problem.blocks.q, turned.problem.blocks.q),
    ):
        assert np.allclose(a[2::3], b[2::3], atol=1e-9)
        assert np.allclose(np.hypot(a[::3], a[1::3]), np.hypot(b[::3], b[1::3]), atol=1e-9)


def test_an_error_of_impulses_that_move_nothing_is_none():
    g = answers.law_problem(laws.tower(1), None)
    exact = answers.nearest(g, np.zeros(12))
    # diagonal corners against each other: no force, no torque
    pressed = exact + 0.01 * np.kron([1, -1, -1, 1], [0, 0, 1])
    assert np.abs(g.W @ (pressed - exact)).max() < 1e-12
    assert answers.distance(g, pressed, exact) < 1e-6
    assert answers.distance(g, 1.1 * exact, exact) == pytest.approx(0.1)
    assert answers.distance(g, 0 * exact, 0 * exact) == 0.0


def timed(contacts, ours, theirs, solved=True):
    """A row of a series in which Gauss–Seidel and eight facets took so long."""
    by = {
        answers.EXACT: {"solved": solved, "seconds": ours},
        "8 facets": {"solved": True, "seconds": theirs},
    }
    return {"contacts": contacts, "laws": by}


@pytest.mark.parametrize(
    ("rows", "since", "wins"),
    [
        ([timed(1, 2, 1), timed(4, 2, 3), timed(8, 4, 9)], 4, "4 to 8"),
        ([timed(1, 1, 2), timed(4, 3, 2), timed(8, 4, 9)], 8, "1, 8"),
        ([timed(1, 1, 2), timed(4, 3, 2)], None, "1"),
        ([timed(1, 1, 2), timed(4, 1, 2, solved=False)], None, "1"),
        ([timed(1, 3, 2), timed(4, 3, 2)], None, "none"),
        ([timed(1, 1, 2), timed(4, 1, 2)], 1, "all"),
    ],
)
def test_a_crossover_is_where_the_lead_stays(rows, since, wins):
    assert laws.crossovers(rows)[answers.EXACT]["8 facets"] == {"since": since, "wins": wins}
    # where the other way is not there at all it does not win
    assert laws.crossovers(rows)[answers.COARSE]["8 facets"] == {"since": None, "wins": "none"}


@pytest.mark.slow
def test_figures_are_json_and_text_has_them(found):
    assert json.loads(json.dumps(found)) == found
    page = laws.LawsBench().text(found)
    assert "8 facets: slip begins too early by up to 7.6 %" in page
    assert "family, " in page


def test_the_command_is_there():
    assert "friction pyramids" in CliRunner().invoke(cli.app, ["bench", "laws", "--help"]).stdout


def test_tables_of_the_page_are_what_was_measured(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "generate"))
    figures = importlib.import_module("law_figures")
    measured = json.loads((DOCS / "measured" / "laws.json").read_text(encoding="utf-8"))
    page = (DOCS / "laws.md").read_text(encoding="utf-8")
    assert page.count("<!-- table ") == len(figures.TABLES) > 0
    for name, make in figures.TABLES.items():
        assert f"<!-- table {name}" in page
        assert make(measured) in page, f"{name}: run docs/generate/law_figures.py"
    sys.modules.pop("law_figures")
