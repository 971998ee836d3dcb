"""The one home of a simulation's numbers: copies are whole, memory grows,
parts keep what is theirs.
"""

import threading

import numpy as np
import pytest

import tabi
from tabi import scenes
from tabi.jit.structure import each
from tabi.step.laws import coulomb
from tabi.step.status import OK
from tabi.step.step import step_on
from tabi.step.stepper import Stepper, larger


def stepper_of(count=1):
    world = tabi.World()
    world.add_ground(friction=0.5)
    for k in range(count):
        world.add_box((0.1, 0.1, 0.1), 1.0, position=(0.3 * k, 0, 0.05), name=f"box{k}")
    return Stepper(world.compile(), step_on(coulomb))


def test_a_saved_moment_is_a_copy_and_all_that_is_needed():
    s = stepper_of()
    s.rollout(1e-3, 1e-8, 20)
    saved = s.save()
    assert not any(np.shares_memory(a, b) for a, b in ((saved.q, s.data.q), (saved.v, s.data.v)))
    s.rollout(1e-3, 1e-8, 20)
    first = each(s.data, np.copy)
    s.restore(saved)
    s.rollout(1e-3, 1e-8, 20)
    # state, memory and outcome, to the last bit
    assert s.data.q.tobytes() == first.q.tobytes()
    assert s.data.memory.contact.tobytes() == first.memory.contact.tobytes()
    assert s.data.outcome.report.tobytes() == first.outcome.report.tobytes()
    # and what was saved can be gone back to once more
    s.restore(saved)
    assert s.data.v.tobytes() == saved.v.tobytes()


def test_memory_grows_where_a_step_asks_for_it_and_nothing_is_lost():
    s = stepper_of(count=30)
    done, status = s.rollout(1e-3, 1e-8, 1)
    assert (done, status) == (0, OK)
    while done == 0:
        done, status = s.rollout(1e-3, 1e-8, 1)
    assert s.data.memory.count[0] == 120 <= len(s.data.memory.contact)
    s.rollout(1e-3, 1e-8, 5)
    before = s.data.memory.contact[:120].copy()
    s.grow(500, 500)
    assert s.data.memory.contact[:120].tobytes() == before.tobytes()
    assert s.rollout(1e-3, 1e-8, 1) == (1, OK)
    # a warm start needs one Newton step at most
    assert s.data.outcome.report[0]["iterations"] <= 1


def test_a_step_that_asks_for_memory_has_not_moved():
    s = stepper_of(count=30)
    before = s.data.q.copy()
    assert s.rollout(1e-3, 1e-8, 5)[0] == 0
    assert np.array_equal(s.data.q, before)


def test_what_a_part_remembers_is_found_by_its_name():
    sim = scenes.load("linkage").simulator()
    bonds = sim._stepper.part_memory("bonds")
    assert len(bonds) > 0
    assert len(sim._stepper.part_memory("motors")) == 0
    with pytest.raises(ValueError, match="not in list"):
        sim._stepper.part_memory("strings")


def test_the_worst_of_a_run_keeps_a_nan():
    assert larger(1.0, 2.0) == larger(2.0, 1.0) == 2.0
    assert np.isnan([larger(np.nan, 1.0), larger(1.0, np.nan)]).all()
    s = stepper_of()
    s.rollout(1e-3, 1e-8, 1)
    s.last_errors = [1, (np.nan, 0.0, 0.0)]
    assert s.update_worst()
    s.last_errors = [0, (1e-9, 0.0, 0.0)]
    assert not s.update_worst()
    assert np.isnan(s.worst["residual"])
    assert s.missed_count == 1


@pytest.mark.slow
def test_a_simulator_that_steps_in_another_thread_says_so():
    s, errors, ready = stepper_of(), [], threading.Barrier(2)
    s.rollout(1e-3, 1e-8, 1)

    def step():
        ready.wait()
        # each as long as some turns of the interpreter between threads
        for _ in range(50):
            try:
                s.rollout(1e-3, 1e-8, 5000)
            except tabi.TabiError as error:
                errors.append(str(error))
                return

    threads = [threading.Thread(target=step) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # one of the two, and the other one goes on
    (said,) = errors
    assert "in another thread" in said
    assert s.rollout(1e-3, 1e-8, 1) == (1, OK)


def test_simulators_in_two_threads_do_what_each_does_alone():
    alone, together = stepper_of(3), [stepper_of(3) for _ in range(2)]
    alone.rollout(1e-3, 1e-8, 2000)
    threads = [threading.Thread(target=s.rollout, args=(1e-3, 1e-8, 2000)) for s in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {s.data.q.tobytes() for s in together} == {alone.data.q.tobytes()}


def test_a_step_that_is_not_done_is_in_no_count_and_leaves_what_was_before_the_last_one():
    s = stepper_of(count=30)
    s.grow(400, 400)
    assert s.rollout(1e-3, 1e-8, 1) == (1, OK)
    before = s.data.outcome.q_before.copy()
    # the next step asks for memory, with a report that says it missed
    s.data.outcome.report["missed"] = 1
    s._points = s._blocks = 1
    s.workspace = s._allocate()
    s.prepare()
    assert s.rollout(1e-3, 1e-8, 5)[0] == 0
    assert not s.update_worst()
    assert s.missed_count == 0
    assert np.array_equal(s.data.outcome.q_before, before)
