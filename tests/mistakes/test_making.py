"""The judge of mistakes sees what is wrong with a sentence."""

import warnings

from mistakes.making import ARM, biped_text, changed, faults, quiet_load, written

import tabi


def says(text, kind=tabi.ModelError):
    def mistake(folder):
        raise kind(text)

    return mistake


def test_a_sentence_with_its_parts_is_right(tmp_path):
    assert faults(says("dt is 1; expected less"), ["dt is 1", "expected less"], tmp_path) == []
    assert (
        faults(lambda folder: warnings.warn("dt", stacklevel=1), [UserWarning, "dt"], tmp_path)
        == []
    )


def test_silence_another_kind_and_missing_parts_are_wrong(tmp_path):
    assert faults(lambda folder: None, ["dt"], tmp_path) == ["ModelError was expected, not None"]
    assert "was expected" in faults(says("dt", ValueError), ["dt"], tmp_path)[0]
    assert faults(says("dt is 1"), ["dt", "m/s"], tmp_path) == ["'m/s' is not in: dt is 1"]
    assert faults(says("dt is 1"), [tabi.ModelError], tmp_path) != []


def test_two_sentences_or_foreign_words_are_wrong(tmp_path):
    for text in ("dt is bad. Take another", "dt\nis bad", "dt <lxml", "dt array([1], dtype=int)"):
        assert faults(says(text), ["dt"], tmp_path) == [f"not a sentence: {text}"]


def test_the_arm_and_the_biped_are_right_as_they_are(tmp_path):
    assert quiet_load(tmp_path, ARM).joint_names == ["shoulder", "elbow"]
    assert sorted(quiet_load(tmp_path, biped_text()).feet) == ["left", "right"]
    assert changed("a b", ("b", "c")) == "a c"
    assert written(tmp_path, b"x", "y").read_bytes() == b"x"
