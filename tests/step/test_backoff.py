"""The robust method is taken for longer each time the fast one fails again."""

import numpy as np

from tabi.step import backoff


def steps(outcomes):
    """How each step is done, robust or fast, where fast ones fail or not by turns."""
    memory, done, outcomes = np.zeros(2, np.int64), [], iter(outcomes)
    while True:
        robust = bool(backoff.is_active(memory))
        done.append("r" if robust else "f")
        failed = False
        if not robust:
            try:
                failed = next(outcomes)
            except StopIteration:
                return "".join(done), memory
        backoff.update(memory, failed or robust, not failed and not robust)


def test_one_failure_costs_one_robust_step_and_each_more_about_twice_as_many():
    done, _ = steps([True, True, True, False])
    assert done == "f" + "r" + "f" + "rrr" + "f" + "rrrrrrr" + "f" + "f"


def test_a_fast_step_that_goes_well_ends_it():
    done, memory = steps([True, True, False, True, False])
    assert done == "f" + "r" + "f" + "rrr" + "f" + "f" + "r" + "f" + "f"
    assert not backoff.has_failed(memory)


def test_the_robust_stretch_is_bounded():
    done, memory = steps([True] * 12)
    assert max(len(stretch) for stretch in done.split("f")) == 255
    assert backoff.has_failed(memory)
