"""What nodes of a page are told: only what changed, in one message, and in the right place."""

import numpy as np
import pytest

from tabi.apps.viewer.gate import open_server
from tabi.apps.viewer.marks.nodes import Node, place


@pytest.fixture
def told():
    """A server, and the list of what it was told since."""
    server, _ = open_server("127.0.0.1", 0)
    sent = []
    server.scene._queue_scene_message = sent.append
    yield server, sent
    server.stop()


def test_arrays_that_change_are_told_together_and_those_that_do_not_are_not(told):
    server, sent = told
    node = Node(
        server.scene.add_line_segments("/lines", np.zeros((1, 2, 3), np.float32), (0, 0, 0))
    )
    sent.clear()
    node.send(points=np.ones((1, 2, 3), np.float32), colors=np.zeros((1, 2, 3), np.uint8))
    assert [(m.name, sorted(m.updates)) for m in sent] == [("/lines", ["colors", "points"])]
    sent.clear()
    node.send(points=np.ones((1, 2, 3), np.float32), colors=np.full((1, 2, 3), 9, np.uint8))
    assert [sorted(m.updates) for m in sent] == [["colors"]]
    sent.clear()
    # another length is a change too
    node.send(points=np.ones((2, 2, 3), np.float32))
    assert [m.updates["points"].shape for m in sent] == [(2, 2, 3)]
    assert node.sent["points"].shape == (2, 2, 3)


def test_node_is_put_with_its_position_and_its_turn(told):
    server, sent = told
    frame = server.scene.add_frame("/frame")
    sent.clear()
    place(frame, [1.0, 2.0, 3.0], [0.0, 1.0, 0.0, 0.0])
    assert [(m.name, getattr(m, "position", None) or m.wxyz) for m in sent] == [
        ("/frame", (1.0, 2.0, 3.0)),
        ("/frame", (0.0, 1.0, 0.0, 0.0)),
    ]
