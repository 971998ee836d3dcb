"""The bar and the figures of an experiment."""

import json

import pytest
import typer

from tabi.apps.showing import progress_bar, show


def test_the_bar_counts_each_thing_by_itself():
    with progress_bar() as report:
        for what in ("hrp2 standing", "hrp2 falling"):
            for done in range(3):
                assert report(what, done, 2) is None


@pytest.mark.parametrize(
    ("result", "passed", "code"),
    [({"n": 1}, True, None), ({"n": 1}, False, 1), ({"n": 1, "interrupted": True}, True, 130)],
)
def test_a_result_is_printed_with_the_machine_and_decides_how_it_ends(capsys, result, passed, code):
    if code is None:
        show(result, str, True, passed)
    else:
        with pytest.raises(typer.Exit) as left:
            show(result, str, True, passed)
        assert left.value.exit_code == code
    told = json.loads(capsys.readouterr().out)
    assert told["n"] == 1
    assert told["hardware"]["cores"] >= 1
