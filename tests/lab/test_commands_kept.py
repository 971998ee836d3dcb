"""Every command of ``tabi validate`` and ``tabi bench`` has its options, the keys of its JSON and
the words of its refusals, as they were once recorded in ``commands.json``.

What is added on purpose is recorded by ``python tests/lab/test_commands_kept.py ROBOT.urdf``; what
is gone is a fault.
"""

import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

RECORDED = Path(__file__).with_name("commands.json")
GROUPS = ("validate", "bench")
# small enough for a test
RUNS = (
    "validate worlds --worlds 1 --steps 20",
    "validate soles --drops 1",
    "validate loops --chains 3",
    "validate overlaps --starts 6",
    "validate trees --trees 2 --steps 10",
    "validate family --problems 12",
    "validate selection --problems 5 --large 1",
    "validate impacts --impacts 20",
    "validate external --kills 2",
    "validate recordings --moments 4",
    "validate robots {robot} --seconds 0.2",
    "validate walks {robot} --steps 1",
    "bench cart --blocks 3",
    "bench external --blocks 3",
    "bench contacts --blocks 3 --balls 2 --seconds 0.01",
    "bench sensors --blocks 3",
    "bench step --blocks 3",
    "bench robots {robot} --blocks 3 --seconds 0.01",
    "bench loop --blocks 3",
    "bench solver --count 1 --no-siconos",
)
REFUSED = (
    "validate nothing",
    "validate worlds --worlds 0",
    "validate humanoids --foot left=a",
    "validate humanoids --poses many",
    "validate humanoids --robot nobody",
    "validate family --problems 11",
    "validate robots",
    "validate robots nowhere.urdf --seconds 0",
    "validate tosses nowhere.npz --budget 12",
    "validate tosses nowhere.npz --budget 9",
    "validate playback /nowhere",
    "validate pushes --robot nobody",
    "validate slippery --robot nobody",
    "validate rough-walks --jobs 0",
    "validate papers --referee bullet",
    "validate papers --only X99",
    "bench nothing",
    "bench cart --blocks 2",
    "bench loop nobody",
    "bench fclib",
    "bench fclib nowhere.npz --no-siconos",
    "bench delassus --figure curve.bmp",
    "bench solver --figure curve.bmp",
    "bench walk --steps 1",
    "bench view --seconds 0",
)


def invoke(words, **places):
    """A command in this process."""
    from tabi.apps import cli

    return CliRunner().invoke(cli.app, words.format(**places).split())


def commands():
    """All of them, by their words."""
    from tabi.apps.lab_commands import load

    found = {}
    for group in GROUPS:
        loaded = load(group)
        for name in loaded.list_commands(None):
            found[f"{group} {name}"] = loaded.get_command(None, name)
    return found


def options(command):
    """Names of options and arguments, with what they are without."""
    found = {}
    for one in command.params:
        if one.name != "help":
            names = "/".join([*one.opts, *one.secondary_opts])
            found[names] = [str(one.default), one.required, bool(one.multiple or one.nargs != 1)]
    return found


def keys(value, path=""):
    """Paths to all numbers and words of a JSON document; items of a list are one."""
    if isinstance(value, dict):
        return set().union(
            {path + "{}"} if not value else (),
            *(
                keys(inner, f"{path}.{re.sub(r'[0-9.]+', '0', name)}")
                for name, inner in value.items()
            ),
        )
    if isinstance(value, list):
        return set().union({path + "[]"}, *(keys(inner, path + "[]") for inner in value))
    return {path}


def refusal(words):
    """What a command says where it is asked in vain, without the frame around it."""
    done = invoke(words)
    said = done.output if isinstance(done.exception, SystemExit) else str(done.exception)
    return [done.exit_code, " ".join(said.split())]


def record(robot):
    """All of it."""
    return {
        "options": {words: options(command) for words, command in commands().items()},
        "summaries": {words: command.help for words, command in commands().items()},
        "keys": {words: sorted(keys(page_of(words, robot))) for words in RUNS},
        "refused": {words: refusal(words) for words in REFUSED},
    }


def page_of(words, robot):
    """The JSON of a small run."""
    done = invoke(words + " --json", robot=robot)
    assert done.exit_code in (0, 1), done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def recorded():
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def test_every_command_has_its_options(recorded):
    found = {words: options(command) for words, command in commands().items()}
    assert found.keys() >= recorded["options"].keys()
    assert {words: found[words] for words in recorded["options"]} == recorded["options"]


def test_every_command_says_what_it_is_for(recorded):
    found = {words: " ".join(command.help.split()) for words, command in commands().items()}
    assert {words: found[words] for words in recorded["summaries"]} == {
        words: " ".join(told.split()) for words, told in recorded["summaries"].items()
    }


@pytest.mark.process
@pytest.mark.parametrize("words", REFUSED)
def test_refusals_are_the_same(recorded, words):
    assert refusal(words) == recorded["refused"][words]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("words", RUNS)
def test_no_key_of_a_document_is_gone(recorded, words, example_robots):
    robot = example_robots / "g1_description" / "urdf" / "g1_29dof_rev_1_0.urdf"
    assert set(recorded["keys"][words]) - keys(page_of(words, robot)) == set()


if __name__ == "__main__":
    page = record(sys.argv[1])
    RECORDED.write_text(json.dumps(page, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
