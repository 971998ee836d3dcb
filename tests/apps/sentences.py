"""What tests of commands need: the sentence that a mistake ends in."""

import sys

import pytest

from tabi.apps import cli


def mistake(monkeypatch, capsys, *arguments: object) -> str:
    """The one sentence that a mistake ends in, by the same door as the command's."""
    monkeypatch.setattr(sys, "argv", ["tabi", *map(str, arguments)])
    with pytest.raises(SystemExit) as left:
        cli.main()
    said = capsys.readouterr()
    assert (left.value.code, said.out) == (2, "")
    assert said.err.startswith("tabi: ")
    assert said.err.count("\n") == 1
    return said.err
