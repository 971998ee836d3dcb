"""Pressure maps: nodes push where they touch, and nowhere else."""

import numpy as np
import pytest
from soles.shapes import BOOT, RECTANGLE

from tabi import ModelError
from tabi.soles import pressure
from tabi.soles.materials import Layer
from tabi.soles.pressure import rigid_motions
from tabi.soles.sole import make_sole

LAYER = Layer(0.02, 1e6, 0.45)


@pytest.fixture(scope="module", params=["foot", "boot", "rounded"])
def sole(request):
    outline = BOOT if request.param == "boot" else RECTANGLE
    rounded = 0.006 if request.param == "rounded" else 0.0
    return make_sole(outline, LAYER, 0.02, rounded=rounded, through=2, cache=False)


@pytest.mark.parametrize("stuck", [False, True])
@pytest.mark.parametrize("place", [(0.0, 0.0), (0.3, 0.2), (0.7, 0.0)])
def test_forces_push_carry_the_load_and_leave_no_node_inside_of_the_ground(sole, stuck, place):
    half = np.ptp(sole.ground_points[:, :2], axis=0) / 2
    at = sole.ground_centre[:2] + np.array(place) * half * 0.8
    found = sole.pressure((400.0, *at), stuck=stuck)
    normal = found.force[:, 2]
    assert normal.min() >= 0.0
    assert normal.sum() == pytest.approx(400.0, rel=1e-9)
    np.testing.assert_allclose(found.centre_of_pressure, at, atol=1e-10)
    # nothing pulls sideways, nothing turns
    lever = sole.ground_points - sole.ground_centre
    torque = (lever[:, 0] * found.force[:, 1] - lever[:, 1] * found.force[:, 0]).sum()
    assert np.abs([*found.force[:, :2].sum(axis=0), torque]).max() < 1e-9 * 400.0
    # 0 ≤ f ⊥ gap ≥ 0, the gap between moved nodes and the moved plane
    plane = (rigid_motions(sole.ground_points, sole.ground_centre) @ found.motion).reshape(-1, 3)
    moved = (sole.compliance @ found.force.ravel()).reshape(-1, 3)
    gap = sole.gaps + moved[:, 2] - plane[:, 2]
    assert gap.min() > -1e-10
    assert np.abs(gap[found.touching]).max() < 1e-10
    if stuck:
        slip = (moved - plane)[sole.flat, :2]
        assert np.abs(slip).max() < 1e-10
    else:
        assert np.abs(found.force[:, :2]).max() == 0.0


def test_without_widening_an_even_load_is_an_even_pressure():
    # at ν = 0 columns of the sole do not feel each other where all sink alike
    sole = make_sole(RECTANGLE, Layer(0.02, 1e6, 0.0), 0.03, cache=False)
    for stuck in (False, True):
        found = sole.pressure((300.0, *sole.ground_centre[:2]), stuck=stuck)
        np.testing.assert_allclose(found.pressure, 300.0 / (0.23 * 0.12), rtol=1e-9)
        assert found.sink == pytest.approx(300.0 * 0.02 / (1e6 * 0.23 * 0.12), rel=1e-9)


def test_the_sole_lifts_where_the_load_is_far_away(sole):
    x = sole.ground_points[:, 0]
    low, high = x.min(), x.max()
    far = sole.pressure((200.0, 0.9 * high + 0.1 * low, sole.ground_points[x == high, 1].mean()))
    assert not far.touching[x < 0.5 * (low + high)].any()
    assert far.touching[x > high - 0.03].any()


def test_loads_that_no_pushing_nodes_carry_are_refused(sole):
    for wrench, words in (
        ((100.0, 1.0, 0.0), "centre of pressure lies outside"),
        ((-100.0, 0.0, 0.0), "expected a force above zero"),
        ((100.0, 0.0), "expected a force above zero"),
        ((100.0, np.nan, 0.0), "expected a force above zero"),
        ("heavy", "expected a force above zero"),
    ):
        with pytest.raises(ModelError, match=words):
            sole.pressure(wrench)


def test_a_heavier_load_brings_more_of_a_rounded_edge_to_the_ground():
    sole = make_sole(RECTANGLE, LAYER, 0.02, rounded=0.006, through=2, cache=False)
    centre = sole.ground_centre[:2]
    light, heavy = (sole.pressure((F, *centre)) for F in (100.0, 20_000.0))
    assert heavy.touching.sum() > light.touching.sum()
    assert heavy.touching[~sole.flat].any()
    plane = (rigid_motions(sole.ground_points, sole.ground_centre) @ heavy.motion)[2::3]
    gap = sole.gaps + (sole.compliance @ heavy.force.ravel())[2::3] - plane
    # displacements are of 1e-3 m
    assert gap.min() > -1e-12


def test_the_minimum_gives_the_same_nodes_as_trying_does(sole, monkeypatch):
    wrench = (300.0, *(sole.ground_centre[:2] + 0.02))
    tried = sole.pressure(wrench)
    ordinary, calls = pressure._Plane.active_set, []

    def failing_first(plane, pushing):
        calls.append(pushing)
        return None if len(calls) == 1 else ordinary(plane, pushing)

    monkeypatch.setattr(pressure._Plane, "active_set", failing_first)
    np.testing.assert_allclose(sole.pressure(wrench).force, tried.force, atol=1e-9 * 300.0)
    assert len(calls) == 2
