"""The spring of the mouse against closed forms."""

import numpy as np
import pytest
from worlds import random_robot

from tabi import dynamics
from tabi._errors import ModelError
from tabi.interaction.mouse_spring import (
    FILTER_TIME_S,
    FORCE_LIMIT,
    MAX_SPRINGS,
    SHIFT_FACTOR,
    STIFFNESS,
    Hands,
    Spring,
)
from tabi.model.world import World
from tabi.simulation.simulator import Simulator

G = 9.81


def box(mass: float, gravity=(0.0, 0.0, 0.0)) -> Simulator:
    world = World(gravity=gravity)
    world.add_box(size=(0.1, 0.1, 0.1), mass=mass)
    return Simulator(world)


def pull(sim: Simulator, spring: Spring, seconds: float) -> None:
    for _ in range(round(seconds / sim.dt)):
        spring.pull()
        sim.step()


def test_body_hangs_below_the_mouse_by_its_weight_over_the_stiffness():
    sim = box(2.0, (0.0, 0.0, -G))
    spring = Spring(sim, sim.world.objects[0], (0.0, 0.0, 0.0))
    spring.move((0.3, 0.1, 0.5))
    pull(sim, spring, 3.0)
    place = sim.position("box")
    # a critically damped spring of 300 N/m and 2 kg is at rest to e^(−3·12) after three seconds
    assert place == pytest.approx([0.3, 0.1, 0.5 - 2.0 * G / STIFFNESS], abs=1e-6)
    assert spring.force == pytest.approx([0.0, 0.0, 2.0 * G], abs=1e-4)
    band = spring.band()
    assert band.point == pytest.approx(place)
    assert band.target == pytest.approx([0.3, 0.1, 0.5], abs=1e-9)
    assert np.array_equal(band.force, spring.force)


def test_free_body_shows_its_mass_at_its_middle_and_less_at_its_corner():
    sim = box(2.0)
    middle = Spring(sim, sim.world.objects[0], (0.0, 0.0, 0.0))
    corner = Spring(sim, sim.world.objects[0], (0.05, 0.05, 0.05))
    assert middle.damping == pytest.approx(2 * np.sqrt(STIFFNESS * 2.0))
    # J M⁻¹ Jᵀ = 1/m + [r]× I⁻¹ [r]×ᵀ: its trace is 3/m + 2 r²/I, for a cube I = m a²/6
    mass = 3 / (3 / 2.0 + 2 * 3 * 0.05**2 / (2.0 * 0.1**2 / 6))
    assert corner.damping == pytest.approx(2 * np.sqrt(STIFFNESS * mass))


def test_far_end_follows_the_mouse_through_the_filter():
    sim = box(2.0)
    spring = Spring(sim, sim.world.objects[0], (0.0, 0.0, 0.0))
    spring.move((1.0, 0.0, 0.0))
    pull(sim, spring, 0.1)
    assert spring.target[0] == pytest.approx(1 - (1 + sim.dt / FILTER_TIME_S) ** -100)


@pytest.mark.slow
def test_force_on_a_link_of_a_robot_is_that_of_equation_1_and_acts_at_the_grabbed_point():
    world = World(gravity=(0.0, 0.0, 0.0))
    robot = world.add_robot(random_robot(4))
    sim, link = Simulator(world), robot.bodies[-1]
    grabbed = np.array((0.02, -0.03, 0.05))
    spring = Spring(sim, link, sim.pose(link) @ grabbed)
    spring.move(sim.pose(link) @ grabbed + (0.2, -0.1, 0.3))
    target = sim.pose(link) @ grabbed
    for _ in range(200):
        q, v = sim.state.q, sim.state.v
        X, V = dynamics.pose(sim.model, q, link.name), dynamics.velocity(sim.model, q, v, link.name)
        arm = X.R @ grabbed
        target = target + (spring.mouse - target) * sim.dt / (FILTER_TIME_S + sim.dt)
        force = spring.stiffness * (target - X.p - arm) - spring.damping * (
            V.linear + np.cross(V.angular, arm)
        )
        saved = sim.save()
        spring.pull()
        # rounding only: forces of some ten newtons
        assert spring.force == pytest.approx(force, abs=1e-10)
        sim.step()
        moved = sim.state
        # the same as a plain push of this force at this point
        sim.restore(saved)
        sim.apply_force(link, force, point=grabbed)
        sim.step()
        assert sim.state.v == pytest.approx(moved.v, abs=1e-9)
    assert np.linalg.norm(spring.force) > 1.0


