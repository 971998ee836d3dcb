"""A study: what lacks a part is refused, the one loop keeps what is done, and the verdict follows
from the criteria alone.
"""

import importlib
import json
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from tabi import ModelError
from tabi.apps import cli
from tabi.lab.commands.studies import app_of, show_study
from tabi.lab.criterion import Criterion
from tabi.lab.registry import registered, studies, studies_of
from tabi.lab.study import Benchmark, BenchPart, Validator, plain, progress, reported

PARTS = {
    "__doc__": "Count.",
    "criteria": (Criterion("odd", "no number is odd", at_most=0),),
    "cases": lambda self: range(3),
    "measure": lambda self, case: case,
    "figures": lambda self, rows: {"numbers": list(rows), "odd": sum(x % 2 for x in rows)},
    "lines": lambda self, result: iter([f"{len(result['numbers'])} numbers"]),
}


class Counting(Validator, name="counting"):
    """Count numbers: is one of them odd?

    That is not the help.
    """

    count: Annotated[int, typer.Option(min=1, help="How many.")] = 2
    step: Annotated[int, typer.Option(help="From one to the next.")] = 2
    stop_at: int = 100
    jobs: int = 1

    unit = "numbers"
    criteria = PARTS["criteria"]

    def cases(self):
        return [self.step * k for k in range(self.count)]

    def measure(self, case):
        if case == self.stop_at:
            raise KeyboardInterrupt
        return case

    figures = PARTS["figures"]
    lines = PARTS["lines"]


class Timing(Benchmark, name="timing"):
    """Time nothing."""

    stops: bool = False

    def parts(self):
        yield BenchPart("first", "the first", lambda: 1)
        yield BenchPart("second", "the second", self.second)

    def second(self):
        if self.stops:
            raise KeyboardInterrupt
        return 2

    def lines(self, result):
        yield f"first {result['first']}"
        yield f"second {result['second']}"


# ---- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["criteria", "cases", "measure", "figures", "lines"])
def test_a_validator_that_lacks_a_part_is_refused(part):
    given = {name: one for name, one in PARTS.items() if name != part}
    with pytest.raises(ModelError, match=f"^study Odd in .* has no {part}; expected"):
        type("Odd", (Validator,), given, name="odd")


@pytest.mark.parametrize("part", ["parts", "lines"])
def test_a_benchmark_that_lacks_a_part_is_refused(part):
    given = {"__doc__": "Time.", "parts": lambda self: iter(()), "lines": PARTS["lines"]}
    del given[part]
    with pytest.raises(ModelError, match=f"^study Quick in .* has no {part}; expected"):
        type("Quick", (Benchmark,), given, name="quick")


def test_a_study_without_a_summary_is_refused():
    with pytest.raises(ModelError, match="has no summary; expected a docstring"):
        type("Odd", (Validator,), PARTS | {"__doc__": " "}, name="odd")


def test_a_setting_with_the_name_of_a_method_is_refused():
    given = PARTS | {"__annotations__": {"store": bool}, "store": True}
    with pytest.raises(ModelError, match="has a setting 'store', which is a method"):
        type("Odd", (Validator,), given, name="odd")


HEAD = 'class Odd(Validator, name="odd"):\n    """Is it odd,\n    or even?\n\n    More.\n    """\n'


def test_a_file_tells_its_study_and_one_without_name_or_summary_is_refused():
    (found,) = studies_of("tabi.lab.odd", f"import x\n\n\n{HEAD}\n    x = 1\n")
    assert (found.group, found.name, found.summary) == ("validate", "odd", "Is it odd, or even?")
    assert (found.module, found.kind) == ("tabi.lab.odd", "Odd")
    assert studies_of("x", "class Odd(Validators):\n    '''No study.'''\n") == []
    for source, words in (
        ('class Odd(Benchmark, name="odd"):\n    x = 1\n', "study Odd in x has no summary"),
        ('class Odd(Benchmark):\n    """Odd."""\n', "study Odd in x has no name; expected class"),
    ):
        with pytest.raises(ModelError, match=words):
            studies_of("x", source)


def test_two_of_one_name_under_a_command_are_refused_and_under_two_are_not():
    one, other = (studies_of(module, HEAD)[0] for module in ("a", "b"))
    with pytest.raises(ModelError, match="tabi validate 'odd' is in a and in b; give one"):
        registered([one, other], "validate")
    assert registered([one, other._replace(group="bench")], "validate") == {"odd": one}


@pytest.mark.parametrize("group", ["validate", "bench"])
def test_all_studies_are_found_and_are_what_their_files_say(group):
    found = studies(group)
    assert len(found) > 10
    for name, one in found.items():
        study = one.load()
        assert (study.group, study.name) == (group, name)


# ---- the one loop -------------------------------------------------------------------------------


