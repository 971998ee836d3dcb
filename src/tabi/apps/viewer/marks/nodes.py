"""Transfer of a picture to the nodes of a page:
one message for all that changes of a node, nothing for what does not.

The handles' own setters compare and convert one number at a time, and send one message for each
property, which takes milliseconds for a robot. What is sent here is not seen by the handles: a node
keeps what was sent to it.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from viser import SceneNodeHandle
from viser._messages import SceneNodeUpdateMessage, SetOrientationMessage, SetPositionMessage


class Node:
    """A node whose arrays are replaced as a whole.

    Attributes:
        sent: the newest arrays by name.
    """

    def __init__(self, handle: SceneNodeHandle) -> None:
        self.handle = handle
        self.sent: dict[str, NDArray[Any]] = {}

    def send(self, **arrays: NDArray[Any]) -> None:
        """Send new values of properties, in the page's own types;
        they belong to the node from then on.
        """
        new = {
            name: value
            for name, value in arrays.items()
            if name not in self.sent or not np.array_equal(value, self.sent[name])
        }
        if new:
            self.sent |= new
            self.handle._impl.api._queue_scene_message(
                SceneNodeUpdateMessage(self.handle._impl.name, new)
            )


def place(handle: SceneNodeHandle, position: list[float], wxyz: list[float]) -> None:
    """Put a node somewhere [m], with a unit quaternion."""
    post, name = handle._impl.api._queue_scene_message, handle._impl.name
    post(SetPositionMessage(name, cast(Any, tuple(position))))
    post(SetOrientationMessage(name, cast(Any, tuple(wxyz))))
