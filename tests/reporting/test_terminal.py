"""A bar on a terminal and nothing in a log; an interrupt that waits to be looked at."""

import io
import os
import signal
import sys
import warnings

import pytest

import tabi
from tabi.reporting import terminal


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "show", "seen"),
    [(Screen, True, True), (Screen, False, False), (io.StringIO, True, False)],
)
def test_a_bar_is_for_terminals_only(monkeypatch, stream, show, seen):
    monkeypatch.setattr(sys, "stderr", told := stream())
    monkeypatch.setenv("TERM", "xterm")
    with terminal.bar("cooking [rice]", 3, show=show) as move:
        move(1, "a note", "boiling")
    # words in brackets are no orders to rich
    assert ("1 of 3" in told.getvalue()) == seen
    assert ("boiling" in told.getvalue()) == seen


def test_an_interrupt_waits_for_a_look_and_a_second_one_does_not():
    before = signal.getsignal(signal.SIGINT)
    with terminal.interrupt() as asked:
        os.kill(os.getpid(), signal.SIGINT)
        assert asked == [signal.SIGINT]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is before


def test_the_first_interrupt_is_answered(capfd):
    with terminal.interrupt("ending\n") as asked:
        os.kill(os.getpid(), signal.SIGINT)
    assert asked == [signal.SIGINT]
    assert capfd.readouterr().err == "ending\n"


def test_a_warning_is_a_sentence_that_is_printed_once_and_others_stay(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "_printed", set())
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *where, **more: print("other", message)
        terminal.show_warnings()
        for _ in range(2):
            warnings.warn("dt is long", tabi.LongStepWarning, stacklevel=1)
        warnings.warn("numpy's", RuntimeWarning, stacklevel=1)
    said = capsys.readouterr()
    assert said.err == "tabi: warning: dt is long\n"
    assert said.out == "other numpy's\n"
