"""The bench of many contacts, small: numbers of points and groups, and forces that are known."""

import json

import numpy as np
import pytest

import tabi
from tabi.lab.bench import contacts


@pytest.fixture(scope="module")
def found():
    pit = {"balls": 8, "seconds": 0.3}
    return contacts.ContactsBench(stacks=3, wall=(3, 3), blocks=3, links=14, **pit).run()


@pytest.mark.slow
def test_stacks_are_groups_of_eight_points(found):
    assert found["stacks"]["contacts"] == 3 * 8
    assert found["stacks"]["groups"] == 3


@pytest.mark.slow
def test_a_wall_is_one_group_with_as_many_points_as_the_formula_says(found):
    assert found["wall"]["contacts"] == 4 * 3 * (2 * 3 - 1)
    assert found["wall"]["groups"] == 1


@pytest.mark.slow
def test_a_crawler_touches_with_every_link(found):
    assert found["crawler"]["contacts"] == found["crawler"]["bodies"] == 14
    assert found["crawler"]["groups"] == 1


@pytest.mark.slow
def test_balls_in_a_pit_come_to_rest_and_every_step_counts(found):
    pit = found["pit"]
    assert (pit["steps"], pit["missed"]) == (300, 0)
    # each on the ground, and some on each other or on a wall
    assert pit["most_points"] >= 8
    assert 1e3 * pit["longest_ms"] >= pit["median_microseconds"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["stacks", "wall", "crawler"])
def test_every_step_is_certified_and_the_ground_bears_all(found, scene):
    assert found[scene]["missed"] == 0
    assert found[scene]["worst_residual"] <= 1e-8
    # 1e-8 m/s in a millisecond is 1e-6 of gravity, for each of a few boxes
    assert abs(found[scene]["weight_error"]) < 1e-5


@pytest.mark.slow
def test_cold_solutions_reach_their_tolerance(found):
    rows = found["wall"]["cold"]
    assert {row["tolerance"] for row in rows} == {1e-6, 1e-8}
    assert all(
        row["converged"] and row["residual"] <= row["tolerance"] * (1 + 1e-9) for row in rows
    )


def test_the_default_sizes_make_about_a_thousand_points():
    bricks, rows = 17, 8
    world = contacts.wall_world(bricks, rows)
    # half bricks count as bodies: one more in every other row
    assert len(world.objects) == bricks * rows + rows // 2
    masses = sum(body.inertia.mass for body in world.objects)
    assert masses == pytest.approx(contacts.BRICK_MASS * bricks * rows)


def test_bricks_of_the_wall_do_not_touch_their_neighbours_in_the_row():
    sim = tabi.Simulator(contacts.wall_world(3, 3))
    sim.step()
    assert all(abs(c.normal[2]) == pytest.approx(1.0) for c in sim.contacts)
    assert np.isfinite(sim.state.v).all()


@pytest.mark.slow
def test_figures_are_json_and_text_has_them(found):
    assert json.loads(json.dumps(found)) == found
    page = contacts.ContactsBench().text(found)
    assert "3 stacks: 24 points" in page
    assert "60 points, 1 groups" in page
