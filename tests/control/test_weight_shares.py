"""How weight is borne: sums and moments are right, nobody pulls, and least forces are a plane."""

import numpy as np
import pytest

from tabi.control.weight_shares import corner_loads

FEET = np.array([[x, y] for y in (-0.15, -0.05, 0.05, 0.15) for x in (-0.1, 0.14)])


@pytest.mark.parametrize("seed", range(20))
def test_loads_bear_a_centre_of_mass_above_the_soles_and_none_pulls(seed):
    rng = np.random.default_rng(seed)
    centre = rng.dirichlet(np.ones(8)) @ FEET
    loads = corner_loads(FEET, centre)
    assert loads.sum() == pytest.approx(1.0, abs=1e-12)
    assert loads @ FEET == pytest.approx(centre, abs=1e-9)
    assert loads.min() >= 0.0


def test_the_middle_is_borne_by_all_alike_and_loads_are_a_plane_where_all_bear():
    assert corner_loads(FEET, FEET.mean(axis=0)) == pytest.approx(np.full(8, 0.125))
    centre = np.array([0.03, 0.01])
    loads = corner_loads(FEET, centre)
    A = np.column_stack([np.ones(8), FEET])
    fitted = A @ np.linalg.lstsq(A, loads, rcond=None)[0]
    assert loads == pytest.approx(fitted, abs=1e-12)


def test_a_centre_beyond_the_soles_is_borne_by_the_edge_that_is_nearest():
    loads = corner_loads(FEET, np.array([0.5, 0.0]))
    assert loads.sum() == pytest.approx(1.0)
    assert loads[FEET[:, 0] < 0] == pytest.approx(np.zeros(4), abs=1e-9)
    assert corner_loads(FEET[:1], np.array([3.0, 3.0])) == pytest.approx([1.0])


def test_corners_on_a_line_and_in_one_point_bear_what_they_can():
    line = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert corner_loads(line, np.array([0.25, 0.0])) == pytest.approx([0.75, 0.25])
    assert corner_loads(np.zeros((3, 2)), np.zeros(2)) == pytest.approx(np.full(3, 1 / 3))


@pytest.mark.parametrize("far", [0.3, 3.0, 1e3, 1e8, 1e15])
@pytest.mark.parametrize("angle", [0.0, 0.4, 1.57, 2.9, -2.0])
def test_however_far_a_centre_is_its_weight_is_at_the_point_of_the_soles_nearest_to_it(far, angle):
    centre = far * np.array([np.cos(angle), np.sin(angle)])
    loads = corner_loads(FEET, centre)
    assert loads.min() >= 0.0
    assert loads.sum() == pytest.approx(1.0)
    # of a rectangle the nearest point has its coordinates cut off
    nearest = np.clip(centre, FEET.min(axis=0), FEET.max(axis=0))
    assert loads @ FEET == pytest.approx(nearest, abs=1e-6)
