"""One step at a time: none within another, none beside another in a second thread."""

import threading

import pytest

import tabi
from tabi._errors import SimulationError
from tabi.simulation.turns import Turns


def falling():
    world = tabi.World()
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(0, 0, 1.0))
    return tabi.Simulator(world)


def test_a_step_within_a_step_is_refused_once_and_the_simulator_goes_on():
    sim = falling()
    scheduled = sim.every(1, lambda data: sim.run(0.01))
    with pytest.raises(SimulationError, match=r"^a step was asked for within a step") as found:
        sim.step()
    assert str(found.value).count("step within") <= 1
    scheduled.cancel()
    sim.run(0.01)
    # the step before the callback was done
    assert sim.data.steps == 11


def test_another_thread_is_told_so():
    turns, said = Turns(), []

    def other():
        try:
            turns.begin()
        except SimulationError as e:
            said.append(str(e))

    turns.begin()
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert len(said) == 1
    assert said[0].startswith("this simulator is already stepping in another thread")
    turns.end()
    turns.begin()


def test_a_run_in_another_thread_while_a_callback_waits_loses_no_step():
    sim, inside, go, said = falling(), threading.Event(), threading.Event(), []

    def wait(data):
        inside.set()
        assert go.wait(10)

    scheduled = sim.every(1, wait)
    thread = threading.Thread(target=lambda: sim.step())
    thread.start()
    assert inside.wait(10)
    with pytest.raises(SimulationError, match="another thread"):
        sim.step()
    go.set()
    thread.join()
    scheduled.cancel()
    sim.step()
    assert (sim.data.steps, said) == (2, [])
