"""How long a step is done the careful way after the plain way has failed: longer each time.

Overlaps that jam and joints that are guessed in circles have a careful way each, which costs more
(``depenetration``, ``rows.joints``). After a failure the next step takes it at once; then the plain
way is tried again, and where it fails again the careful one is taken for 3 steps, for 7, up to 255.
A plain step that goes well ends it.
"""

from tabi.jit import kernel

# columns of a memory: careful steps still to be done, failures of the plain way in a row
LEFT, FAILED = 0, 1
# failures that count at most
MOST = 8


@kernel(inline=True)
def asked(memory):
    """Whether the step is to be done the careful way."""
    return memory[LEFT] > 0


@kernel(inline=True)
def warned(memory):
    """Whether the plain way has failed the last time."""
    return memory[FAILED] > 0


@kernel(inline=True)
def note(memory, failed, succeeded):
    """After a step: it was a careful one, or the plain way failed, or it succeeded."""
    if memory[LEFT] > 0:
        memory[LEFT] -= 1
    elif failed:
        memory[FAILED] = min(memory[FAILED] + 1, MOST)
        memory[LEFT] = (1 << memory[FAILED]) - 1
    elif succeeded:
        memory[FAILED] = 0
