"""The page "Is it right?": its tables are what was measured, every closed form stands there,
and the script that makes them works.
"""

import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tabi.lab.closed_forms import FAMILIES, Check

pytestmark = pytest.mark.docs

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = (DOCS / "right.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def right():
    """docs/generate/right.py as a module."""
    sys.path.insert(0, str(DOCS / "generate"))
    yield importlib.import_module("right")
    sys.path.remove(str(DOCS / "generate"))
    for name in ("right", "filling", "saving"):
        sys.modules.pop(name, None)


def between(name):
    found = re.search(rf"<!-- table {name}[^\n]*-->\n(.*?)<!-- end {name} -->", PAGE, re.DOTALL)
    assert found, f"right.md has no place for {name}"
    return found[1]


@pytest.mark.parametrize("name", ["certified", "missed", "weights", "worlds"])
def test_what_is_shown_is_what_was_measured(right, name):
    file, make = right.MEASURED[name]
    path = DOCS / "measured" / f"{file}.json"
    shown = between(name)
    if path.is_file():
        assert make(json.loads(path.read_text(encoding="utf-8"))) in shown, (
            f"{name}: run docs/generate/right.py"
        )
    else:
        assert "Not measured yet." in shown


def test_three_humanoids_are_measured_at_full_size_and_within_what_is_allowed():
    found = json.loads((DOCS / "measured" / "humanoids.json").read_text(encoding="utf-8"))
    assert list(found["robots"]) == ["hrp2", "jvrc1", "simple_humanoid"]
    assert all(robot["motions"]["standing"]["runs"] == 1000 for robot in found["robots"].values())
    assert found["total"]["within"]
    assert not found["interrupted"]
    assert all(
        abs(robot["on_feet_after_5_s_N"] - robot["weight_N"]) < 0.01
        for robot in found["robots"].values()
    )


def test_every_closed_form_stands_on_the_page():
    shown = between("closed-forms")
    for family, cases in FAMILIES.items():
        assert f"**{family[0].upper()}{family[1:]}**" in shown
        for case in cases:
            assert f"| {case.name} | {case.law} |" in shown, "run docs/generate/right.py"


def test_a_table_of_closed_forms_has_a_row_for_each_check(right):
    checks = [
        Check("speed", 1.0, 1.0 + 3e-9, 1e-6),
        Check("stands", 1.0, 1.0, 0.0, ""),
        Check("creep", 0.0, 1e-17, 1e-8),
    ]
    rows = right.closed_forms({"sliding": [("a block", "v = 0", checks)]}).splitlines()[4:]
    assert rows == [
        "| a block | v = 0 | speed | 1 m/s | 3e−9 | 1e−6 |",
        "|  |  | stands | yes | none | – |",
        "|  |  | creep | 0 m/s | < 1e−12 | 1e−8 |",
    ]


def test_worlds_are_shown_with_the_keys_of_their_experiment(right):
    found = {
        "worlds": 100,
        "steps": 1_000_000,
        "missed": 3,
        "worst_penetration": 4.2e-3,
        "energy_gained": 0.0,
        "nan": 0,
    }
    assert right.worlds(found).splitlines()[-1] == "| 100 | 1,000,000 | 3 | 0 | 4.2 | 0 |"


def test_a_missed_step_is_named(right):
    motion = {"missed": [{"seed": 7, "step": 12, "residual": 2.3e-8}]}
    found = {"robots": {"hrp2": {"motions": {"falling": motion}}}, "total": {"steps": 300}}
    assert right.misses(found).splitlines()[2] == "| HRP-2, falling | 7 | 12 | 2e−8 |"
    motion |= {"missed": [], "worst_joint_residual": 3e-9}
    assert right.misses(found) == (
        "None of the 300 steps failed to converge. Laws of the joints "
        "(limits, friction) were off by 3e−9 rad/s at most."
    )


def test_worst_of_the_dynamics_is_that_of_its_page(right):
    rows = [line.split(" | ") for line in right.dynamics().splitlines()[2:]]
    page = (DOCS / "dynamics.md").read_text(encoding="utf-8")
    # as many robots as the page has rows with a condition number
    counted = [int(row[1]) for row in rows]
    part = re.search(r"<!-- table example-robots.*?<!-- end example-robots -->", page, re.DOTALL)
    assert counted[1] == int(re.search(r"(\d+) of \d+ packages load", part[0])[1])
    assert all(float(x.replace("−", "-")) < 1e-12 for row in rows for x in row[3:6])


def test_figures_have_a_line_for_each_thing_compared(right):
    crept = {
        name: np.full(len(right.TIMES), 1e-9) for name in (*right.MUJOCO, "tabi", "tabi, tight")
    }
    axes = right.creep(crept).axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(crept)
    rate = Check("order in h of the position's error", 1.0, 1.0, 0.1, "", lambda h: 2 * h)
    lines = right.orders({"sliding": [("a block", "v = 0", [rate])]}).axes[0].get_lines()
    assert np.allclose(lines[0].get_ydata(), 2 * np.array(right.STEPS))
