"""``tabi validate playback``: what is asked of a walk, and what is said of it."""

import pytest

from tabi import ModelError
from tabi.analysis import pattern_playback
from tabi.lab.walking.playback import PatternPlayback

ROW = {
    "walk": "a robot",
    "fallen": False,
    "slip_mm": 0.25,
    "correlation": [0.99, 0.98],
    "offset_mm": [0.1, -0.2],
    "rms_mm": [5.0, 6.0],
    "reference": "its file",
}


@pytest.fixture
def study(tmp_path):
    return PatternPlayback(folder=tmp_path)


def test_a_table_is_printed(study):
    found = study.result([ROW])
    assert found["within"]
    told = study.text(found)
    assert "a robot" in told
    assert "all of it" in told


@pytest.mark.parametrize(
    "worse",
    [
        {"fallen": True},
        {"slip_mm": 1.5},
        {"correlation": [0.99, 0.9]},
        {"offset_mm": [0.1, -12.0]},
        {"rms_mm": [5.0, 25.0]},
    ],
)
def test_each_thing_that_is_asked_for_can_be_missed(study, worse):
    found = study.result([ROW, ROW | worse])
    assert not found["within"]
    assert [one["met"] for one in found["criteria"]].count(False) == 1
    assert "MISSED" in study.text(found)


def test_an_interrupt_before_the_first_walk_is_told(study):
    found = study.result([], interrupted=True)
    assert not found["within"]
    assert "interrupted" in study.text(found)


def test_a_folder_without_walks_is_one_sentence(study):
    with pytest.raises(ModelError, match="has no walking pattern that is known"):
        study.run()


def test_an_interrupt_within_a_walk_keeps_what_is_done(study, monkeypatch):
    file = study.folder / pattern_playback.WALKS[0].motion
    file.parent.mkdir(parents=True)
    file.write_text("", encoding="utf-8")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pattern_playback, "stage", interrupted)
    found = study.run()
    assert found["interrupted"]
    assert not found["within"]
    assert found["walks"] == []
