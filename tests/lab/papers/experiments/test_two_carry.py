"""Two HRP-2 carry a plank between them."""

from __future__ import annotations

import paper_experiments
import pytest

from tabi.lab.papers.experiments.two_carry import EXPERIMENTS, measure

pytestmark = pytest.mark.papers


def test_the_plank_is_carried_as_one_group_of_contacts():
    found = paper_experiments.check(EXPERIMENTS[0])
    assert found.missed == 0


def test_friction_a_little_above_the_law_holds_it():
    # the check's counter-run has 0.1, below m g / (4 N); lifting needs some more than m g
    force = measure(EXPERIMENTS[0].trial()).numbers["hand_force_n"]
    enough = 1.3 * 4 * 9.81 / (4 * force)
    change = f"objects.plank.friction={enough}"
    held = measure(EXPERIMENTS[0].trial(changes=(change,))).numbers
    assert held["held_lift_mm"] > 50
