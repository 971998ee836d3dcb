"""What a first run says while kernels are compiled."""

import io
import time

import pytest

from tabi.jit import progress
from tabi.jit.progress import BEFORE_WHOLE, STEP_KERNELS, FirstRun


class Clock:
    now = 100.0

    def perf_counter(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.delenv("TABI_QUIET", raising=False)
    return clock


def test_seconds_left_follow_from_kernels_that_are_ready(clock):
    run = FirstRun()
    with run.expecting(STEP_KERNELS):
        with run:
            assert run.left() is None
            clock.now += 15.0
            for _ in range(STEP_KERNELS // 2):
                run.tick()
            # half of the kernels took 15 s: all take 30, which is BEFORE_WHOLE of the whole
            assert run.left() == pytest.approx(30.0 / BEFORE_WHOLE - 15.0)
        # the next one of several that are compiled apart
        run.__enter__()
        clock.now += 15.0
        for _ in range(STEP_KERNELS):
            run.tick()
        assert run.left() == pytest.approx(30.0 / BEFORE_WHOLE - 30.0)
        run.__exit__()
    assert run.left() is None
    assert run.seconds == 30.0


def test_nothing_is_foretold_of_single_kernels(clock):
    run = FirstRun()
    with run, run:
        clock.now += 10.0
        run.tick()
        assert run.left() is None
    assert run.seconds == 10.0


def test_it_is_said_once_and_the_line_is_cleared(clock, monkeypatch):
    terminal, run = Terminal(), FirstRun()
    monkeypatch.setattr("sys.stderr", terminal)
    run.expected = 10
    for _ in range(2):
        with run:
            clock.now += 5.0
            run.tick()
    said = terminal.getvalue()
    assert said.count("once for this version") == 1
    assert said.endswith("\r\033[K")


def test_the_line_is_kept_up_to_date_while_no_kernel_gets_ready(clock, monkeypatch):
    terminal, run = Terminal(), FirstRun()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "REFRESH_INTERVAL_S", 1e-3)

    def written(line):
        end = time.monotonic() + 10.0
        while line not in terminal.getvalue() and time.monotonic() < end:
            time.sleep(1e-3)
        return line in terminal.getvalue()

    with run.expecting(2), run:
        clock.now += 9.0
        run.tick()
        # one of two took 9 s: both take 18, which is BEFORE_WHOLE of 20
        assert BEFORE_WHOLE == 0.9
        assert written("about 11 s left")
        clock.now += 4.0
        assert written("about 7 s left")
    assert terminal.getvalue().endswith("\r\033[K")


def test_compilation_by_njit_alone_is_reported_as_slower(clock, capsys):
    run = FirstRun()
    run.plain = True
    with run:
        pass
    assert "on every run (two minutes for a simulation, with TABI_JIT=plain)" in (
        capsys.readouterr().err
    )


def test_where_no_folder_keeps_kernels_that_is_said(clock, capsys):
    run = FirstRun()
    run.is_cached = False
    with run:
        pass
    assert "no folder can keep it; see `tabi doctor`" in capsys.readouterr().err


def test_it_is_quiet_on_request(clock, capsys, monkeypatch):
    monkeypatch.setenv("TABI_QUIET", "1")
    with FirstRun():
        pass
    assert capsys.readouterr().err == ""
