"""A hand with its device in a simulation: it pulls in every step, is seen, and lets go."""

import os
import signal
import time

import numpy as np
import pytest

import tabi
from tabi._errors import ModelError
from tabi.interaction.coupling import Placement
from tabi.interaction.devices.scripted import ScriptedHand
from tabi.interaction.hand import HapticHand
from tabi.interaction.presence import presence_of
from tabi.interaction.session import HapticSession, ProcessSource, source_of

G = 9.81


def box():
    world = tabi.World()
    world.add_box((0.1, 0.1, 0.1), 2.0)
    return tabi.Simulator(world)


def script(buttons=(True,)):
    """A hand that stays in the middle."""
    return lambda: ScriptedHand([[0.0, 0, 0, 0], [1.0, 0, 0, 0]], [buttons] * 2)


def held(sim, device="scripted", buttons=(True,)):
    source = source_of(sim, device, script(buttons))
    return HapticSession(sim, device, HapticHand(sim, source, "attach", "box", stiffness=400.0))


@pytest.mark.slow
def test_a_hand_bears_the_weight_in_every_step_without_being_asked():
    sim = box()
    session = held(sim)
    sim.run(3.0)
    assert sim.position("box")[2] == pytest.approx(-2.0 * G / 400.0, rel=1e-3)
    assert session.hand.force[2] == pytest.approx(2.0 * G, rel=1e-3)
    told = session.summary()
    assert told["device"] == "scripted"
    assert told["state"] == "running"
    assert told["strongest_n"] >= 2.0 * G
    # what gravity did on its way down is in the spring and in the damper
    assert told["work_j"] < 0.0


def test_robots_see_it_until_it_is_closed():
    sim = box()
    session = held(sim, buttons=(True, True))
    sim.run(0.01)
    hands = presence_of(sim)
    assert hands.probe is not None
    assert hands.pressed(1)
    assert len(hands.bands) == 1
    assert hands.meters().device == "scripted"
    session.close()
    session.close()
    assert hands.probe is None
    assert hands.bands == ()
    assert hands.meters is None
    # the step to come was told already
    sim.step()
    z = sim.velocity("box").linear[2]
    sim.run(0.1)
    # free fall from then on
    assert sim.velocity("box").linear[2] - z == pytest.approx(-G * 0.1, rel=1e-6)


def test_a_script_that_is_not_there_is_named():
    with pytest.raises(ModelError, match="'scripted' has no script"):
        source_of(box(), "scripted")
    with pytest.raises(ModelError, match="sripted"):
        source_of(box(), "sripted")


@pytest.mark.process
@pytest.mark.slow
def test_a_process_that_is_killed_is_started_again_and_nothing_pushes_meanwhile(tmp_path):
    path = tmp_path / "still.hand.csv"
    path.write_text("time_s,x_m,y_m,z_m,buttons\n0,0,0,0,1\n1,0,0,0,1\n", encoding="utf-8")
    sim = box()
    source = source_of(sim, f"stand-in:{path}")
    assert isinstance(source, ProcessSource)
    place = Placement(tabi.Transform())
    session = HapticSession(
        sim, "stand-in", HapticHand(sim, source, "attach", "box", placement=place)
    )

    def until(wanted, longest=30.0):
        begin = time.monotonic()
        while not wanted() and time.monotonic() - begin < longest:
            sim.step()
            time.sleep(1e-3)
        return wanted()

    try:
        assert until(lambda: session.hand.holds is not None)
        os.kill(source.process.pid, signal.SIGKILL)
        assert until(lambda: session.hand.holds is None, 5.0)
        assert not np.any(session.hand.force)
        assert until(lambda: source.restarts > 0 and session.hand.reading is not None)
    finally:
        session.close()
    assert not source.process.alive
