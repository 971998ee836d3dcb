"""Requirements of a check on the operating system, with a message where they are not met."""

from __future__ import annotations

import os
import platform
import signal

from tabi._errors import ModelError


def check_signals(command: str) -> None:
    """Refuse a check that forks, stops and kills processes where there are no such signals."""
    if not hasattr(os, "fork") or not hasattr(signal, "SIGSTOP"):
        raise ModelError(
            f"{command} forks processes and stops them with signals, which {platform.system()} "
            "does not have; expected Linux or macOS"
        )
