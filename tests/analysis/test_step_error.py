"""Orders and errors of numbers whose law in h is known, and what is chaotic."""

import numpy as np
import pytest

from tabi import TabiError, scenes
from tabi.analysis import step_error
from tabi.analysis.step_error import CHANGING, CHAOTIC, CONVERGED, FINER, HALF, QUARTER

SLIDE = (
    "title: t\nduration_s: 1.0\nground: {friction: 0.5}\nsimulation: {step_s: 0.004}\n"
    "objects: [{shape: box, name: crate, size_m: [0.2, 0.2, 0.2], mass_kg: 1, "
    "position_m: [0, 0, 0.1], velocity_m_s: [2, 0, 0]}]\n"
)


def number(*values: float | None, name: str = "places.a_m"):
    """A number of the runs h, h/2, h/4 and tolerance/100."""
    runs = {
        run: {
            "places_m": {},
            "robots": [],
            "walks": {},
            "fallen_at_s": {},
            "worst_penetration_m": 0.0,
        }
        for run in ("h", HALF, QUARTER, FINER)
    }
    for run, value in zip(runs.values(), values, strict=True):
        kind, _, key = name.partition(".")
        if kind == "places":
            run["places_m"][key.removesuffix("_m")] = [value, 0.0, 0.0]
        elif kind == "fallen_at":
            run["robots"] = [key.removesuffix("_s")]
            run["fallen_at_s"] = {} if value is None else {key.removesuffix("_s"): value}
        else:
            run["walks"] = {"r": {key: value}}
    (found,) = [q for q in step_error.quantities(runs) if q.name != "worst_penetration_m"]
    return step_error.judge(found)


@pytest.mark.parametrize("p", [1, 2])
def test_order_and_error_of_a_power_of_the_step_are_exact(p):
    h, c, limit = 0.1, 3.0, 7.0
    x = [limit + c * s**p for s in (h, h / 2, h / 4)]
    row = number(*x, x[0])
    assert row["order"] == pytest.approx(p, abs=1e-9)
    assert row["error"] == pytest.approx(c * h**p, rel=1e-9)
    assert row["verdict"] == CHANGING
    assert number(*(limit + 1e-3 * (v - limit) for v in x), 7 + 1e-3 * c * h**p)["verdict"] == (
        CONVERGED
    )


def test_a_chaotic_number_has_no_order_and_is_called_so():
    # the logistic map, from starts as far apart as the steps
    x = []
    for start in (0.3 + 1e-3, 0.3 + 5e-4, 0.3 + 2.5e-4):
        for _ in range(60):
            start = 4 * start * (1 - start)
        x.append(start)
    # two of three such differences fall by chance; these do not
    assert abs(x[2] - x[1]) > abs(x[1] - x[0])
    row = number(*x, x[0])
    assert (row["verdict"], row["order"]) == (CHAOTIC, None)


def test_what_a_tolerance_changes_is_chaotic_however_its_steps_behave():
    assert number(1.4, 1.2, 1.1, 1.4)["verdict"] == CHANGING
    assert number(1.4, 1.2, 1.1, 1.3)["verdict"] == CHAOTIC


def test_counts_have_to_agree_and_falls_too():
    assert number(20, 20, 20, 20, name="walks.landed")["verdict"] == CONVERGED
    assert number(19, 20, 20, 19, name="walks.landed")["verdict"] == CHANGING
    assert number(19, 20, 19, 19, name="walks.landed")["verdict"] == CHAOTIC
    assert number(None, None, None, None, name="fallen_at.r_s")["verdict"] == CONVERGED
    row = number(1.0, None, None, 1.0, name="fallen_at.r_s")
    assert row["verdict"] == CHANGING
    assert row["changes"] == {HALF: None, QUARTER: None, FINER: 0.0}
    assert number(1.0, None, 1.0, 1.0, name="fallen_at.r_s")["verdict"] == CHAOTIC
    assert number(True, True, False, True, name="walks.finished")["unit"] == step_error.YES_NO


def test_places_are_compared_by_their_distance():
    runs = {
        name: {
            "places_m": {"a": place},
            "robots": [],
            "walks": {},
            "fallen_at_s": {},
            "worst_penetration_m": 0.0,
        }
        for name, place in (
            ("h", [0.0, 0.0, 0.0]),
            (HALF, [0.3, 0.4, 0.0]),
            (QUARTER, [0.0, 0.0, 2.0]),
            (FINER, [0.0, 0.0, 0.0]),
        )
    }
    row = step_error.judge(step_error.quantities(runs)[0])
    assert row["changes"] == pytest.approx({HALF: 0.5, QUARTER: 2.0, FINER: 0.0})


def test_a_sliding_crate_has_the_error_of_its_scheme():
    """With x⁺ = x + h v⁺ and v⁺ = v − μ g h a crate is short of v²/2μg by v h/2."""
    scene = scenes.loads(SLIDE)
    runs = {}
    for name, variant in step_error.variants(scene).items():
        sim = variant.simulator()
        sim.run(variant.duration)
        x = sim.position(sim.world.objects[0])
        runs[name] = {
            "places_m": {"crate": x.tolist()},
            "robots": [],
            "walks": {},
            "fallen_at_s": {},
            "worst_penetration_m": sim.certificate.worst_penetration,
            "missed_steps": sim.certificate.missed,
            "stopped": None,
        }
    found = step_error.compare(scene, runs)
    row = found["quantities"][0]
    assert row["order"] == pytest.approx(1.0, abs=0.05)
    assert row["error"] == pytest.approx(2.0 * 0.004 / 2, rel=0.05)
    exact = 2.0**2 / (2 * 0.5 * 9.81)
    assert row["value"][0] + row["error"] == pytest.approx(exact, abs=1e-4)
    assert (found["verdict"], found["notes"]) == (CHANGING, [])


def test_all_runs_end_at_the_same_time():
    scene = scenes.loads(SLIDE, overrides=["duration_s=0.1505"])
    ends = {
        round(v.duration / v.contents.simulation.step_s) * v.contents.simulation.step_s
        for v in step_error.variants(scene).values()
    }
    assert np.ptp(list(ends)) < 1e-12
    assert step_error.variants(scene)[FINER].contents.simulation.tolerance_m_s == 1e-10


def test_steps_and_tolerances_that_cannot_be_finer_are_refused():
    with pytest.raises(TabiError, match=r"quarter of the step, and that of the scene is 3e-06 s"):
        step_error.variants(scenes.loads(SLIDE, overrides=["simulation.step_s=3e-6"]))
    with pytest.raises(TabiError, match=r"hundredth of the tolerance, .* at least 1e-12"):
        step_error.variants(scenes.loads(SLIDE, overrides=["simulation.tolerance_m_s=1e-13"]))


def test_motions_without_a_rate_are_named_and_walks_have_theirs():
    assert step_error.notes(scenes.load("walk")) == []
    assert step_error.notes(scenes.load("standing")) == []
    (note,) = step_error.notes(scenes.load("squat", ["robots.0.sensors={}"]))
    assert "has no rate: it is called in every step" in note
