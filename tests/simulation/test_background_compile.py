"""A first start in two processes: the other one compiles just what the step will look for."""

import subprocess
import sys
import time

import pytest

import tabi
from tabi.jit import cache_folder, decorator, units
from tabi.simulation import background_compile
from tabi.step.laws import coulomb
from tabi.step.step import step_on
from tabi.step.stepper import Stepper


def simulator():
    world = tabi.World()
    world.add_ground()
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.05))
    return tabi.Simulator(world)


@pytest.mark.skipif(not decorator.own_compiler(), reason="of tabi's own compiler")
def test_what_is_compiled_ahead_is_what_a_step_is_made_of():
    sim = simulator()
    sim.step()
    assert any(cache_folder.cache_folder().glob(background_compile.step_files()))
    stepper = Stepper(sim.model, step_on(coulomb), ready=False)
    jobs = background_compile.jobs(stepper)
    assert {kernel for kernel, _ in jobs} >= set(step_on(coulomb).units)
    for kernel, args in jobs:
        types = tuple(map(kernel.typeof_pyval, args))
        # the step has them for exactly these types, behind their slots
        behind = kernel.apart is not None and units.slot(kernel, types).cell.value
        assert behind or types in kernel.overloads, kernel.py_func


def test_nothing_is_begun_where_the_step_is_in_the_cache(monkeypatch):
    simulator().step()

    def begun(*args, **named):
        raise AssertionError("a second process")

    monkeypatch.setattr(background_compile.subprocess, "Popen", begun)
    background_compile.start.cache_clear()
    assert background_compile.start() is None


@pytest.mark.skipif(not decorator.own_compiler(), reason="of tabi's own compiler")
def test_a_second_process_begins_where_it_is_not(monkeypatch, tmp_path):
    commands, waited = [], []

    class Process:
        def __init__(self, command, **named):
            commands.append(command)

        def terminate(self):
            """Nothing runs."""

        def wait(self, timeout=None):
            waited.append(timeout)

    monkeypatch.setattr(background_compile.subprocess, "Popen", Process)
    monkeypatch.setattr(
        background_compile.os, "sched_getaffinity", lambda pid: {0, 1}, raising=False
    )
    monkeypatch.setattr(background_compile.cache_folder, "cache_folder", lambda: tmp_path)
    background_compile.start.cache_clear()
    background_compile.start()
    background_compile.start()
    assert [command[-1] for command in commands] == ["tabi.simulation.background_compile"]
    # so that it is no zombie when it has ended
    end = time.monotonic() + 10.0
    while not waited and time.monotonic() < end:
        time.sleep(1e-3)
    assert waited == [None]
    monkeypatch.setattr(background_compile.os, "sched_getaffinity", lambda pid: {0}, raising=False)
    background_compile.start.cache_clear()
    background_compile.start()
    assert len(commands) == 1


@pytest.mark.process
def test_a_second_process_that_does_not_end_is_killed(monkeypatch):
    monkeypatch.setattr(background_compile, "END_WITHIN_S", 0.2)
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    helper = subprocess.Popen(
        [sys.executable, "-c", code + "print(flush=True)\ntime.sleep(60)"], stdout=subprocess.PIPE
    )
    helper.stdout.readline()
    background_compile.end(helper)
    assert helper.returncode is not None
    helper.stdout.close()
