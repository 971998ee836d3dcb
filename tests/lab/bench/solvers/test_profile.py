"""Dolan–Moré profiles of times that can be worked out by hand."""

import numpy as np
import pytest

from tabi.lab.bench.solvers import profile
from tabi.reporting.outputs import FIGURES

# four problems; a does not solve the third, nobody the fourth
TIMES = {"a": [1.0, 2.0, np.inf, np.inf], "b": [2.0, 1.0, 4.0, np.inf]}


def test_ratios_are_to_the_fastest_and_infinite_where_not_solved():
    r = profile.ratios(TIMES)
    assert r["a"].tolist() == [1, 2, np.inf, np.inf]
    assert r["b"].tolist() == [2, 1, 1, np.inf]


def test_a_problem_nobody_solves_counts_for_nobody():
    r = profile.ratios(TIMES)
    assert [profile.fraction(r["b"], tau) for tau in (1, 1.9, 2, 1e9)] == [0.5, 0.5, 0.75, 0.75]
    assert [profile.fraction(r["a"], tau) for tau in (1, 2)] == [0.25, 0.5]


def test_above_everywhere_is_seen_and_so_are_curves_that_cross():
    r = profile.ratios(TIMES)
    assert profile.above(r["b"], r["a"])
    assert not profile.above(r["a"], r["b"])
    # the one wins more often, the other solves more
    crossing = profile.ratios({"fast": [1.0, 1.0, np.inf], "sure": [3.0, 3.0, 1.0]})
    assert not profile.above(crossing["fast"], crossing["sure"])
    assert not profile.above(crossing["sure"], crossing["fast"])


def test_data_hold_the_profile_and_no_infinity():
    data = profile.data(TIMES)
    assert data["problems"] == 4
    assert data["solvers"]["a"] == {
        "ratios": [1.0, 2.0],
        "fastest": 0.25,
        "within_10": 0.5,
        "solved": 0.5,
    }
    assert profile.data({}) == {"problems": 0, "solvers": {}}


def test_the_figure_has_a_curve_for_each_solver_with_labels_and_a_logarithmic_factor():
    figure = profile.picture(TIMES, "4 problems to 1e-8")
    axes = figure.axes[0]
    assert [line.get_label() for line in axes.get_lines()] == ["a", "b"]
    assert axes.get_xscale() == "log"
    assert axes.get_title() == "4 problems to 1e-8"
    assert "τ" in axes.get_xlabel()
    assert axes.get_ylabel()
    # (x, y) of b: half at once, three quarters from τ = 2 on
    x, y = axes.get_lines()[1].get_data()
    assert (y[0], y[-1], y[list(x).index(2.0)]) == (0.5, 0.75, 0.75)


@pytest.mark.parametrize("suffix", FIGURES)
def test_a_figure_is_written_in_every_format(tmp_path, suffix):
    path = tmp_path / f"profile{suffix}"
    profile.draw(path, TIMES, "four")
    starts = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}
    assert path.read_bytes().startswith(starts[suffix])
