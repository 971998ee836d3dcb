"""A controller's program is ended in any case, and how it ended is told."""

import sys
import time

import pytest

import tabi
from tabi.control.processes import program

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"


@pytest.mark.process
def test_the_address_is_in_the_environment():
    process = program.start(
        [sys.executable, "-c", "import os; exit(os.environ['TABI_ADDRESS'] != '/a b')"], "/a b"
    )
    assert process.wait(20) == 0
    assert program.describe_end(process) == "ended with exit code 0"


@pytest.mark.process
@pytest.mark.parametrize("code", ["import time; time.sleep(60)", STUBBORN])
def test_a_program_that_does_not_end_is_ended(code, monkeypatch):
    monkeypatch.setattr(program, "END_TIMEOUT_S", 0.2)
    process = program.start([sys.executable, "-c", code], "")
    assert program.describe_end(process) == ""
    time.sleep(0.2)
    program.end(process)
    assert process.returncode < 0
    assert program.describe_end(process).startswith("was ended by SIG")


@pytest.mark.process
def test_what_is_no_program_is_refused(tmp_path):
    (tmp_path / "notes").write_text("a")
    for path, why in (("./nowhere", "No such file"), (str(tmp_path / "notes"), "Permission")):
        with pytest.raises(tabi.ModelError, match=f"cannot be started: {why}.*expected the path"):
            program.start([path], "")
