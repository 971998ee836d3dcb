"""A few of the hundred walks, and what seeds draw."""

import numpy as np
import pytest

from tabi.lab.walking import rough_walks
from tabi.lab.walking.rough_robots import rough_robot


@pytest.fixture(scope="module")
def robot():
    return rough_robot("hrp2")


@pytest.mark.parametrize("seed", range(5))
def test_a_seed_draws_within_its_bounds_and_always_the_same(robot, seed):
    world, real, told = rough_walks.stage(robot, seed, 2.0)
    assert 0.3 <= told.friction <= 1.0
    assert 0.0 <= told.tilt_deg <= 2.0
    assert 0.95 <= told.mass <= 1.05
    for body, nominal in zip(real.bodies, robot.bodies, strict=True):
        if nominal.inertia.mass > 0.0:
            assert 0.95 <= body.inertia.mass / nominal.inertia.mass <= 1.05
    gravity = np.asarray(world.gravity)
    assert np.linalg.norm(gravity) == pytest.approx(rough_walks.G)
    assert np.degrees(np.arccos(-gravity[2] / 9.81)) == pytest.approx(told.tilt_deg, abs=1e-6)
    assert rough_walks.stage(robot, seed, 2.0)[2] == told
    assert rough_walks.stage(robot, seed + 1, 2.0)[2] != told


def test_plates_are_thin_and_begin_in_front_of_the_feet(robot):
    world, _, _ = rough_walks.stage(robot, 0, 2.0)
    plates = [shape for shape in world.fixed.shapes if shape.name != "ground"]
    assert len(plates) == rough_walks.PLATES
    for plate in plates:
        size = np.asarray(plate.geometry.size)
        assert 0.0 < size[2] <= rough_walks.MAX_PLATE_HEIGHT_M
        assert plate.placement.p[2] == pytest.approx(0.5 * size[2])
        # whichever way it is turned
        assert (
            plate.placement.p[0] - 0.5 * np.hypot(*size[:2]) >= rough_walks.FIRST_PLATE_X_M - 1e-9
        )


@pytest.mark.slow
def test_it_walks_with_a_stabiliser_and_falls_without():
    steered = rough_walks.try_walk("hrp2", "steered", 0, steps=6)
    blind = rough_walks.try_walk("hrp2", "blind", 0, steps=6)
    assert steered["upright"]
    assert steered["arrived"]
    # steps of 0.2 m, the last one beside the other foot
    assert steered["far_m"] == pytest.approx(1.0, abs=0.1)
    # on rubber of 500 N·m/rad, Hirukawa 2003, the second row
    assert not blind["upright"]
    assert blind["fell_s"] > 0.0
    assert (steered["friction"], steered["mass"]) == (blind["friction"], blind["mass"])


def walked(fallen=()):
    def pretend(name, kind, seed, steps):
        conditions = rough_walks.Conditions(seed, 0.5, 1.0, 90.0, 1.01)
        down = (kind, seed) in fallen
        row = {"kind": kind, "upright": not down, "arrived": not down}
        row |= {"fell_s": 3.5 if down else None, "far_m": 0.7}
        return rough_walks.asdict(conditions) | row

    return pretend


def test_falls_are_listed_with_what_was_drawn(monkeypatch):
    monkeypatch.setattr(rough_walks, "try_walk", walked({("steered", 1), ("blind", 0)}))
    found = rough_walks.RoughWalks(walks=20).run()
    assert found["counts"]["steered"] == {"walks": 20, "upright": 19, "arrived": 19}
    assert found["counts"]["planned"] == {"walks": 20, "upright": 20, "arrived": 20}
    assert found["within"]
    told = rough_walks.RoughWalks().text(found)
    assert "seed   1:  3.50 s, 0.70 m; friction 0.50, tilt 1.0° towards 90°" in told
    monkeypatch.setattr(rough_walks, "try_walk", walked({("steered", 1), ("steered", 2)}))
    assert not rough_walks.RoughWalks(walks=20).run()["within"]


@pytest.mark.slow
def test_a_walk_that_was_given_up_is_upright_and_has_not_arrived(monkeypatch):
    monkeypatch.setattr(rough_walks, "MIN_DISTANCE_RATIO", 2.0)
    row = rough_walks.try_walk("hrp2", "steered", 0, steps=2)
    assert row["upright"]
    assert not row["arrived"]
    monkeypatch.setattr(rough_walks, "try_walk", lambda *task: row | {"seed": task[2]})
    found = rough_walks.RoughWalks(walks=3, kinds=("steered",)).run()
    assert found["counts"]["steered"] == {"walks": 3, "upright": 3, "arrived": 0}
    assert not found["within"]


def test_an_interrupt_keeps_what_is_done(monkeypatch):
    def pretend(name, kind, seed, steps):
        if seed == 2:
            raise KeyboardInterrupt
        return walked()(name, kind, seed, steps)

    monkeypatch.setattr(rough_walks, "try_walk", pretend)
    found = rough_walks.RoughWalks(walks=5, kinds=("steered",)).run()
    assert found["interrupted"]
    assert [row["seed"] for row in found["walks"]] == [0, 1]
    assert "interrupted" in rough_walks.RoughWalks().text(found)


@pytest.mark.slow
@pytest.mark.process
def test_two_processes_find_what_one_finds():
    one, two = (
        rough_walks.RoughWalks(walks=3, steps=2, jobs=jobs, kinds=("steered",)).run()
        for jobs in (1, 2)
    )
    assert one["walks"] == two["walks"]
