"""Impacts at their moments: elastic balls, cradles with gaps, Zeno,
and the same motion where nothing bounces.
"""

from math import sqrt

import numpy as np
import pytest

import tabi
from tabi import ModelError

G = 9.81


def ball(restitution, height=0.5, dt=1e-3):
    world = tabi.World()
    world.add_ground(friction=0.0, restitution=restitution)
    world.add_sphere(radius=0.1, mass=1.0, position=(0, 0, 0.1 + height), friction=0.0)
    return tabi.Simulator(world, dt=dt, scheme="event-driven")


def bounces(sim, count):
    """Run until a ball has turned upwards so many times."""
    seen = 0
    while seen < count:
        down = sim.state.v[2] < 0
        sim.step()
        seen += down and sim.state.v[2] > 0


@pytest.mark.slow
def test_an_elastic_ball_keeps_its_energy_over_ten_bounces():
    sim = ball(1.0, height=5e-3)
    first = sim.energy.total - G * 0.1
    bounces(sim, 10)
    # 1e-5 a bounce
    assert sim.energy.total - G * 0.1 == pytest.approx(first, rel=1e-4)


@pytest.mark.slow
def test_moments_of_bounces_are_those_of_the_closed_form():
    # after √(2H/g), then flights of 2 ε^k √(2H/g)
    sim, fall = ball(0.7), sqrt(2 * 0.5 / G)
    expected = [fall * (1 + 2 * sum(0.7**j for j in range(1, k + 1))) for k in range(5)]
    found = []
    for _ in range(5):
        bounces(sim, 1)
        found.append(sim.time)
    # the step in which it happens
    assert found == pytest.approx(expected, abs=1.1e-3)


@pytest.mark.slow
def test_bounces_that_accumulate_end_in_rest():
    sim = ball(0.5, 0.2)
    sim.run(1.0)
    # all bounces are over after √(2H/g) (1 + ε)/(1 − ε) = 0.606 s
    assert sim.state.q[2] == pytest.approx(0.1, abs=1e-9)
    # to the tolerance
    assert abs(sim.state.v[2]) < 1e-8


def test_a_cradle_with_gaps_sends_off_its_last_ball_alone():
    world = tabi.World(gravity=(0.0, 0.0, 0.0))
    for k in range(3):
        world.add_sphere(
            radius=0.1,
            mass=1.0,
            position=((0.2 + 1e-6) * k, 0, 0),
            restitution=1.0,
            friction=0.0,
            name=f"ball{k}",
        )
    sim = tabi.Simulator(world, scheme="event-driven")
    v = np.zeros(18)
    v[sim.model.v_index("ball0")] = 1.0
    sim.set_state(sim.model.initial(), v)
    sim.run(0.005)
    assert [sim.state.v[sim.model.v_index(f"ball{k}")] for k in range(3)] == pytest.approx(
        [0.0, 0.0, 1.0], abs=1e-6
    )


def test_without_impacts_both_schemes_do_the_same():
    ends = []
    for scheme in ("time-stepping", "event-driven"):
        world = tabi.World()
        world.add_ground(friction=0.3)
        world.add_box(size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1), friction=0.3)
        sim = tabi.Simulator(world, scheme=scheme)
        sim.set_state(sim.model.initial(), [1.0, 0.2, 0, 0, 0, 0])
        sim.run(0.2)
        ends.append(sim.state)
    assert np.array_equal(ends[0].q, ends[1].q)
    assert np.array_equal(ends[0].v, ends[1].v)


def test_a_scheme_that_is_not_there_is_refused():
    world = tabi.World()
    world.add_sphere(radius=0.1, mass=1.0)
    with pytest.raises(ModelError, match="event-driven"):
        tabi.Simulator(world, scheme="events-driven")


@pytest.mark.parametrize("overlap", [5e-10, 5e-8])
def test_the_instant_of_an_impact_throws_nothing_that_overlaps_a_little(overlap):
    """A ball bounces in the first step, in an instant of 1e-10 s, while a box elsewhere is inside
    of the ground by less than a micrometre: it must not leave it with overlap/1e-10 s, metres or
    hundreds of metres a second.
    """
    world = tabi.World()
    world.add_ground(friction=0.5, restitution=0.9)
    box = world.add_box((0.2, 0.2, 0.2), 2.0, position=(1.0, 0.0, 0.1 - overlap), name="box")
    ball = world.add_sphere(0.05, 1.0, position=(0.0, 0.0, 0.051), restitution=0.9, name="ball")
    sim = tabi.Simulator(world, scheme="event-driven")
    v = np.array(sim.v)
    v[sim.v_slice(ball)] = (0, 0, -2.0, 0, 0, 0)
    sim.set_state(sim.q, v)
    sim.step()
    assert sim.velocity(ball).linear[2] > 1.5
    # what a millisecond of gravity makes is 0.01 m/s
    assert np.abs(sim.velocity(box).linear).max() < 2e-3
    sim.run(0.05)
    assert sim.position(box)[2] == pytest.approx(0.1, abs=1e-6)


def falling_things(**options):
    """A ball, and a tilted box that lands on its corners one after the other, on a force plate;
    both with torsional and rolling friction.
    """
    world = tabi.World()
    world.add_ground(friction=0.6, restitution=0.7)
    surface = {"friction": 0.6, "restitution": 0.7, "torsional_friction": 2e-3}
    surface |= {"rolling_friction": 1e-3}
    world.add_sphere(0.05, 1.0, position=(0.0, 0.0, 0.1), name="ball", **surface)
    tilted = (0.998, 0.03, 0.055, 0.01)
    world.add_box((0.2, 0.3, 0.1), 2.0, position=(1.0, 0, 0.12), quaternion=tilted, **surface)
    plate = world.measure_force("ground", resolution=0.0)
    sim = tabi.Simulator(world, scheme="event-driven", **options)
    v = np.array(sim.v)
    v[sim.v_slice("ball")] = (0.5, -0.2, 0.0, 4.0, 9.0, -20.0)
    sim.set_state(sim.q, v)
    return sim, plate


def test_a_moment_is_found_in_few_turns(monkeypatch):
    sim, _ = falling_things()
    stepper, tried = sim._stepper, []
    rollout = stepper.rollout
    monkeypatch.setattr(stepper, "rollout", lambda *a, **k: tried.append(a[0]) or rollout(*a, **k))
    while sim.data.outcome.report["bounced"][0] == 0:
        tried.clear()
        sim.step()
    # the whole step, three parts of which each is tried twice at most, the instant and the rest
    assert len(tried) <= 10
    assert min(tried) == pytest.approx(1e-7 * sim.dt, rel=0.5)


def test_a_budget_ends_the_search_and_the_step_is_counted():
    sims = {work: falling_things(budget=work)[0] for work in (1, 400_000)}
    for sim in sims.values():
        sim.run(0.5)
        assert np.isfinite(sim.v).all()
    assert sims[1].unresolved_count > 5
    assert sims[400_000].unresolved_count == 0
    sims[1].reset()
    assert sims[1].unresolved_count == 0


def test_a_budget_of_time_ends_the_search(monkeypatch):
    sim, _ = falling_things(budget=tabi.Budget(work=None, microseconds=1e6))
    monkeypatch.setattr(sim._stepper.watch, "is_over", lambda: True)
    sim.run(0.3)
    assert sim.unresolved_count > 0
