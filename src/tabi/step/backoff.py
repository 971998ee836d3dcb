"""Backoff after the fast method of a step has failed: the robust one is used longer each time.

Overlaps that jam and joints that are guessed in circles have a robust method each, which costs more
(``depenetration``, ``rows.joints``). After a failure the next step uses it at once; then the fast
method is tried again, and where it fails again the robust one is used for 3 steps, for 7, up to
255. A fast step that succeeds ends the backoff.
"""

from tabi.jit import kernel

# columns of a memory: robust steps still to be done, consecutive failures of the fast method
STEPS_LEFT, FAILURES = 0, 1
# failures that count at most
MAX_FAILURES = 8


@kernel(inline=True)
def is_active(memory):
    """Whether the step is to use the robust method."""
    return memory[STEPS_LEFT] > 0


@kernel(inline=True)
def has_failed(memory):
    """Whether the fast method failed when it was used last."""
    return memory[FAILURES] > 0


@kernel(inline=True)
def update(memory, failed, succeeded):
    """Update the backoff after a step.

    Args:
        failed: whether the step was a robust one, or the fast method failed. succeeded: whether the
            fast method succeeded.
    """
    if memory[STEPS_LEFT] > 0:
        memory[STEPS_LEFT] -= 1
    elif failed:
        memory[FAILURES] = min(memory[FAILURES] + 1, MAX_FAILURES)
        memory[STEPS_LEFT] = (1 << memory[FAILURES]) - 1
    elif succeeded:
        memory[FAILURES] = 0
