"""States of feet in a page: the right part lights up in the right colour, and only news is sent."""

import numpy as np
import pytest

from tabi.apps.viewer.marks.foot_marks import SLIDES, STICKS, FootMarks
from tabi.recording.foot_words import NOT_RECORDED, STATES
from tabi.reporting.soles import Soles

SOLE = np.array([(-0.1, -0.05), (0.14, -0.05), (0.14, 0.05), (-0.1, 0.05)])


@pytest.fixture
def marks(server):
    return FootMarks(server, [SOLE])


def moment(name, lit, x=0.0):
    state = STATES.index(name) if name in STATES else NOT_RECORDED
    place, turn = np.array([[x, 0.0, 0.1]]), np.eye(3)[None]
    return Soles(place, turn, np.array([state]), np.array([0.01]), [np.array(lit).reshape(-1, 2)])


def test_a_face_is_filled_an_edge_is_a_bar_and_a_vertex_a_ball(marks):
    foot = marks.feet[0]
    for name, lit, seen in (
        ("face, stick", SOLE, (True, True, False)),
        ("edge, stick", SOLE[1:3], (False, True, False)),
        ("vertex, stick", SOLE[2:3], (False, False, True)),
        ("none", [], (False, False, False)),
    ):
        marks.draw(moment(name, lit), True)
        assert (foot.fill.visible, foot.side.visible, foot.ball.visible) == seen
        assert marks.labels == [name]
    marks.draw(moment("vertex, stick", SOLE[2:3]), True)
    assert np.allclose(foot.ball.position[:2], SOLE[2])
    marks.draw(moment("edge, stick", SOLE[1:3]), True)
    (segment,) = foot._side.sent["points"]
    assert np.allclose(segment[:, :2], SOLE[1:3])
    marks.draw(moment("face, stick", SOLE), True)
    assert foot._side.sent["points"].shape == (4, 2, 3)
    # it looks out from under the sole by the same way on all sides
    reach = np.abs(foot._fill.sent["vertices"][:, :2] - SOLE)
    assert np.allclose(reach, 0.015, atol=1e-6)


def test_sliding_has_another_colour(marks):
    foot = marks.feet[0]
    marks.draw(moment("face, stick", SOLE), True)
    assert tuple(foot.fill.color) == STICKS
    marks.draw(moment("face, slide", SOLE), True)
    assert tuple(foot.fill.color) == tuple(foot.ball.color) == SLIDES
    assert tuple(foot._side.sent["colors"]) == SLIDES


def test_only_what_changes_is_sent(marks, monkeypatch):
    foot, sent = marks.feet[0], []
    marks.draw(moment("face, stick", SOLE), True)
    api = foot.frame._impl.api
    monkeypatch.setattr(api, "_queue_scene_message", lambda message, *_: sent.append(message))
    monkeypatch.setattr(
        api._websock_interface, "queue_message", lambda message, *_: sent.append(message)
    )
    marks.draw(moment("face, stick", SOLE + 1e-6), True)
    assert sent == []
    # a foot that moves: its place and its turn
    marks.draw(moment("face, stick", SOLE, x=0.01), True)
    assert len(sent) == 2


def test_feet_that_are_hidden_or_not_told_are_not_drawn(marks):
    marks.draw(moment("face, stick", SOLE), False)
    assert marks.labels == [""]
    marks.draw(moment("not told", []), True)
    assert marks.labels == [""]
    marks.draw(moment("none", []), True)
    assert marks.labels == ["none"]


def test_a_foot_with_a_soft_sole_is_not_filled_so_that_its_pressure_is_seen(server):
    marks = FootMarks(server, [SOLE], [False])
    marks.draw(moment("face, stick", SOLE), True)
    foot = marks.feet[0]
    assert not foot.fill.visible
    assert foot.side.visible
