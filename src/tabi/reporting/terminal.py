"""Terminal output of commands: immediate text, a progress bar, and a clean end on Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, cast

Move = Callable[..., None]


def print_now(text: object) -> None:
    """Print at once: a closed output (… | head) is then detected by typer, which ends without a
    message.
    """
    print(text, flush=True)


_printed: set[str] = set()


def warn_once(texts: Iterable[str]) -> None:
    """Print sentences on the error stream, each one only once."""
    for text in texts:
        if text not in _printed:
            _printed.add(text)
            print(f"tabi: warning: {text}", file=sys.stderr, flush=True)


def show_warnings(take: Callable[[list[str]], None] = warn_once) -> None:
    """Show warnings of tabi as sentences from now on, without lines of source; others are
    unchanged.

    Args:
        take: function that receives them.
    """
    default_show = warnings.showwarning

    def show(message: Any, category: Any, *where: Any, **options: Any) -> None:
        if category.__module__.partition(".")[0] == "tabi":
            take([str(message)])
        else:
            default_show(message, category, *where, **options)

    warnings.showwarning = cast(Any, show)


@contextmanager
def bar(
    what: str,
    total: float,
    count: str = "{task.completed:.0f} of {task.total:.0f}",
    show: bool = True,
) -> Iterator[Move]:
    """Show a progress bar on a terminal's error stream, nothing in a log; yield a function that
    updates it: completed amount, a note, another description.

    Args:
        count: format of the progress in rich. show: False: no bar on a terminal, either.
    """
    if not show or not sys.stderr.isatty():
        yield lambda done, note="", what=None: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    texts = (
        TextColumn(text, markup=False)
        for text in ("{task.description}", count, "{task.fields[note]}")
    )
    with Progress(BarColumn(), *texts, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=total, note="")
        yield lambda done, note="", what=None: shown.update(
            task, completed=done, note=note, description=what
        )


@contextmanager
def interrupt(say: str = "") -> Iterator[list[int]]:
    """Collect Ctrl-C and SIGTERM in a list that is checked between steps; a second one ends at
    once.

    An exception instead could be lost: Python ignores those raised during clean-up.

    Args:
        say: answer to the first one, on the error stream.
    """
    signals: list[int] = []

    def handler(number: int, frame: object) -> None:
        if signals:
            raise KeyboardInterrupt
        signals.append(number)
        # not print, which may be interrupted by this
        os.write(2, say.encode(getattr(sys.stderr, "encoding", None) or "utf-8", "replace"))

    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    # Windows has Ctrl-Break too, which is also what one process sends to another
    names = ("SIGINT", "SIGTERM", "SIGBREAK")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield signals
    finally:
        for number, old in before.items():
            signal.signal(number, old)
