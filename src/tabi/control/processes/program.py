"""A controller's program: started, and ended without leaving a zombie."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence

from tabi._errors import ModelError
from tabi.control.processes.addresses import VARIABLE

# how long a program may take to end by itself, and after it was asked to [s]
PATIENCE = 1.0


def start(command: Sequence[str], address: str) -> subprocess.Popen[bytes]:
    """Start a program, with the address in its environment."""
    words = [command] if isinstance(command, str) else [str(word) for word in command]
    if not words:
        raise ModelError("command is empty; expected a program and its arguments")
    try:
        return subprocess.Popen(
            words, env=os.environ | {VARIABLE: address}, stdin=subprocess.DEVNULL
        )
    except OSError as e:
        raise ModelError(
            f"controller {words[0]!r} cannot be started: {e.strerror}; expected the path of a "
            "program, or a name in PATH, and its arguments as a list"
        ) from None


def how_it_ended(process: subprocess.Popen[bytes], wait: float = 0.0) -> str:
    """The end of a process in words, empty where it still runs."""
    try:
        code = process.wait(wait) if wait else process.poll()
    except subprocess.TimeoutExpired:
        return ""
    if code is None:
        return ""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process to end; ask it to, and at last end it."""
    for ask in (lambda: None, process.terminate, process.kill):
        if process.poll() is None:
            ask()
        try:
            process.wait(PATIENCE)
            return
        except subprocess.TimeoutExpired:
            continue
    process.wait()