def test_cases_are_counted_judged_and_told_with_settings_and_machine():
    told = []
    with reported(lambda *words: told.append(words)):
        found = Counting(count=3).run()
    assert told == [("numbers", done, 3) for done in range(4)]
    assert found["numbers"] == [0, 2, 4]
    assert found["settings"] == {"count": 3, "step": 2, "stop_at": 100, "jobs": 1}
    assert found["within"] is True
    assert found["criteria"] == [
        {"words": "no number is odd", "value": 0.0, "at_least": None, "at_most": 0.0, "met": True}
    ]
    assert found["hardware"]["cores"] >= 1
    assert Counting().text(found) == "3 numbers"
    assert json.loads(json.dumps(found)) == found


def test_a_criterion_that_is_not_met_is_told_with_its_limit():
    found = Counting(step=1).run()
    assert found["within"] is False
    told = "2 numbers\nNOT within: no number is odd: 1, expected at most 0"
    assert Counting().text(found) == told


def test_an_interrupt_keeps_what_is_done_and_is_never_within():
    found = Counting(count=5, stop_at=4).run()
    assert (found["numbers"], found["interrupted"], found["within"]) == ([0, 2], True, False)
    assert Counting().text(found).endswith("interrupted: these are the numbers done before")


def test_what_cases_share_is_closed_at_once():
    closed = []

    class Sharing(Validator, name="sharing"):
        """Share something."""

        criteria = PARTS["criteria"]

        def cases(self):
            try:
                yield from range(5)
            finally:
                closed.append(True)

        def measure(self, case):
            if case == 2:
                raise KeyboardInterrupt
            return 2 * case

        figures = PARTS["figures"]
        lines = PARTS["lines"]

    found = Sharing().run()
    assert (closed, found["numbers"]) == ([True], [0, 2])


@pytest.mark.process
@pytest.mark.slow
def test_other_processes_find_the_same_in_the_same_order():
    from tabi.lab.walking.rough_walks import RoughWalks

    one, two = (
        RoughWalks(walks=2, steps=2, kinds=("blind",), jobs=jobs).run()["walks"] for jobs in (1, 2)
    )
    assert one == two


def test_parts_of_a_benchmark_are_told_and_an_interrupt_keeps_those_before():
    told = []
    with reported(lambda what, *_: told.append(what)):
        found = Timing().run()
    assert told == ["the first", "the second"]
    assert Timing().text(found) == "first 1\nsecond 2"
    assert "within" not in found
    found = Timing(stops=True).run()
    assert Timing().text(found) == "first 1\ninterrupted: these are the parts done before"


def test_progress_is_told_to_nobody_by_itself():
    assert progress("anything", 1, 2) is None


# ---- criteria -----------------------------------------------------------------------------------


def test_a_criterion_finds_numbers_in_parts_and_counts_lists():
    numbers = {"total": {"missed": 3}, "broken": ["a", "b"]}
    assert Criterion("total.missed", "few").value(numbers) == 3.0
    assert Criterion("broken", "none").value(numbers) == 2.0
    assert not Criterion("total.lost", "few", at_most=9).met(numbers)
    worst = Criterion.of(lambda found: max(found["rows"]), "worst", at_most=1.0)
    assert worst.met({"rows": [0.5]})
    assert worst.off({"rows": [2.0]}) == "worst is 2, at most 1 expected"
    # of a run that was interrupted
    assert not worst.met({"rows": []})
    assert not worst.met({})


# ---- the command --------------------------------------------------------------------------------


def test_fields_with_a_note_are_options():
    app = app_of(Counting)
    made = typer.main.get_command(app)
    assert [one.opts[0] for one in made.params] == ["--count", "--step", "--json"]
    assert made.help == "Count numbers: is one of them odd?"
    done = CliRunner().invoke(app, ["--count", "3", "--step", "1", "--json"])
    assert done.exit_code == 1
    assert json.loads(done.stdout)["numbers"] == [0, 1, 2]
    done = CliRunner().invoke(app, ["--count", "0"])
    assert done.exit_code == 2
    assert "Invalid value for '--count'" in done.output


def test_an_interrupt_ends_with_130(capsys):
    with pytest.raises(typer.Exit) as left:
        show_study(Counting(count=5, stop_at=4), as_json=False)
    assert left.value.exit_code == 130
    assert "interrupted" in capsys.readouterr().out


def test_settings_are_plain_data(tmp_path):
    assert plain((1, tmp_path, {"a": len}, None)) == [1, str(tmp_path), {"a": "len"}, None]


@pytest.mark.parametrize("group", ["validate", "bench"])
def test_the_help_lists_all_studies(group):
    told = CliRunner().invoke(cli.app, [group, "--help"]).stdout
    assert all(f"  {name} " in told for name in studies(group))


def test_the_old_name_of_constant_settings_works_and_warns():
    study = importlib.import_module("tabi.lab.study")
    with pytest.warns(FutureWarning, match="constant_settings"):
        assert study.told(dt=1e-3) == {"dt": 1e-3}
