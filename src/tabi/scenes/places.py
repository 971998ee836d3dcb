"""Interfaces with which the parts of a scene are built."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from tabi.model.world import World
from tabi.scenes.reader import Reader


class Places(Protocol):
    """A scene that is being built, and where its file says what."""

    reader: Reader
    world: World
    # of keys.contents.Contents, whose motions are built with this
    contents: Any

    def at(self, *path: str | int) -> AbstractContextManager[None]:
        """An error in here is the file's, at this path."""
        ...
