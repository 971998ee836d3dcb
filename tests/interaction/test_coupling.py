"""Placement, masses that points show, and rotations, against closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.interaction.coupling import (
    Placement,
    apparent_masses,
    gains,
    pressed,
    rotation_between,
    valid_reading,
)
from tabi.interaction.devices.protocol import HandReading
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.spatial.transform import about, from_quaternion


def test_a_free_body_shows_its_mass_and_inertia():
    world = World()
    world.add_box((0.1, 0.1, 0.1), 2.0)
    world.add_box((0.1, 0.2, 0.3), 3.0, position=(1.0, 0.0, 0.0))
    sim = Simulator(world)
    inertia = 2.0 * 0.1**2 / 6
    middle = apparent_masses(sim, sim.model.link("box"), (0, 0, 0))
    assert middle == pytest.approx((2.0, inertia), rel=1e-9)
    # J M⁻¹ Jᵀ = 1/m + [r]× I⁻¹ [r]×ᵀ: its trace is 3/m + 2 r²/I; turns do not know the point
    corner = apparent_masses(sim, sim.model.link("box"), (0.05, 0.05, 0.05))
    assert corner == pytest.approx((3 / (1.5 + 2 * 3 * 0.05**2 / inertia), inertia), rel=1e-9)
    other = apparent_masses(sim, sim.model.link(world.objects[1].name), (1.0, 0, 0))
    moments = 3.0 / 12 * np.array([0.2**2 + 0.3**2, 0.1**2 + 0.3**2, 0.1**2 + 0.2**2])
    assert other[1] == pytest.approx(3 / (1 / moments).sum(), rel=1e-9)


def test_damping_ratio_is_one_over_root_two_and_light_bodies_get_less_stiffness():
    heavy = gains((2.0, 0.01), 1e-3, 300.0, 5.0)
    assert heavy.damping / (2 * np.sqrt(300.0 * 2.0)) == pytest.approx(1 / np.sqrt(2))
    assert heavy.turn_damping / (2 * np.sqrt(5.0 * 0.01)) == pytest.approx(1 / np.sqrt(2))
    light = gains((1e-3, 1e-7), 1e-3, 300.0, 5.0)
    assert np.sqrt(light.stiffness / 1e-3) * 1e-3 == pytest.approx(0.1)
    assert np.sqrt(light.turn_stiffness / 1e-7) * 1e-3 == pytest.approx(0.1)
    assert light.force(np.array([1e9, 0, 0]), np.zeros(3)) == pytest.approx([400.0, 0, 0])
    assert light.torque(np.array([0, 1e9, 0]), np.zeros(3)) == pytest.approx([0, 40.0, 0])


def test_rotation_between_is_the_vector_that_turns_one_into_the_other():
    rng = np.random.default_rng(3)
    for angle in (0.0, 1e-9, 1e-3, 1.0, 3.1):
        start, axis = rng.normal(size=4), rng.normal(size=3)
        start, axis = start / np.linalg.norm(start), axis / np.linalg.norm(axis)
        end = about(axis, angle) @ from_quaternion(start)
        found = rotation_between(start, end.quaternion)
        assert found == pytest.approx(angle * axis, abs=1e-9)
        assert rotation_between(start, -end.quaternion) == pytest.approx(found, abs=1e-12)


def test_the_device_is_placed_scaled_and_moved_by_the_clutch():
    place = Placement(about((0, 0, 1), np.pi / 2, (1.0, 2.0, 3.0)), scale=3.0, clutch=0)
    moves = {"velocity": np.array([0.0, 1.0, 0.0]), "spin": np.array([1.0, 0.0, 0.0])}
    reading = HandReading(np.array([0.1, 0.0, 0.0]), **moves)
    probe = place.probe(reading)
    assert probe.position == pytest.approx([1.0, 2.3, 3.0])
    assert probe.velocity == pytest.approx([-3.0, 0.0, 0.0])
    assert probe.spin == pytest.approx([0.0, 1.0, 0.0])
    found = from_quaternion(probe.quaternion).R
    assert found == pytest.approx(place.R)
    turned = about((1, 0, 0), 0.5).quaternion
    place.probe(replace(reading, buttons=(True,)))
    for x in (0.2, 0.4, -0.3):
        held = HandReading(np.array([x, x, 0.0]), np.ones(3), turned, buttons=(True,))
        probe = place.probe(held)
        assert place.clutched
        assert probe.position == pytest.approx([1.0, 2.3, 3.0])
        assert not probe.velocity.any()
    probe = place.probe(
        HandReading(np.array([-0.3, -0.3, 0.0]), quaternion=turned, buttons=(False,))
    )
    assert not place.clutched
    assert probe.position == pytest.approx([1.0, 2.3, 3.0])
    found = from_quaternion(probe.quaternion).R
    assert found == pytest.approx(place.R, abs=1e-12)
    probe = place.probe(HandReading(np.array([-0.2, -0.3, 0.0]), quaternion=turned))
    assert probe.position == pytest.approx([1.0, 2.6, 3.0])


@pytest.mark.parametrize("given", [{"scale": 0.0}, {"scale": np.nan}, {"gain": -1.0}])
def test_placements_that_cannot_be_are_refused(given):
    with pytest.raises(ModelError, match="scale"):
        Placement(**given)


def test_readings_are_checked_and_quaternions_get_length_one():
    long = HandReading(np.zeros(3), quaternion=np.array([1.2, 0.0, 0.0, 0.0]))
    found = valid_reading(long)
    assert found is not None
    assert found.quaternion == pytest.approx([1, 0, 0, 0])
    assert valid_reading(HandReading(np.array([0, np.nan, 0]))) is None
    assert valid_reading(HandReading(np.zeros(4))) is None
    assert valid_reading(HandReading(None)) is None


def test_buttons_that_there_are_not_are_not_pressed():
    reading = HandReading(np.zeros(3), buttons=(False, True))
    assert [pressed(reading, k) for k in (0, 1, 2, None)] == [False, True, False, False]
