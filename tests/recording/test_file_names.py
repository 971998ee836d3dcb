"""Names of recordings: what is no HDF5 file is refused, with how to get it."""

from pathlib import Path

import pytest

from tabi.recording.file_names import EXPORTS, checked
from tabi.recording.problems import RecordingError


@pytest.mark.parametrize("name", ["run.h5", "run.hdf5", "RUN.HDF5", "a.b/run.1.h5"])
def test_names_of_hdf5_files_are_taken(name):
    assert checked(name) == checked(Path(name)) == Path(name)


@pytest.mark.parametrize("ending", EXPORTS)
def test_a_name_of_another_format_is_refused_with_the_command_that_writes_it(ending):
    with pytest.raises(RecordingError) as refused:
        checked(f"out/run{ending}")
    words = str(refused.value)
    assert f"tabi export out/run.h5 --to out/run{ending}" in words
    assert "ends in .h5 or .hdf5" in words


@pytest.mark.parametrize("name", ["run", "run.npz", "run.h5.bak", "robot.urdf", "", None, 3, ["a"]])
def test_any_other_name_is_refused_in_a_sentence(name):
    with pytest.raises(RecordingError, match=r"expected a file name that ends in \.h5") as refused:
        checked(name)
    assert "\n" not in str(refused.value)
    assert "tabi export" not in str(refused.value)
