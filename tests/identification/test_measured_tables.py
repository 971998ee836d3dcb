"""Tables of measures (``tabi.identification.measured_tables``)."""

import pytest

from tabi.identification import measured_tables
from tabi.identification.damped_oscillation import IdentificationError


def test_columns_are_found_by_name_in_any_order(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("note, force_n ,time_s\nx,2.5,0\n\ny,-1e3,1\n", encoding="utf-8")
    found = measured_tables.read(path, ("time_s", "force_n"), ("mass_kg",))
    assert list(found) == ["time_s", "force_n"]
    assert found["force_n"].tolist() == [2.5, -1000.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "no column force_n; its columns are a, b; name them in the first line"),
        ("", "its columns are none"),
        ("force_n\n1,5\n2x\n", "line 3: force_n is '2x'; expected a number with a point"),
        ("x,force_n\n1\n", "line 2: force_n is 'nothing'"),
        ("force_n\nnan\n", "line 2: force_n is nan; expected a finite number"),
        ("force_n,force_n\n1,2\n", "column force_n is there twice"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, text, words):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(IdentificationError, match=words):
        measured_tables.read(path, ("force_n",))


def test_a_file_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(IdentificationError, match="cannot be read: No such file"):
        measured_tables.header(tmp_path / "no.csv")
