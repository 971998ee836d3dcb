"""A recording that is read from its file: ``tabi.Recording("run.h5")``."""

from __future__ import annotations

from pathlib import Path

from tabi.recording.problems import RecordingError
from tabi.recording.recorded import FORMAT, STATUS, Recorded, read

__all__ = ["FORMAT", "STATUS", "Recorded", "Recording", "RecordingError", "read"]


class Recording(Recorded):
    """One episode of a recording, read from its file; ``Simulator.record`` writes one.

    Args:
        path: the file.
        episode: which one, counted from 0; −1 is the last one, the default.

    Examples:
        >>> with sim.record("run.h5"):
        ...     sim.run(0.01)
        >>> recording = tabi.Recording("run.h5")
    """

    def __init__(self, path: str | Path, episode: int | None = None) -> None:
        # its fields are frozen
        self.__dict__.update(vars(read(path, episode)))

    @staticmethod
    def load(path: str | Path, episode: int | None = None) -> Recorded:
        """The same: ``Recording(path, episode)``."""
        return read(path, episode)
