"""Recordings that a script leaves open: closed by their own process, however it ends."""

import os
import subprocess
import sys

import pytest

import tabi
from tabi.recording.problems import RecordingError
from tabi.recording.writer import RecordingWriter

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

# a process for each script, which goes on at the top level as a script does
STAGE = """
import multiprocessing, os, sys, threading
import tabi
world = tabi.World()
world.add_ground()
world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, position=(0.0, 0.0, 0.15))
other = tabi.Simulator(world)
sim = tabi.Simulator(world)
sim.step(); sim.reset()
folder = sys.argv[1]
for name in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        path = f"{folder}/{name}.h5"
        break
    os.waitpid(child, 0)
else:
    sys.exit()
exec(open(f"{folder}/{name}.py").read())
"""

SCRIPTS = {
    "end": "sim.record(path); sim.run(0.123)",
    "exit": "sim.record(path); sim.run(0.123); sys.exit(3)",
    "with_exit": "with sim.record(path):\n    sim.run(0.123)\n    sys.exit(3)",
    "exception": "sim.record(path); sim.run(0.123)\nraise ValueError('a plan\\nwith a hole')",
    "with_exception": "with sim.record(path):\n    sim.run(0.123)\n    raise ValueError('a hole')",
    "interrupt": "sim.record(path); sim.run(0.123)\nraise KeyboardInterrupt",
    "in_a_step": (
        "sim.every(1, lambda data: 1 / 0 if data.steps == 123 else None)\n"
        "sim.record(path); sim.run(1.0)"
    ),
    "caught": (
        "again = sim.every(1, lambda data: 1 / 0 if data.steps == 100 else None)\n"
        "recording = sim.record(path)\ntry: sim.run(1.0)\nexcept ZeroDivisionError: pass\n"
        "again.cancel(); sim.run(0.023); recording.close()"
    ),
    "function": (
        "def main(own):\n    own.record(path); own.run(0.123)\n"
        "main(tabi.Simulator(world))\nimport gc; gc.collect()"
    ),
    "elsewhere": "sim.record(path); os.chdir('/'); sim.run(0.123)",
    "two": "sim.record(path); other.record(f'{folder}/second.h5'); sim.run(0.123); other.run(0.05)",
    "thread": (
        "sim.record(path); one = threading.Thread(target=sim.run, args=(0.123,))\n"
        "one.start(); one.join()"
    ),
    "fork": (
        "sim.record(path); sim.run(0.1); child = os.fork()\n"
        "if child == 0:\n    sim.run(1.5); sys.exit()\n"
        "os.waitpid(child, 0); sim.run(0.023)"
    ),
    "fork_goes_on": (
        "recording = sim.record(path); sim.run(0.123); there, here = os.pipe(); child = os.fork()\n"
        "if child == 0:\n    os.read(there, 1); sim.run(1.5); sys.exit()\n"
        "recording.close(); os.write(here, b'.'); os.waitpid(child, 0)"
    ),
    "pool": (
        "def work(where):\n    other.record(where); other.run(0.05)\n"
        "    raise ValueError('inside')\n"
        "sim.record(path); sim.run(0.1)\n"
        "task = (f'{folder}/worker.h5',)\n"
        "one = multiprocessing.get_context('fork').Process(target=work, args=task)\n"
        "one.start(); one.join(); sim.run(0.023)"
    ),
    "nothing": "sim.record(path)",
    "killed": "sim.record(path); sim.run(1.5); os.kill(os.getpid(), 9)",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Recordings by the names of the scripts that wrote them."""
    folder = tmp_path_factory.mktemp("scripts")
    for name, script in SCRIPTS.items():
        (folder / f"{name}.py").write_text(script)
    command = [sys.executable, "-c", STAGE, str(folder), *SCRIPTS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("end", "exit", "the script ended without closing it"),
        ("exit", "exit", "the script ended without closing it"),
        ("with_exit", "closed", "closed normally"),
        ("exception", "exception", "stopped by ValueError: a plan with a hole"),
        ("with_exception", "exception", "stopped by ValueError: a hole"),
        ("interrupt", "exception", "interrupted (Ctrl-C)"),
        ("in_a_step", "exception", "stopped by ZeroDivisionError: division by zero"),
        ("caught", "closed", "closed normally"),
        ("function", "exit", "the script ended without closing it"),
        ("elsewhere", "exit", "the script ended without closing it"),
        ("two", "exit", "the script ended without closing it"),
        ("thread", "exit", "the script ended without closing it"),
        ("fork", "exit", "the script ended without closing it"),
        ("fork_goes_on", "closed", "closed normally"),
        ("pool", "exit", "the script ended without closing it"),
    ],
)
def test_a_script_that_ends_leaves_every_step_and_how_it_ended(folder, name, kind, words):
    run = tabi.Recording(folder / f"{name}.h5")
    assert len(run.time) == 124
    assert run.time[-1] == pytest.approx(0.123)
    assert (run.closed, run.ended, run.episodes[-1].kind) == (True, words, kind)


@pytest.mark.process
def test_every_recording_of_a_script_is_closed(folder):
    run = tabi.Recording(folder / "second.h5")
    assert (len(run.time), run.episodes[0].kind) == (51, "exit")


@pytest.mark.process
def test_a_process_of_a_pool_closes_its_own_recordings(folder):
    run = tabi.Recording(folder / "worker.h5")
    assert (len(run.time), run.ended) == (51, "stopped by ValueError: inside")


@pytest.mark.process
def test_a_recording_in_which_nothing_was_simulated_has_its_first_row_and_no_step(folder):
    run = tabi.Recording(folder / "nothing.h5")
    assert (len(run.time), run.episodes[0].steps) == (1, 0)


@pytest.mark.process
def test_a_killed_process_leaves_all_but_its_last_second_and_does_not_claim_more(folder):
    run = tabi.Recording(folder / "killed.h5")
    assert run.time[-1] == pytest.approx(1.0)
    assert (run.closed, run.episodes[0].kind) == (False, "")
    assert "up to its last second may be missing" in run.ended


def test_two_recordings_into_one_file_are_refused_by_whose_they_are(tmp_path):
    world = tabi.World()
    world.add_box((0.1, 0.1, 0.1), 1.0)
    one, two = tabi.Simulator(world), tabi.Simulator(world)
    (tmp_path / "link").symlink_to(tmp_path)
    with one.record(tmp_path / "run.h5") as writer:
        assert isinstance(writer, RecordingWriter)
        with pytest.raises(RecordingError, match=r"run.h5: this simulator is being recorded"):
            one.record(tmp_path / "link" / "run.h5")
        with pytest.raises(RecordingError, match=r"run.h5: another simulator is being recorded"):
            two.record(tmp_path / "run.h5")
        one.run(0.01)
    assert len(tabi.Recording(tmp_path / "run.h5").time) == 11
    # closed, it can be replaced
    with two.record(tmp_path / "run.h5"):
        two.run(0.02)
    assert len(tabi.Recording(tmp_path / "run.h5").time) == 21


@pytest.mark.process
def test_a_file_that_another_process_records_into_is_refused(tmp_path):
    world = tabi.World()
    world.add_box((0.1, 0.1, 0.1), 1.0)
    sim = tabi.Simulator(world)
    code = (
        "import sys, tabi\nworld = tabi.World()\nworld.add_box((0.1, 0.1, 0.1), 1.0)\n"
        "try: tabi.Simulator(world).record(sys.argv[1])\n"
        "except tabi.TabiError as error: print(error)"
    )
    with sim.record(tmp_path / "run.h5"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "run.h5")], capture_output=True, text=True
        )
        sim.run(0.01)
    assert "run.h5: another process records into it" in done.stdout, done.stderr
    assert len(tabi.Recording(tmp_path / "run.h5").time) == 11
