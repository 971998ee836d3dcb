"""Ctrl-C waits for what must not be cut, and is not lost."""

import signal
import threading

import pytest

from tabi.recording.interrupts import postponed


@pytest.fixture(autouse=True)
def heard():
    """Interrupts are heard, also where whoever started the tests ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_comes_after_what_it_may_not_cut():
    done = []
    with pytest.raises(KeyboardInterrupt), postponed(), postponed():
        signal.raise_signal(signal.SIGINT)
        done.append("to the end")
    assert done == ["to the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_an_interrupt_nothing_is_raised_also_in_another_thread():
    done = []

    def work():
        with postponed():
            done.append("there")

    one = threading.Thread(target=work)
    one.start()
    one.join()
    with postponed():
        done.append("here")
    assert done == ["there", "here"]
