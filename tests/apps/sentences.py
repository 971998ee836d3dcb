"""What tests of commands need: the sentence that a mistake ends in."""

import sys

import pytest
from typer.testing import CliRunner

from tabi import TabiError
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


def invoked(*words: object):
    """What a command does, in this process."""
    return CliRunner().invoke(cli.app, [*map(str, words)])


def refusal(*words: object) -> str:
    """The one sentence that a command is refused with; ``cli.main`` makes exit code 2 of it."""
    done = invoked(*words)
    assert isinstance(done.exception, TabiError), done.output
    assert "\n" not in str(done.exception)
    return str(done.exception)
