"""Commands on balance: what they are asked, and how they end."""

import json
import sys

import pytest
from typer.testing import CliRunner

from tabi.apps import cli
from tabi.lab.walking import pushes, rough_walks
from tabi.lab.walking import slippery_patch as slippery


@pytest.mark.parametrize("within", [True, False])
@pytest.mark.parametrize(
    ("name", "module", "arguments"),
    [
        ("pushes", pushes, ["--quick"]),
        ("rough-walks", rough_walks, ["--walks", "3", "--jobs", "2"]),
        ("slippery", slippery, []),
    ],
)
def test_experiments_end_as_they_went(monkeypatch, name, module, arguments, within):
    asked = []

    def pretend(*args, **options):
        asked.append(args)
        return {"within": within}

    monkeypatch.setattr(module, "validate", pretend)
    done = CliRunner().invoke(cli.app, ["validate", name, *arguments, "--json"])
    assert done.exit_code == (0 if within else 1)
    assert json.loads(done.stdout)["within"] is within
    first = asked[0][0]
    assert "hrp2" in (first, getattr(first, "name", ""))
    if name == "rough-walks":
        assert asked[0][1:] == (3, 10, 2)
    if name == "pushes":
        assert asked[0][1] is True


@pytest.mark.parametrize("name", ["pushes", "slippery"])
def test_a_robot_that_is_not_there_is_one_sentence(monkeypatch, capsys, name):
    monkeypatch.setattr(sys, "argv", ["tabi", "validate", name, "--robot", "nobody"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    said = capsys.readouterr()
    assert left.value.code == 2
    assert "robot 'nobody' is neither" in said.err
