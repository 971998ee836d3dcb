"""Budget of a step: limits of its work and time, and Ctrl-C within a hard step.

Work is counted (``contact.budget``), so a run with a limit of work is the same in every rerun. One
with a limit of time is not. Between attempts and within them kernels call Python, which checks the
clock and the keyboard: Ctrl-C aborts a hard step, and the state is the one before it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.contact import budget
from tabi.jit.callback import Callback

# default limit of the work of a step, in looks at contacts: 50 ms with 200 contacts
DEFAULT = 400_000
# work between two checks of the keyboard, some 15 ms, and of the clock, some 30 µs, in looks
KEYBOARD_INTERVAL, CLOCK_INTERVAL = 250_000, 500


@dataclass(frozen=True)
class Budget:
    """Limits of the solver's work and time on the contacts of a step.

    Attributes:
        work: looks at contacts, about 60 ns each (see ``tabi.contact.budget``), in all attempts of
            a step together; with more than 200 contacts it grows with their square. Where joints
            have to be solved with the contacts, and to leave overlaps, up to half as many are spent
            besides, each. None for as many as the attempts take, seconds in hard steps.
        microseconds: time of a step [µs]; None for no limit. With one, a rerun may end elsewhere.

    Examples:
        >>> sim = tabi.Simulator(world, budget=tabi.Budget(microseconds=2000))
    """

    work: int | None = DEFAULT
    microseconds: float | None = None

    def __post_init__(self) -> None:
        work, limit = self.work, self.microseconds
        whole = isinstance(work, int | np.integer) and not isinstance(work, bool)
        if work is not None and not (whole and work > 0):
            raise ModelError(
                f"budget is {work!r}; expected a whole number of looks at contacts ≥ 1, "
                f"{DEFAULT} is usual, or None for no limit"
            )
        number = isinstance(limit, int | float | np.number) and not isinstance(limit, bool)
        if limit is not None and not (number and 0 < limit < np.inf):
            raise ModelError(
                f"budget of time is {limit!r}; expected a positive number of microseconds"
            )


NORMAL = Budget()


def budget_of(value: Any) -> Budget:
    """Return the budget of an argument: a Budget, a limit of work, or None."""
    return value if isinstance(value, Budget) else Budget(work=value)


class BudgetWatch:
    """Watch of the clock and the keyboard while kernels run.

    Attributes:
        timed: whether there is a limit of time.
        raised: exception of Ctrl-C, or None.
    """

    def __init__(self, allowed: Budget) -> None:
        self.timed = allowed.microseconds is not None
        self.raised: BaseException | None = None
        self._limit = 1e3 * (allowed.microseconds or np.inf)
        self._end = np.inf
        self._most = budget.NO_LIMIT if allowed.work is None else int(allowed.work)
        answers = self._answers()
        next(answers)
        # no function of Python, as an interrupt would be raised before its first line
        self._callback = Callback(answers.__next__)

    def limits(self) -> NDArray[np.int64]:
        """Return the limits of a step, ``contact.budget.limits``."""
        every = CLOCK_INTERVAL if self.timed else KEYBOARD_INTERVAL
        return budget.limits(self._most, every, self._callback.address)

    def begin(self) -> None:
        """Start the clock of a step."""
        self._end = time.perf_counter_ns() + self._limit

    def is_over(self) -> bool:
        """Whether the time of the step is spent, where it has a limit."""
        return self.timed and time.perf_counter_ns() > self._end

    def interrupted(self) -> BaseException:
        """Return the exception to raise for an aborted step."""
        error, self.raised = self.raised or KeyboardInterrupt(), None
        return error

    def _answers(self) -> Iterator[int]:
        answer = budget.GO_ON
        while True:
            try:
                # interrupts are raised where a generator goes on, which is in here
                while True:
                    yield answer
                    answer = budget.END if time.perf_counter_ns() > self._end else budget.GO_ON
            except GeneratorExit:
                raise
            except BaseException as error:
                self.raised, answer = error, budget.DROP
