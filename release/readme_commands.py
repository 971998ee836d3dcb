"""Run what the README shows, word for word, in an empty folder: its Python and its commands.

    python release/readme_commands.py            with the tabi of this environment
    python release/readme_commands.py .../python with the one of another

A command that serves the browser is interrupted as soon as it prints its address. One whose comment
names an optional package may end with the sentence that says what to install.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
SERVES = ("replay", "demo", "show")
MAX_COMMAND_TIME_S, MAX_END_TIME_S = 300.0, 10.0


def blocks(language: str) -> list[str]:
    """Return the code blocks of the README in a language."""
    text = README.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands() -> Iterator[tuple[str, str]]:
    """Yield each command of the README, and its comment."""
    for line in "".join(blocks("sh")).splitlines():
        command, _, comment = line.partition("#")
        if command.strip():
            yield command.strip(), comment.strip()


def run_all(python: Path, env: dict[str, str] | None = None) -> None:
    """Run all with the tabi of an interpreter; RuntimeError with the output of what fails."""
    with tempfile.TemporaryDirectory() as work:
        for script in blocks("python"):
            _run([str(python), "-c", script], Path(work), env)
        for command, comment in commands():
            name, *words = command.split()
            if name != "tabi":
                raise RuntimeError(f"{command!r} of the README is no command of tabi")
            full = [str(python), "-m", "tabi", *words]
            if words[0] in SERVES:
                _serve([*full, "--no-browser"], Path(work), env)
            else:
                _run(full, Path(work), env, optional="pip install" in comment)


def _run(
    words: list[str], folder: Path, env: dict[str, str] | None, optional: bool = False
) -> None:
    done = subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=MAX_COMMAND_TIME_S
    )
    if done.returncode and not (optional and "pip install" in done.stdout + done.stderr):
        raise RuntimeError(f"{' '.join(words)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def _serve(words: list[str], folder: Path, env: dict[str, str] | None) -> None:
    """Start a server, wait for its address, and interrupt it."""
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    unbuffered = (os.environ if env is None else env) | {"PYTHONUNBUFFERED": "1"}
    server = subprocess.Popen(words, cwd=folder, env=unbuffered, text=True, **output)
    end = threading.Timer(MAX_COMMAND_TIME_S, server.kill)
    end.start()
    printed = []
    for line in server.stdout or ():
        printed.append(line)
        if "http://" in line:
            server.send_signal(signal.SIGINT)
            break
    try:
        server.wait(MAX_END_TIME_S)
    except subprocess.TimeoutExpired:
        # where interrupts are ignored, as in jobs of a shell that go on in the background
        server.kill()
    end.cancel()
    if not any("http://" in line for line in printed):
        raise RuntimeError(f"{' '.join(words)} printed no address:\n{''.join(printed)[-2000:]}")


if __name__ == "__main__":
    run_all(Path(sys.argv[1] if len(sys.argv) > 1 else sys.executable))
    print(f"{len(list(commands()))} commands and {len(blocks('python'))} script of the README ran")
