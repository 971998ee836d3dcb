"""What commands do with their terminal: words at once, a bar that moves on,
and a Ctrl-C that ends them politely.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

Move = Callable[..., None]


def tell(text: object) -> None:
    """Print at once: an output that nobody reads (… | head) is then found by typer,
    which ends without a word.
    """
    print(text, flush=True)


_said: set[str] = set()


def warn_once(texts: Iterable[str]) -> None:
    """Print sentences on the error stream, each one only the first time that it comes."""
    for text in texts:
        if text not in _said:
            _said.add(text)
            print(f"tabi: warning: {text}", file=sys.stderr, flush=True)


def show_warnings(take: Callable[[list[str]], None] = warn_once) -> None:
    """From now on warnings of tabi are sentences, without lines of source; those of others stay.

    Args:
        take: who gets them.
    """
    others = warnings.showwarning

    def show(message: Any, category: Any, *where: Any, **more: Any) -> None:
        if category.__module__.partition(".")[0] == "tabi":
            take([str(message)])
        else:
            others(message, category, *where, **more)

    warnings.showwarning = show


@contextmanager
def bar(
    what: str,
    total: float,
    count: str = "{task.completed:.0f} of {task.total:.0f}",
    show: bool = True,
) -> Iterator[Move]:
    """A bar on a terminal's error stream, nothing in a log;
    yields what moves it on: so much is done, a note, other words for what is done.

    Args:
        count: how much is done, in rich's words. show: nothing without, on a terminal too.
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
    """Ctrl-C, and a polite kill, fill a list that is looked at between steps;
    a second one ends at once.

    An exception in the middle of things may be swallowed:
    Python ignores those that are raised while it tidies up.

    Args:
        say: what the first one is answered with, on the error stream.
    """
    asked: list[int] = []

    def handler(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        # not print, which may be in the middle of something
        os.write(2, say.encode(getattr(sys.stderr, "encoding", None) or "utf-8", "replace"))

    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    # Windows has Ctrl-Break too, which is also what one process sends to another
    names = ("SIGINT", "SIGTERM", "SIGBREAK")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield asked
    finally:
        for number, old in before.items():
            signal.signal(number, old)
