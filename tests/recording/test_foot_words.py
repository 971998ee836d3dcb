"""Words for the states of feet."""

from tabi.recording.foot_words import (
    EDGE,
    FACE,
    NONE,
    NOT_RECORDED,
    SLIDES,
    STATES,
    VERTEX,
    name_of,
)


def test_each_state_has_its_words():
    assert name_of(NONE) == name_of(NONE + SLIDES) == "none"
    assert [name_of(k) for k in (VERTEX, EDGE, FACE)] == [
        "vertex, stick",
        "edge, stick",
        "face, stick",
    ]
    assert name_of(EDGE + SLIDES) == "edge, slide"
    assert name_of(NOT_RECORDED) == "not told"
    assert len(STATES) == 2 * SLIDES
