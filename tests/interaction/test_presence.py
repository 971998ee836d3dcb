"""Hands as robots see them."""

import gc
import weakref

import numpy as np

import tabi
from tabi.interaction.mouse_spring import Band
from tabi.interaction.presence import Presence, attach, presence_of


def test_the_first_hand_is_seen_and_every_button_counts():
    hands = Presence()
    assert hands.probe is None
    assert not hands.pressed(0)
    hands.put("mouse", np.array([1.0, 2.0, 3.0]))
    hands.put("device", np.zeros(3), (False, True))
    assert hands.probe.tolist() == [1.0, 2.0, 3.0]
    assert hands.pressed(1)
    assert not hands.pressed(0)
    assert not hands.pressed(7)
    hands.leave("mouse")
    hands.leave("nobody")
    assert hands.probe.tolist() == [0.0, 0.0, 0.0]


def test_a_button_may_be_pressed_for_good():
    hands = Presence()
    hands.press(1, True)
    assert hands.pressed(1)
    hands.press(1, False)
    hands.press(1, False)
    assert not hands.pressed(1)


def test_bands_are_those_of_hands_that_have_one():
    hands = Presence()
    band = Band(np.zeros(3), np.ones(3), np.zeros(3))
    hands.put("device", np.ones(3), (), band)
    assert hands.bands == (band,)
    hands.put("device", np.ones(3))
    assert hands.bands == ()
    hands.put("device", np.ones(3), (), band)
    hands.leave("device")
    assert hands.bands == ()


def test_a_place_that_its_owner_changes_later_stays_as_it_was_seen():
    hands, place = Presence(), np.zeros(3)
    hands.put("device", place)
    place[0] = 5.0
    assert hands.probe[0] == 0.0


def test_each_simulation_has_its_own_hands_and_none_keeps_it_alive():
    world = tabi.World()
    world.add_sphere(0.1, 1.0)
    first, second = tabi.Simulator(world), tabi.Simulator(world)
    assert presence_of(first) is presence_of(first)
    assert presence_of(first) is not presence_of(second)
    known = Presence()
    attach(second, known)
    assert presence_of(second) is known
    gone = weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None
