"""Random worlds, thin things and bullets: nothing gets through, little gets in,
and what watches them sees it.
"""

import json

import numpy as np
import pytest

import tabi
from tabi.lab.study import reported
from tabi.lab.validate import random_worlds, worlds
from tabi.lab.validate.worlds import Record, Watch, Worlds, run, summary
from tabi.model.shape import Box, Ellipsoid, HeightField


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_random_world_keeps_its_tolerance_and_lets_nothing_through(seed):
    record = run(seed, 500)
    assert record.steps == 500
    assert record.missed == []
    assert record.fault == ""
    assert record.tunnelled == []
    # (h ω)² r, with what 2 m of fall make of thirty centimetres: 80 rad/s at 1 ms
    assert record.penetration < 2e-3
    assert sum(record.counts) == 500
    # first order: trees that fly apart may gain a little, things by themselves never do
    assert record.energy_gained <= (1e-2 * max(record.energy, 1.0) if record.trees else 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 4])
def test_a_heap_of_ellipsoids_keeps_its_tolerance_and_lets_nothing_through(seed, monkeypatch):
    def ellipsoid(rng):
        return Ellipsoid(tuple(float(r) for r in rng.uniform(0.025, 0.15, 3)))

    monkeypatch.setattr(random_worlds, "random_geometry", ellipsoid)
    record = run(seed, 1000)
    assert (record.steps, record.missed, record.fault, record.tunnelled) == (1000, [], "", [])
    assert record.contacts > 5
    assert "ellipsoid" in record.pair
    assert record.penetration < 2e-3


@pytest.mark.slow
def test_overlaps_shrink_faster_than_the_step():
    deepest = [
        np.mean([np.log(run(seed, round(0.6 / dt), dt).penetration + 1e-9) for seed in range(6)])
        for dt in (4e-3, 1e-3)
    ]
    # in the mean over worlds; first order would be 4, second 16
    assert np.exp(deepest[0] - deepest[1]) > 4


def test_the_same_seed_runs_the_same():
    assert run(2, 300) == run(2, 300)


def test_figures_are_summed_up_and_every_world_is_told():
    told = []
    with reported(lambda *what: told.append(what)):
        found = Worlds(worlds=2, steps=50).run()
    assert told == [("worlds", 0, 2), ("worlds", 1, 2), ("worlds", 2, 2)]
    assert found["worlds"] == 2
    assert found["steps"] == 100
    assert sum(row["steps"] for row in found["histogram"]) == 100
    assert found["worst_penetration"] == max(one["penetration"] for one in found["each"])
    assert found["within"]
    assert json.loads(json.dumps(found)) == found | {
        "each": [one | {"missed": []} for one in found["each"]]
    }


def test_an_interrupt_keeps_the_worlds_that_are_done():
    def stop(what, done, count):
        if done == 2:
            raise KeyboardInterrupt

    with reported(stop):
        found = Worlds(worlds=5, steps=20).run()
    assert found["worlds"] == 2
    assert found["interrupted"]
    assert "interrupted" in Worlds().text(found)


def test_what_is_not_as_promised_is_said():
    good = Record(0, steps=10, penetration=1e-4, pair="box a on plane world")
    for record in (
        Record(1, penetration=1e-2),
        Record(1, fault="velocities are not finite"),
        Record(1, tunnelled=["a in b at 1 s"]),
    ):
        found = Worlds().result([good, record])
        assert not found["within"]
        assert "NOT within" in Worlds().text(found)
    assert Worlds().result([good])["within"]
    assert not Worlds().result([])["within"]


@pytest.mark.slow
def test_steps_that_miss_leave_their_problem_behind(tmp_path, monkeypatch):
    class Strict(tabi.Simulator):
        def __init__(self, world, dt):
            super().__init__(world, dt=dt, tolerance=1e-30)

    monkeypatch.setattr(worlds, "Simulator", Strict)
    record = run(3, 300, keep=tmp_path)
    assert len(record.missed) > 0
    assert len(list(tmp_path.glob("world3_step*.npz"))) == len(record.missed)


def test_the_deepest_and_the_missed_are_named():
    records = [
        Record(3, penetration=1e-4, pair="box a on plane world"),
        Record(4, missed=[(0.1, 1e-7)], energy_gained=2.0, energy=8.0, trees=1),
    ]
    found = summary(records)
    assert found["worst_pair"] == "box a on plane world"
    assert found["seeds_missed"] == [4]
    assert found["energy_gained_share"] == 0.25
    assert found["energy_gained_without_trees"] == 0.0


# ---- what watches ---------------------------------------------------------------------------


def watched(world, v=None):
    sim = tabi.Simulator(world)
    record = Record(0)
    watch = Watch(sim, record)
    if v is not None:
        sim.set_state(sim.model.initial(), v)
        watch.drop()
    before = sim.state.v
    sim.step()
    watch.look(before)
    return sim, watch, record


