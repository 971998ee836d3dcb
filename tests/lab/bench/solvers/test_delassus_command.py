"""``tabi bench delassus``: figures that can be read by people and machines, and a picture."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from tabi import TabiError
from tabi.apps import cli
from tabi.dynamics import delassus as operator
from tabi.lab.bench.solvers import delassus

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def short(monkeypatch):
    """Few contacts and few sets of them: what is measured is tested here, not how fast it is."""
    monkeypatch.setattr(delassus, "COUNTS", (1, 4))
    monkeypatch.setattr(delassus, "SIMULATIONS", 2)


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_bench_prints_json_and_draws_the_figure(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    file = tmp_path / "delassus.png"
    done = CliRunner().invoke(
        cli.app, ["bench", "delassus", "--json", "--blocks", "3", "--figure", str(file)]
    )
    assert done.exit_code == 0, done.output
    page = json.loads(done.stdout)
    # 30 joints and a floating base
    assert (page["settings"]["robot"], page["settings"]["v_count"], page["settings"]["blocks"]) == (
        "hrp2",
        36,
        3,
    )
    assert [(row["points"], row["bodies"]) for row in page["two_feet"]] == [(1, 1), (4, 2)]
    assert [(row["points"], row["bodies"]) for row in page["ten_bodies"]] == [(1, 1), (4, 4)]
    times = [row["microseconds"] for name in ("two_feet", "ten_bodies") for row in page[name]]
    assert all(
        set(row) == {"direct", "points", "branches", "wrenches", "chains", "Ω of a step"}
        and min(row.values()) > 0
        for row in times
    )
    mean = page["simulations"]
    assert len(mean["sizes"]) == 2
    assert set(mean["mean_omega_microseconds"]) == {"branches", "wrenches", "chains"}
    assert mean["wrenches_faster_than_points"] > 0
    assert file.read_bytes()[:8] == PNG
    assert "6.5 in the paper" in delassus.DelassusBench().text(page)


def test_a_timed_loop_computes_what_it_times():
    bench = delassus.Bench(blocks=3)
    m = bench.model.arrays
    points = [("right_foot", (0.1, 0.0, 0.0)), ("left_hand", (0.0, 0.1, 0.0))]
    p = delassus.contacts_of(bench.model, bench.work, points, "body")
    expected = operator(bench.model, bench.model.initial(), points, "direct", frame="body")
    assert list(delassus.LOOPS) == list(delassus.point_inertia.WAYS) != []
    for name, loop in delassus.LOOPS.items():
        out = np.zeros((6, 6))
        loop(3, m, bench.work, p, delassus.point_inertia.allocate(bench.model, p), out)
        assert np.allclose(out, expected, rtol=1e-11), name


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("time.bmp", r"'\.bmp' is not known; expected \.png, \.pdf, \.svg"),
        ("gone/time.png", "there is no folder"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused_before_anything_is_measured(
    tmp_path, monkeypatch, file, said
):
    monkeypatch.setattr(delassus.DelassusBench, "run", lambda _: pytest.fail("measured"))
    with pytest.raises(TabiError, match=said):
        CliRunner().invoke(
            cli.app, ["bench", "delassus", "--figure", str(tmp_path / file)], catch_exceptions=False
        )
