"""What may be asked of any controller: to begin anew, to be saved and restored, what is in it."""

from collections import deque

import numpy as np
import pytest

from tabi import Command, ModelError
from tabi.model.controllers import controller
from tabi.model.controllers.controller import Controller, Rewindable, with_method


class Counter(Controller):
    """Counts its calls, in every kind of attribute that is copied."""

    MEMORY = ("count", "array", "queue", "pair")

    def __init__(self, *inner):
        self._inner = inner
        self.reset()

    @property
    def inner(self):
        return self._inner

    def reset(self):
        super().reset()
        self.count, self.array, self.queue = 0, np.zeros(2), deque()
        self.pair = (0.0, np.zeros(1))

    def __call__(self, time, measurement):
        self.count += 1
        self.array += 1.0
        self.queue.append(self.count)
        self.pair[1][0] += 1.0
        for one in self.inner:
            one(time, measurement)
        return Command()

    def seen(self):
        return self.count, self.array.tolist(), list(self.queue), self.pair[1][0]


def plain(time, measurement):
    return Command()


def test_a_saved_state_is_restored_in_all_that_it_calls_and_as_often_as_wanted():
    inner = Counter()
    outer = Counter(inner, plain)
    outer(0.0, None)
    state = outer.save_state()
    for _ in range(2):
        outer(0.1, None)
        outer(0.2, None)
        assert outer.seen() == inner.seen() == (3, [3.0, 3.0], [1, 2, 3], 3.0)
        outer.restore_state(state)
        assert outer.seen() == inner.seen() == (1, [1.0, 1.0], [1], 1.0)
    outer.reset()
    assert outer.seen() == inner.seen() == (0, [0.0, 0.0], [], 0.0)


def test_a_function_remembers_nothing_and_is_not_asked_for_it():
    controller.reset(plain)
    assert controller.save_state(plain) is None
    controller.restore_state(plain, None)
    assert controller.pilot(plain) is None
    assert controller.reproducible(plain)
    assert list(controller.nested(plain)) == [plain]


def test_any_class_with_the_methods_is_asked_for_them():
    class Own:
        told = 0

        def reset(self):
            self.told = -1

        def save_state(self):
            return self.told

        def restore_state(self, state):
            self.told = state

    own = Own()
    around = Counter(own)
    own.told = 7
    state = around.save_state()
    around.reset()
    assert own.told == -1
    around.restore_state(state)
    assert own.told == 7


def test_all_that_is_called_is_found_once_and_the_outermost_first():
    shared = Counter()
    left, right = Counter(shared), Counter(shared)
    outer = Counter(left, right)
    assert list(controller.nested(outer)) == [outer, left, right, shared]
    assert list(controller.nested(None)) == []


def test_a_method_is_looked_for_in_what_is_called_too():
    class Steers(Counter):
        def steer(self):
            return "steered"

    steers = Steers()
    assert with_method(steers, "steer") is steers
    assert with_method(Counter(plain, Counter(steers)), "steer") is steers
    assert with_method(Counter(plain), "steer") is None
    assert with_method(None, "steer") is None


def test_a_run_is_reproducible_if_all_that_is_called_is():
    inner = Counter()
    outer = Counter(plain, inner)
    assert controller.reproducible(outer)
    inner.reproducible = False
    assert not controller.reproducible(outer)


def test_what_calls_nothing_and_remembers_nothing_is_the_default():
    assert Rewindable().inner == ()
    assert Rewindable().save_state() == ({}, [])
    assert Controller().pilot() is None


def test_what_is_no_function_is_refused():
    assert controller.checked(plain, "part 1") is plain
    with pytest.raises(ModelError, match="part 1 is 3; expected a controller"):
        controller.checked(3, "part 1")
