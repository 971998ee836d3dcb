"""Friction found from pulls is that of the scene."""

from __future__ import annotations

import numpy as np
import pytest
from paper_experiments import check

from tabi.lab.papers.experiments.pull_trial import EXPERIMENTS, pull

pytestmark = pytest.mark.papers


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.name)
def test_pulls_tell_the_friction_of_the_scene(experiment):
    assert check(experiment).missed == 0


def test_the_spring_pulls_with_static_friction_at_most_and_slides_on_with_less():
    curve, _ = pull(EXPERIMENTS[0].trial(), 8.0, 2.4)
    force, weight = curve[:, 1], 8.0 * 9.81
    # the foot moves with what is left of the spring, and its damper, so a little above
    assert force.max() == pytest.approx(0.983 * weight, rel=0.005)
    assert force[-20:].mean() == pytest.approx(0.9 * weight, rel=0.02)
    assert np.abs(curve[force < 0.95 * 0.983 * weight][:100, 2]).max() < 1e-9