def test_a_centre_under_the_ground_or_inside_another_shape_is_seen():
    world = tabi.World()
    world.add_ground()
    world.add_box((0.2, 0.2, 0.2), 1.0, position=(0, 0, -0.01), name="sunk")
    world.add_cylinder(0.1, 0.4, 1.0, position=(1, 0, 0.2), name="pillar")
    world.add_sphere(0.02, 1.0, position=(1.09, 0, 0.39), name="inside")
    world.add_sphere(0.02, 1.0, position=(1.11, 0, 0.1), name="beside")
    world.add_ellipsoid((0.3, 0.1, 0.2), 1.0, position=(3, 0, 0.2), name="egg")
    world.add_sphere(0.02, 1.0, position=(3.2, 0, 0.3), name="yolk")
    world.add_sphere(0.02, 1.0, position=(3.2, 0, 0.38), name="shell")
    _, _, record = watched(world)
    assert {text.partition(" at ")[0] for text in record.tunnelled} == {
        "sunk in world",
        "inside in pillar",
        "yolk in egg",
    }
    assert record.penetration == pytest.approx(0.11, abs=1e-9)
    assert record.pair == "box sunk on plane world"


def test_points_below_a_height_field_are_those_below_its_triangles():
    rng = np.random.default_rng(0)
    field = HeightField(rng.normal(size=(5, 7)), (3.0, 2.0))
    world = tabi.World()
    world.add_fixed(field, (0.1, 0.2, 0.3))
    world.add_sphere(0.1, 1.0, position=(0, 0, 9))
    sim = tabi.Simulator(world)
    corners = field.points()[field.triangles()]
    # any point of a triangle, a little below and above it
    share = rng.dirichlet((1, 1, 1), len(corners))
    surface = np.einsum("nk,nki->ni", share, corners) + np.array([0.1, 0.2, 0.3])
    little = np.array([0, 0, 1e-6])
    assert worlds._below(sim, 0, surface - little).all()
    assert not worlds._below(sim, 0, surface + little).any()
    assert not worlds._below(sim, 0, np.array([[1.7, 0.0, -5.0]])).any()


def test_energy_that_comes_from_nowhere_is_counted():
    world = tabi.World()
    world.add_sphere(0.1, 2.0, position=(0, 0, 1))
    sim, watch, record = watched(world)
    assert record.energy_gained < 1e-12
    sim.set_state(sim.state.q, (3.0, 0, 0, 0, 0, 0))
    before = sim.state.v
    sim.step()
    watch.look(before)
    assert record.energy_gained == pytest.approx(0.5 * 2.0 * 3.0**2, rel=1e-3)


# ---- thin and fast --------------------------------------------------------------------------


@pytest.mark.parametrize("tilt", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("height", [0.5, 0.503, 0.5077])
def test_a_sheet_of_a_millimetre_at_ten_metres_a_second_stays_on_the_ground(tilt, height):
    world = tabi.World()
    world.add_ground(friction=0.5)
    turn = (np.cos(tilt / 2), np.sin(tilt / 2), 0, 0)
    sheet = world.add_box((0.2, 0.2, 1e-3), 0.1, position=(0, 0, height), quaternion=turn)
    sim = tabi.Simulator(world)
    sim.set_state(sim.model.initial(), (0, 0, -10, 3, 2, 1))
    lowest = 1.0
    for _ in range(400):
        sim.step()
        lowest = min(lowest, sim.position(sheet)[2])
    # it comes to rest on a face: its middle is half of its thickness above the ground
    assert lowest > 0.5e-3 - 1e-6
    assert sim.certificate.worst_penetration < 1e-4
    assert sim.certificate.missed == 0


@pytest.mark.parametrize("start", np.linspace(0, 0.1, 7))
def test_a_small_ball_at_a_hundred_metres_a_second_does_not_pass_a_wall_of_two_millimetres(start):
    world = tabi.World(gravity=(0, 0, 0))
    world.add_fixed(Box((2e-3, 1, 1)), (0.5, 0, 0))
    ball = world.add_sphere(5e-3, 0.01, position=(-start, 0.01, 0.02))
    sim = tabi.Simulator(world)
    sim.set_state(sim.model.initial(), (100, 0, 0, 0, 0, 0))
    sim.run(0.02)
    assert sim.position(ball)[0] == pytest.approx(0.5 - 1e-3 - 5e-3, abs=1e-9)
    assert sim.certificate.worst_penetration < 1e-9


def test_a_ball_and_a_free_wall_that_fly_at_each_other_go_on_together():
    world = tabi.World(gravity=(0, 0, 0))
    wall = world.add_box((2e-3, 1, 1), 1.0, position=(0.5, 0, 0))
    ball = world.add_sphere(5e-3, 0.01)
    sim = tabi.Simulator(world)
    sim.set_state(sim.model.initial(), (-50, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0, 0))
    sim.run(0.05)
    # plastic: the momentum of both over the mass of both
    speed = (100 * 0.01 - 50 * 1.0) / 1.01
    assert sim.velocity(wall).linear[0] == pytest.approx(speed, abs=1e-6)
    assert sim.position(wall)[0] - sim.position(ball)[0] == pytest.approx(6e-3, abs=1e-9)
