"""The bench of controllers in other processes: that all are asked, whatever the clock says."""

import json
import sys

import pytest
from typer.testing import CliRunner

from tabi.apps import cli
from tabi.lab.bench import external
from tabi.lab.validate import bare_controller


@pytest.mark.process
def test_figures_are_whole_and_printed():
    program = [sys.executable, bare_controller.__file__]
    found = external.ExternalBench(program=program, blocks=3).run()
    assert json.loads(json.dumps(found)) == found
    assert len(found["microseconds"]) == 3
    for us in found["microseconds"].values():
        assert 0 < us["least"] <= us["median"] <= us["95%"]
    # hrp2: 32 bytes of header, then five numbers a joint
    assert (found["bytes"]["command"] - 32) % (5 * 8) == 0
    assert external.ExternalBench().text(found).count("× socket") == 3


@pytest.mark.process
def test_the_echo_answers_with_as_many_bytes():
    with external.Echo(100, 37) as echo:
        assert len(echo()) == 37


@pytest.mark.process
def test_the_command_prints_json():
    done = CliRunner().invoke(cli.app, ["bench", "external", "--json", "--blocks", "3"])
    assert done.exit_code == 0
    assert set(json.loads(done.stdout)["microseconds"]) == {"bare socket", "tabi.control.serve"}
