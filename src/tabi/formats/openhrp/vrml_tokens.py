"""VRML text → tokens with their line numbers; commas and comments are white space."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

_NUMBER = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)", re.ASCII
)
_WORD = r"[^\s,\"\#\[\]{}]"
# a run of words that begin like numbers is one token: face sets have thousands. No possessive
# quantifiers: Python 3.11.2 gets them wrong
_TOKEN = re.compile(
    r"(?P<blank>[\s,]+|\#[^\n]*)|(?P<mark>[\[\]{}])"
    rf"|(?P<number>[-+]?\.?\d{_WORD}*(?:[\s,]+[-+]?\.?\d{_WORD}*)*)"
    rf"|(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<open>\")|(?P<word>{_WORD}+)",
    re.DOTALL | re.ASCII,
)
_NO_NAME = re.compile(r"[-+]|\.?\d|nan\b|inf(?:inity)?\b", re.IGNORECASE | re.ASCII)
Token = tuple[str, Any, int]


def tokens(text: str) -> Iterator[Token]:
    """Marks, runs of numbers, strings and words with their lines; ("end", "", line) at the end."""
    line, at = 1, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None
        assert match.lastgroup is not None
        kind, token_text = match.lastgroup, match.group()
        if kind == "mark":
            yield token_text, token_text, line
        elif kind == "number":
            yield from _numbers(token_text, line)
        elif kind == "string":
            yield kind, re.sub(r"\\(.)", r"\1", token_text[1:-1], flags=re.DOTALL), line
        elif kind == "open":
            yield kind, token_text, line
        elif kind == "word":
            yield "bad" if _NO_NAME.match(token_text) else "word", token_text, line
        line += token_text.count("\n")
        at = match.end()
    yield "end", "", line


def _numbers(run: str, line: int) -> Iterator[Token]:
    """The numbers of a run in one token, up to a word that only begins like one."""
    values: list[float] = []
    position = 0
    for match in re.finditer(r"[^\s,]+", run):
        word = match.group()
        if _NUMBER.fullmatch(word):
            values.append(_value(word))
            continue
        if values:
            yield "number", values, line
        line, position, values = line + run.count("\n", position, match.start()), match.start(), []
        yield "bad", word, line
    if values:
        yield "number", values, line


def _value(word: str) -> float:
    try:
        return float(int(word, 16)) if "x" in word.lower() else float(word)
    except OverflowError:
        return math.inf
