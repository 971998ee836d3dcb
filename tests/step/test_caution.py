"""The careful way is taken for longer each time the plain one fails again."""

import numpy as np

from tabi.step import caution


def steps(outcomes):
    """How each step is done, careful or plain, where plain ones fail or not by turns."""
    memory, done, outcomes = np.zeros(2, np.int64), [], iter(outcomes)
    while True:
        careful = bool(caution.asked(memory))
        done.append("c" if careful else "p")
        failed = False
        if not careful:
            try:
                failed = next(outcomes)
            except StopIteration:
                return "".join(done), memory
        caution.note(memory, failed or careful, not failed and not careful)


def test_one_failure_costs_one_careful_step_and_each_more_about_twice_as_many():
    done, _ = steps([True, True, True, False])
    assert done == "p" + "c" + "p" + "ccc" + "p" + "ccccccc" + "p" + "p"


def test_a_plain_step_that_goes_well_ends_it():
    done, memory = steps([True, True, False, True, False])
    assert done == "p" + "c" + "p" + "ccc" + "p" + "p" + "c" + "p" + "p"
    assert not caution.warned(memory)


def test_the_careful_stretch_is_bounded():
    done, memory = steps([True] * 12)
    assert max(len(stretch) for stretch in done.split("p")) == 255
    assert caution.warned(memory)
