"""Some of the walls of the study."""

import numpy as np
import pytest

from tabi.lab.validate import haptic_passivity as study


@pytest.mark.slow
def test_the_controller_keeps_every_wall_passive_and_without_it_energy_grows():
    found = study.HapticPassivity(
        masses=(0.05, 0.5), stiffnesses=(1000.0,), jitters=(0.0, 5e-3)
    ).run()
    assert found["within"], found
    assert 0.0 < found["worst_controlled"] <= study.MAX_ENERGY_J
    # the worst corner: light, stiff, late
    assert found["bare"][1][0][0][1] > 1.0
    assert np.shape(found["controlled"]) == (2, 2, 1, 2)
    assert "within" in study.HapticPassivity().text(found)


@pytest.mark.parametrize("seed", range(4))
def test_three_dimensions_and_other_jitter_are_no_way_round(seed):
    for late in (False, True):
        one = study.contact("throw", 0.05, 1000.0, 5e-3, late, seed=seed, axes=3)
        assert one["worst"] <= study.MAX_ENERGY_J


def test_more_than_is_promised_is_seen():
    walls = study.HapticPassivity(masses=(0.1,), stiffnesses=(300.0,), jitters=(0.0,))
    assert walls.result([(0.0, 1.0), (study.MAX_ENERGY_J, 1.0)])["within"]
    assert not walls.result([(0.0, 1.0), (1.1 * study.MAX_ENERGY_J, 1.0)])["within"]


@pytest.mark.parametrize("mass", [0.05, 0.1])
def test_at_rest_the_wall_is_as_stiff_as_it_says(mass):
    one = study.contact("hold", mass, 1000.0, 0.0)
    # hand and wall in series: 300 (x_h − x) = 1000 x
    assert one["place"][-1] == pytest.approx(-0.01 * 300 / 1300, abs=2e-4)
    assert one["force"][0] == pytest.approx(-1000.0 * one["place"][-2], rel=1e-9)
