"""The simulated handle moves as a mass on a spring does, and lets a force go by itself."""

import math

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.interaction.devices import haply_messages as messages
from tabi.interaction.devices.scripted import ScriptedHand
from tabi.interaction.devices.stand_in import (
    FORCE_TIMEOUT_S,
    MAX_FORCE,
    STEP,
    SimulatedHandle,
    StandIn,
    main,
)


def pushed(handle, force, end, every=1e-3):
    """Positions and velocities while a force is held, written anew every millisecond."""
    seen = []
    for k in range(round(end / every)):
        handle.push(force, k * every)
        handle.advance((k + 1) * every)
        seen.append((handle.time, *handle.position, *handle.velocity))
    return np.array(seen)


@pytest.mark.parametrize(("m", "k", "c"), [(0.05, 100.0, 0.5), (0.1, 400.0, 4.0), (0.5, 50.0, 1.0)])
def test_a_held_force_swings_it_as_the_closed_form_says(m, k, c):
    f = np.array([0.5, -0.3, 0.2])
    seen = pushed(SimulatedHandle(m, k, c), f, 0.4)
    # x = f/k (1 − e^{−at} (cos wt + a/w sin wt))
    a = c / (2 * m)
    w = math.sqrt(k / m - a * a)
    t = seen[:, 0]
    sway = 1 - np.exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t))
    np.testing.assert_allclose(seen[:, 1:4], np.outer(sway, f / k), atol=1e-12)
    speed = np.exp(-a * t) * (a * a + w * w) / w * np.sin(w * t)
    np.testing.assert_allclose(seen[:, 4:], np.outer(speed, f / k), atol=1e-10)


def test_without_a_hand_it_falls_freely():
    m, f = 0.2, 0.3
    seen = pushed(SimulatedHandle(m, 0.0, 0.0), (f, 0.0, 0.0), 0.3)
    np.testing.assert_allclose(seen[:, 1], 0.5 * f / m * seen[:, 0] ** 2, atol=1e-12)


def test_a_force_ends_by_itself():
    m, f, end = 0.2, 0.3, 0.2
    handle = SimulatedHandle(m, 0.0, 0.0)
    handle.push((f, 0.0, 0.0), 0.0)
    handle.advance(0.9 * FORCE_TIMEOUT_S)
    assert handle.force[0] == f
    handle.advance(end)
    assert handle.force == [0.0, 0.0, 0.0]
    v = f / m * FORCE_TIMEOUT_S
    np.testing.assert_allclose(handle.velocity[0], v, rtol=1e-9)
    np.testing.assert_allclose(handle.position[0], v * (end - 0.5 * FORCE_TIMEOUT_S), rtol=1e-9)


def test_it_is_let_go_when_its_writer_is_gone():
    handle = SimulatedHandle(0.2, 0.0, 0.0)
    handle.push((0.3, 0.0, 0.0), 0.0)
    handle.release(0.005)
    handle.advance(0.1)
    np.testing.assert_allclose(handle.velocity[0], 0.3 / 0.2 * 0.005, rtol=1e-9)


def test_a_stiff_hand_takes_it_along():
    t = np.linspace(0.0, 1.0, 21)
    hand = ScriptedHand(np.column_stack([t, 0.03 * np.sin(4 * t), 0.0 * t, 0.05 * t]))
    handle = SimulatedHandle(0.05, 5000.0, 20.0, hand)
    for now in np.linspace(0.2, 0.9, 15):
        handle.advance(now)
        wanted = hand.at(handle.time)
        # the spring bends by m a / k
        np.testing.assert_allclose(handle.position, wanted.position, atol=3e-5)
        np.testing.assert_allclose(handle.velocity, wanted.velocity, atol=5e-3)


def test_the_step_does_not_matter_to_when_it_is_asked():
    handles = [SimulatedHandle(0.1, 100.0, 2.0) for _ in range(2)]
    for handle in handles:
        handle.push((1.0, 2.0, -1.0), 0.0)
    handles[0].advance(0.015)
    for now in np.arange(0.0, 0.015 + STEP, 3.3 * STEP):
        handles[1].advance(min(now, 0.015))
    handles[1].advance(0.015)
    np.testing.assert_allclose(handles[0].position, handles[1].position, rtol=1e-12)


def test_one_that_was_asleep_goes_on_where_it_was():
    t = np.array([0.0, 3600.0, 7200.0])
    hand = ScriptedHand(np.column_stack([t, 0.1 * t / 7200.0, 0 * t, 0 * t]))
    handle = SimulatedHandle(0.1, 100.0, 2.0, hand)
    handle.push((1.0, 0.0, 0.0), 0.0)
    handle.advance(3600.0)
    assert handle.time == pytest.approx(3600.0)
    assert handle.force == [0.0, 0.0, 0.0]
    assert abs(handle.position[0]) < 1e-3


def test_motors_are_as_strong_as_they_are_and_arms_end():
    handle = SimulatedHandle(0.5, 0.0, 0.0)
    handle.push((1e6, 0.0, 0.0), 0.0)
    assert handle.force[0] == MAX_FORCE
    pushed(handle, (1e6, 0.0, 0.0), 0.5)
    assert handle.position[0] == 0.25


@pytest.mark.parametrize("given", [{"mass": 5.0}, {"mass": math.nan}, {"stiffness": -1.0}])
def test_an_impossible_handle_is_refused(given):
    with pytest.raises(ModelError, match="stand-in"):
        SimulatedHandle(**given)


def test_the_program_tells_what_is_wrong(capsys):
    assert main(["--mass", "7"]) == 1
    assert "mass of 7 kg" in capsys.readouterr().err
    assert main(["--hand", "none.hand.csv"]) == 1
    assert "none.hand.csv" in capsys.readouterr().err


def test_a_script_presses_buttons_and_turns_the_grip_as_the_service_tells_it():
    turned = (0.8, 0.0, 0.6, 0.0)
    hand = ScriptedHand([[0.0, 0, 0, 0, *turned], [1.0, 0, 0, 0, *turned]], [(True, False), ()])
    handle = SimulatedHandle(hand=hand)
    frame = messages.parse_frame(StandIn(handle, clock=lambda: 0.5)._update(1, full=True))
    told = messages.reading(frame, "TABI", 0.5)
    assert told.buttons == (True, False)
    assert told.quaternion == pytest.approx(turned)
    bare = SimulatedHandle()
    frame = messages.parse_frame(StandIn(bare, clock=lambda: 0.5)._update(1, full=True))
    assert messages.reading(frame, "TABI", 0.5).buttons == ()
