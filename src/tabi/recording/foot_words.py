"""States of a foot, as numbers and in words: at what it touches, and whether it sticks or slides.

Simulator, recordings and all that shows them read this one list.
"""

NONE, VERTEX, EDGE, FACE = 0, 1, 2, 3
# added to a state where it slides
SLIDES = 4
# of recordings that do not know it
NOT_RECORDED = -1
CONTACTS, MOTIONS = ("none", "vertex", "edge", "face"), ("stick", "slide")
# a state is a place in this list
STATES = tuple(
    contact if contact == CONTACTS[NONE] else f"{contact}, {motion}"
    for motion in MOTIONS
    for contact in CONTACTS
)


# the word in tables exported so far
UNKNOWN = "not\x20told"


def name_of(state: int) -> str:
    """Return a state in words, as "face, slide"."""
    return STATES[state] if state >= 0 else UNKNOWN
