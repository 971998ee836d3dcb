"""Closed forms of frictional contact, held to their tolerances,
and the reference cases to the numbers that others computed.

Bounces of the reference cases are in test_surfaces.
"""

import functools
import json
from math import cos, radians, sin, tan

import numpy as np
import pytest

from tabi.lab.closed_forms import FAMILIES, articulated, resting, rolling, sliding, turning
from tabi.lab.closed_forms.case import Check, G, order, stands

CASES = [case for cases in FAMILIES.values() for case in cases]
REFERENCES = {case.key: case for case in CASES if case.key}


@functools.cache
def checks_of(case):
    """What a run of a case finds; each runs once."""
    return list(case.run())


@pytest.fixture(scope="module")
def reference(shared):
    path = shared / "data" / "analytic_cases.json"
    if not path.is_file():
        pytest.skip("analytic_cases.json not found in ../shared/data")
    return json.loads(path.read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_simulator_obeys_the_law_that(case):
    checks = checks_of(case)
    assert checks
    assert [
        f"{c.what}: {c.measured} instead of {c.expected} {c.unit}, off by {c.error:.2e}"
        for c in checks
        if not c.holds
    ] == []


def test_every_family_has_at_least_three_cases_of_its_own_and_all_that_move_a_rate_in_h():
    assert list(FAMILIES.values()) == [
        sliding.CASES,
        rolling.CASES,
        resting.CASES,
        articulated.CASES,
        turning.CASES,
    ]
    for family, cases in FAMILIES.items():
        assert len([case for case in cases if not case.key]) >= 3, family
        assert any(
            "order in h" in check.what for case in cases for check in checks_of(case)
        ) or family.startswith("stacks")


@pytest.mark.parametrize(
    ("key", "what", "entry", "factor"),
    [
        ("A01_block_slides_incline", "speed after 1 s", "v_at_1s", 1.0),
        ("A03_block_brakes", "stopping distance", "x_stop", 1.0),
        ("A05_sphere_slide_to_roll", "speed after 0.6 s, rolling", "v_roll", 1.0),
        ("A06_sphere_spin_drop", "speed after 0.4 s, rolling", "v_final", 1.0),
        ("A07_sphere_incline_roll", "speed after 1 s", "v_1s", 1.0),
        ("A07_sphere_incline_roll", "friction", "ft", 1.0),
        ("A08_cylinder_incline_roll", "speed after 0.5 s", "a", 0.5),
        ("A10_SimBenchmark_rolling", "speed of the tray after 0.4 s", "a_box", 0.4),
        ("A10_SimBenchmark_rolling", "slowest ball", "a_ball", 0.4),
    ],
)
def test_what_is_expected_is_the_reference_number(reference, key, what, entry, factor):
    (check,) = [check for check in checks_of(REFERENCES[key]) if check.what == what]
    assert check.expected == pytest.approx(factor * reference[key][entry], rel=1e-12)


def test_thresholds_are_those_of_the_reference(reference):
    assert set(REFERENCES) == {key for key in reference if not key.startswith("A09")}
    assert tan(radians(30)) == pytest.approx(
        reference["A02_block_sticks_incline"]["mu_stick_min"], rel=1e-12
    )
    assert reference["A04_cone_isotropy"]["F_slip"] == pytest.approx(0.4 * 10.0 * G, rel=1e-12)
    assert 2 / 7 * tan(radians(15)) == pytest.approx(
        reference["A07_sphere_incline_roll"]["mu_min"], rel=1e-12
    )
    assert G * (sin(radians(30)) - 0.3 * cos(radians(30))) == pytest.approx(
        reference["A01_block_slides_incline"]["a"], rel=1e-12
    )


# ---- the checks themselves ------------------------------------------------------------------


def test_a_check_holds_within_its_tolerance_and_never_for_a_nan():
    assert Check("x", 1.0, 1.1, 0.11).holds
    assert not Check("x", 1.0, 1.2, 0.11).holds
    assert not Check("x", 1.0, np.nan, 0.11).holds


def test_an_order_is_found_and_another_one_refused():
    assert order(lambda h: 3 * h).holds
    assert order(lambda h: 5 * h**2).measured == pytest.approx(2.0)
    assert not order(lambda h: 5 * h**2).holds


@pytest.mark.parametrize(
    ("expected", "speed", "holds"),
    [(True, 1e-9, True), (True, 1e-3, False), (False, 0.1, True), (False, 1e-3, False)],
)
def test_to_stand_is_to_be_at_rest_and_to_fall_is_to_move(expected, speed, holds):
    assert stands("it", expected, speed).holds is holds
