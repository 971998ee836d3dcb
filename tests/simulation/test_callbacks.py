"""What is called between steps: how often, with what, and when no more."""

from contextlib import contextmanager

import numpy as np
import pytest

import tabi
from tabi import ModelError
from tabi.simulation.callbacks import Scheduled


def falling():
    world = tabi.World()
    world.add_ground(friction=0.5)
    box = world.add_box((0.2, 0.2, 0.2), 1.0, position=(0, 0, 0.12))
    return tabi.Simulator(world), box


@pytest.mark.parametrize("how", ["run", "step", "rollout"])
def test_it_is_called_after_every_so_many_steps_however_they_are_done(how):
    sim, _ = falling()
    seen = []
    scheduled = sim.every(7, lambda data: seen.append((data.steps, data.time, data.q[2])))
    assert isinstance(scheduled, Scheduled)
    if how == "run":
        sim.run(0.03)
    elif how == "rollout":
        sim.rollout(30)
    else:
        for _ in range(30):
            sim.step()
    assert [steps for steps, _, _ in seen] == [7, 14, 21, 28]
    # with what the step left: z falls by g h² k (k + 1)/2 in flight
    assert seen[0][2] == pytest.approx(0.12 - 9.81 * 1e-6 * 7 * 7 / 2, abs=1e-9)


def test_calls_change_nothing_and_end_when_cancelled():
    plain, _ = falling()
    plain.run(0.1)
    sim, _ = falling()
    seen = []
    one, two = sim.every(1, seen.append), sim.every(5, seen.append)
    sim.run(0.05)
    one.cancel()
    one.cancel()
    assert (one.active, two.active) == (False, True)
    count = len(seen)
    sim.run(0.05)
    assert (count, len(seen) - count) == (60, 10)
    assert np.array_equal(sim.state.q, plain.state.q)


def test_a_run_that_ends_with_an_error_tells_those_who_asked():
    sim, _ = falling()
    told = []

    def fail(data):
        if data.steps == 10:
            raise RuntimeError("enough")

    sim.every(1, fail, stopped=lambda: told.append(sim.data.steps))
    with pytest.raises(RuntimeError, match="enough"):
        sim.run(1.0)
    assert told == [10]


def test_states_that_are_no_step_are_told_before_and_after():
    sim, _ = falling()
    seen = []

    @contextmanager
    def jump(kind):
        seen.append((kind, sim.data.steps))
        yield
        seen.append((kind, sim.data.steps))

    one = sim.every(1, lambda data: None, jump=jump)
    saved = sim.save()
    sim.run(0.003)
    sim.set_state(sim.q)
    sim.restore(saved)
    sim.run(0.002)
    sim.reset()
    told = [("set_state", 3), ("set_state", 3), ("restore", 3), ("restore", 0)]
    assert seen == [*told, ("reset", 2), ("reset", 0)]
    one.cancel()
    sim.reset()
    assert len(seen) == 6


def test_bodies_that_begin_and_cease_to_press_are_told_once():
    sim, box = falling()
    seen = []
    watch = sim.on_contact(lambda contact, kind: seen.append((kind, contact.body_a.name, sim.time)))
    sim.run(0.2)
    assert [(kind, name) for kind, name, _ in seen] == [("begins", box.name)]
    # free fall of 20 mm, and first order in the step
    assert seen[0][2] == pytest.approx(np.sqrt(2 * 0.02 / 9.81), abs=3e-3)
    sim.apply_force(box, force=(0, 0, 100.0), duration=0.05)
    sim.run(0.05)
    assert [kind for kind, _, _ in seen] == ["begins", "ends"]
    watch.cancel()
    sim.run(1.0)
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, print), "steps between two calls is 0; expected a whole number ≥ 1"),
        ((2.5, print), "is 2.5"),
        ((True, print), "is True"),
        ((1, None), "callback is None; expected a function"),
    ],
)
def test_what_cannot_be_called_is_refused(arguments, words):
    sim, _ = falling()
    with pytest.raises(ModelError, match=words):
        sim.every(*arguments)
