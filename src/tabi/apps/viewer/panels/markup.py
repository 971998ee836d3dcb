"""Words from files and errors in the page's Markdown."""

import re

WORDS = 1000  # letters of a sentence


def literal(words: str) -> str:
    """Words from elsewhere as the page shows them letter by letter, without markup,
    pictures or links, and not without end.
    """
    return re.sub(r"([][\\`*_{}()#+!|<>~&]|/(?=/))", r"\\\1", words[:WORDS])


def unbroken(words: str) -> str:
    """Words that stay on one line: a number such as 7.8e-11 N would break at its sign."""
    return words.replace("-", "\u2011").replace(" ", "\u00a0")
