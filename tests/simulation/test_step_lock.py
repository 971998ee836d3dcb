"""One step at a time: none within another, none beside another in a second thread."""

import threading

import pytest

import tabi
from tabi._errors import SimulationError
from tabi.simulation.step_lock import StepLock


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
    lock, messages = StepLock(), []

    def other():
        try:
            lock.begin()
        except SimulationError as e:
            messages.append(str(e))

    lock.begin()
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert len(messages) == 1
    assert messages[0].startswith("this simulator is already stepping in another thread")
    lock.end()
    lock.begin()


def test_a_run_in_another_thread_while_a_callback_waits_loses_no_step():
    sim, inside, go = falling(), threading.Event(), threading.Event()

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
    assert sim.data.steps == 2


def test_who_looks_makes_the_next_step_wait_and_sees_none_half_done():
    sim, looking, done = falling(), threading.Event(), threading.Event()
    with sim.paused() as paused:
        assert paused
        thread = threading.Thread(target=lambda: (looking.set(), sim.step(), done.set()))
        thread.start()
        assert looking.wait(10)
        # the step has not begun, nor does another one look
        assert not done.wait(0.05)
        assert sim.data.steps == 0
        with sim.paused() as second:
            assert not second
    assert done.wait(10)
    thread.join()
    assert sim.data.steps == 1


def test_nobody_looks_within_a_step_and_a_callback_may_set_the_state():
    sim, seen = falling(), []

    def look(data):
        with sim.paused() as paused:
            seen.append(paused)
        sim.set_state([0, 0, 2.0, 1, 0, 0, 0])
        sim.restore(sim.save())

    sim.every(1, look)
    sim.step()
    assert seen == [False]
    assert sim.position("box")[2] == 2.0
    with sim.paused() as paused:
        assert paused


def test_error_within_a_step_leaves_the_simulator_to_who_looks():
    sim = falling()

    def broken(data):
        raise ValueError("no")

    scheduled = sim.every(1, broken)
    with pytest.raises(ValueError, match="no"):
        sim.step()
    scheduled.cancel()
    with sim.paused() as paused:
        assert paused
    sim.step()


def test_state_is_not_set_while_somebody_looks():
    sim, done = falling(), threading.Event()
    with sim.paused():
        thread = threading.Thread(
            target=lambda: (sim.set_state([0, 0, 5.0, 1, 0, 0, 0]), done.set())
        )
        thread.start()
        assert not done.wait(0.05)
        assert sim.position("box")[2] == 1.0
    assert done.wait(10)
    thread.join()
    assert sim.position("box")[2] == 5.0
