"""Process of a controller's program: started, and ended without leaving a zombie."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence

from tabi._errors import ModelError
from tabi.control.processes.addresses import VARIABLE

# timeout for a program to end by itself, and again after each signal [s]
END_TIMEOUT_S = 1.0


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


def describe_end(process: subprocess.Popen[bytes], wait: float = 0.0) -> str:
    """Return the end of a process in words, empty while it runs."""
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
    """Wait for a process to end; terminate it after a timeout, at last kill it."""
    for ask in (lambda: None, process.terminate, process.kill):
        if process.poll() is None:
            ask()
        try:
            process.wait(END_TIMEOUT_S)
            return
        except subprocess.TimeoutExpired:
            continue
    process.wait()