@pytest.mark.parametrize(("strong", "scale"), [(False, 1.0), (True, SHIFT_FACTOR)])
def test_force_is_bounded_and_shift_makes_it_ten_times_as_large(strong, scale):
    sim = box(1e4)
    spring = Spring(sim, sim.world.objects[0], (0.0, 0.0, 0.0), strong)
    assert spring.stiffness == pytest.approx(scale * STIFFNESS)
    spring.move((15.0, 0.0, 0.0))
    pull(sim, spring, 1.0)
    assert np.linalg.norm(spring.force) == pytest.approx(scale * FORCE_LIMIT)
    # nothing but this force moved it
    assert 0 < sim.velocity("box").linear[0] <= scale * FORCE_LIMIT / 1e4


@pytest.mark.slow
@pytest.mark.parametrize("mass", [1e-4, 1e-2, 1.0, 100.0])
def test_body_of_any_mass_comes_to_the_mouse_and_stays(mass):
    sim = box(mass)
    spring = Spring(sim, sim.world.objects[0], (0.05, 0.05, 0.05), strong=True)
    spring.move((0.25, 0.05, 0.05))
    energy, away = [], []
    for k in range(4000):
        spring.pull()
        sim.step()
        if k % 4 == 0:
            energy.append(sim.energy.kinetic)
            away.append(np.linalg.norm(spring.band().point - spring.mouse))
    # the body may go on turning about the point; a spring that rings would add to that for ever
    # 100 kg that turn stretch 3000 N/m by centimetres
    assert max(away[-250:]) < 0.02
    assert max(energy[-250:]) <= max(energy[:750])


def test_impossible_mice_are_not_believed():
    sim = box(1.0)
    body = sim.world.objects[0]
    for place in ((np.nan, 0, 0), (np.inf, 0, 0), (1e3, 0, 0), (0, 0), "abc"):
        with pytest.raises((ModelError, ValueError)):
            Spring(sim, body, place)
    spring = Spring(sim, body, (0.0, 0.0, 0.0))
    spring.move((1e6, 0.0, 0.0))
    assert np.array_equal(spring.mouse, np.zeros(3))


def test_fixed_things_cannot_be_pulled():
    sim = box(1.0)
    with pytest.raises(ModelError, match="cannot be pulled"):
        Spring(sim, sim.world.fixed, (0.0, 0.0, 0.0))


def test_hands_are_few_and_each_lets_go_of_its_own():
    sim, hands = box(1.0), Hands()
    body = sim.world.objects[0]
    for owner in range(MAX_SPRINGS + 3):
        hands.take(owner, Spring(sim, body, (0.0, 0.0, 0.0)))
    assert len(hands.springs) == MAX_SPRINGS
    hands.move(0, (0.1, 0.0, 0.0))
    hands.pull()
    sim.step()
    assert sim.velocity("box").linear[0] > 0
    assert len(hands.bands()) == MAX_SPRINGS
    for owner in range(MAX_SPRINGS + 3):
        hands.release(owner)
    assert hands.bands() == ()
    hands.pull()
    before = sim.velocity("box").linear[0]
    sim.step()
    # no gravity, nobody pulls: uniform motion
    assert sim.velocity("box").linear[0] == pytest.approx(before, rel=1e-12)
