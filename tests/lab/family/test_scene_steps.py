"""Problems out of scenes."""

from __future__ import annotations

import numpy as np
import pytest

from tabi import scenes
from tabi.contact import judge, solve_problem
from tabi.contact.rows import CONTACT
from tabi.lab.family import case, everything
from tabi.lab.family.scene_steps import with_robots


def test_scenes_have_robots_and_contacts_that_files_can_tell():
    names = with_robots()
    assert {"table", "two-carry", "walk", "lift-8kg"} <= set(names)
    assert not {"slide", "soft-soles", "linkage", "toes", "pull-test"} & set(names)
    assert set(names) <= set(scenes.names())


@pytest.mark.slow
def test_a_problem_is_the_same_each_time_and_can_be_solved():
    index = with_robots().index("standing")
    a, b = (case("scene", index, 3) for _ in range(2))
    assert a.contact_count == 8
    assert np.array_equal(a.bodies.q, b.bodies.q)
    assert (a.bodies.kind == CONTACT).all()
    problem = a.problem()
    found = solve_problem(problem, 1e-8)
    assert judge(problem.blocks, found.impulse).relative <= 1e-8
    # the robot's weight over a step
    assert abs(found.impulse[2::3].sum() - 58 * 9.81e-3) < 0.05 * 58 * 9.81e-3


def test_the_seeded_family_is_as_before():
    assert "scene" not in {one.kind for one in everything(0, 0.001)}
