"""Files that cannot be written are refused before any work is done."""

import pytest

from tabi import TabiError
from tabi.reporting import outputs
from tabi.reporting.outputs import check_figure, check_writable


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.gif", "'.gif' is not known; expected .png"),
        ("a", "without suffix"),
        ("none/a.png", "there is no folder"),
        ("folder.png", "it is a folder"),
    ],
)
def test_a_figure_that_cannot_be_written_is_refused(tmp_path, name, words):
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(TabiError, match=words):
        check_figure(tmp_path / name)


def test_a_figure_that_nothing_can_draw_is_refused_with_what_to_install(tmp_path, monkeypatch):
    check_figure(tmp_path / "a.png")
    known = outputs.importlib.util.find_spec
    monkeypatch.setattr(
        outputs.importlib.util,
        "find_spec",
        lambda name: None if name == "matplotlib" else known(name),
    )
    with pytest.raises(TabiError, match=r"pip install 'tabi\[plot\]'"):
        check_figure(tmp_path / "a.png")


def test_a_file_that_can_be_written_is_left_as_it_is(tmp_path):
    (tmp_path / "old.txt").write_text("kept")
    check_writable(tmp_path / "old.txt")
    check_writable(tmp_path / "new.txt")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old.txt", "kept")]
