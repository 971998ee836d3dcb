"""Commands of ``tabi.lab``: all are there, and none of it is imported before one is asked for."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from tabi.apps import cli, lab_commands


@pytest.mark.parametrize("name", lab_commands.LAB)
def test_a_command_of_the_lab_is_found_by_its_name(name):
    assert lab_commands.load(name).name == name
    shown = CliRunner().invoke(cli.app, [name, "--help"])
    assert shown.exit_code == 0
    assert f"{name} [OPTIONS]" in shown.output


def test_help_lists_commands_of_both_packages():
    shown = CliRunner().invoke(cli.app, ["--help"]).output
    assert all(f"\n  {name} " in shown for name in (*lab_commands.LAB, "run", "identify"))


@pytest.mark.process
def test_the_lab_is_not_imported_before_one_of_its_commands_is_asked_for():
    code = (
        "import sys; from tabi.apps import cli; print([m for m in sys.modules if 'tabi.lab' in m])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
