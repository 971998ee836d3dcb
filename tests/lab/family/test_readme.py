"""The page about exported problems."""

from tabi.lab.family.readme import readme, row

RECORD = {
    "file": "fall-0-0001.hdf5",
    "contacts": 9,
    "bodies": 4,
    "friction": [0.2, 0.8],
    "solved": True,
    "iterations": 31,
    "attempt": 2,
    "attempt_name": "newton, soft start",
    "certificate": {"residual": 1.5e-14},
}
INDEX = {
    "tabi": "1.2.3",
    "count": 5,
    "seed": 3,
    "hardest": 1,
    "tolerance": 1e-8,
    "complete": True,
    "problems": [RECORD],
}


def test_a_row_has_every_figure():
    assert row(RECORD) == (
        "| fall-0-0001.hdf5 | 9 | 4 | 0.2 to 0.8 | 1.5e-14 | attempt 2 (newton, soft start), 31 |"
    )
    assert row(RECORD | {"friction": [0.5, 0.5], "solved": False}).endswith(
        "| 0.5 | 1.5e-14 | not solved |"
    )


def test_the_page_says_how_it_was_made_and_whether_it_is_whole():
    page = readme(INDEX)
    assert (
        "1 problems of HRP-2 and other robots, made by `tabi family export` of tabi 1.2.3" in page
    )
    assert "`--count 5 --seed 3 --hardest 1`" in page
    assert row(RECORD) in page
    assert "interrupted" not in page
    cut = readme(INDEX | {"complete": False, "hardest": None})
    assert "interrupted; the same command goes on" in cut
    assert "--hardest" not in cut
