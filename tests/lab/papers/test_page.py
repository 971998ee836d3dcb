"""The page stands alone, and escapes what it is told."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from tabi.lab.papers import findings
from tabi.lab.papers.experiments.experiment import CounterRun, Criterion, Experiment, PaperOutcome
from tabi.lab.papers.page import allowed, page

ONE = Experiment(
    "one",
    "C06",
    "fig. <1>",
    "slide",
    "a < b & c",
    (Criterion("slide_mm", "it slides by 2 mm or less", 0, 2),),
    (CounterRun("ice", ("ground.friction=0",)),),
    lambda trial: PaperOutcome({}),
    referees=("mujoco",),
)
LINE = {
    "title": "Fig. 1",
    "x": "time [s]",
    "y": "x [m]",
    "log": False,
    "lines": {"a": [[0, 1], [0, None]]},
}
RUN = {
    "numbers": {"slide_mm": 1.25, "height_m": 0.5},
    "figures": [LINE],
    "notes": ["<script>alert(1)</script>"],
    "steps": 100,
    "missed": 0,
    "residual_m_s": 3e-9,
}
ENGINE = {
    "penetration_mm": {"largest": 0.1, "mean": 0.05},
    "ground_force_n": {"mean": 1.0, "flicker": 0.2},
    "fallen_at_s": {},
    "microseconds_per_step": 20.0,
}
REFEREE = {
    "engine": "MuJoCo",
    "version": "9.9",
    "end_apart_mm": {"cube": 0.31},
    "engines": {"tabi": ENGINE, "MuJoCo": ENGINE},
    "notes": [],
    "changes": [],
    "fault": None,
    "numbers": {},
}


class Parts(HTMLParser):
    """Tags and addresses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]


@pytest.fixture
def text() -> str:
    found = {
        "one run": RUN,
        "one counter-run 0": {"numbers": {"slide_mm": 50.0}},
        "one law pyramid": RUN,
        "one referee mujoco": REFEREE,
    }
    return page([findings.row(ONE, found, False)], ["pinocchio is not installed"])


def test_the_page_loads_nothing_and_runs_nothing(text):
    parts = Parts(text)
    assert "script" not in parts.tags
    assert parts.addresses
    assert all(address.startswith("data:") for address in parts.addresses)


def test_the_page_tells_claim_numbers_verdicts_engines_and_what_is_left_out(text):
    for words in (
        "a &lt; b &amp; c",
        "1 of 1 experiments agree",
        "1.25 mm",
        "0 to 2 mm",
        "counter-run: ice",
        "50 mm",
        "MuJoCo 9.9",
        "cube 0.31 mm",
        "pinocchio is not installed",
        "3.00·10⁻⁹ m/s",
    ):
        assert words in text, words


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1, 2, "1 to 2 mm"),
        (1, float("inf"), "≥ 1 mm"),
        (-float("inf"), 2, "≤ 2 mm"),
        (1, 1, "1 mm"),
    ],
)
def test_ranges_have_units(low, high, words):
    assert allowed(Criterion("slide_mm", "", low, high)) == words


def test_an_empty_run_makes_a_page_too():
    assert "not run yet" in page([findings.row(ONE, {}, False)])
