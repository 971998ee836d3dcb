"""YAML as a tree with places: what is refused, in which line,
and that nothing takes long or runs.
"""

import time

import pytest

from tabi.scenes import tree
from tabi.scenes.tree import Entries, Items, SceneError, Text, title_of


def test_values_stay_the_texts_they_were_written_as_with_their_lines():
    root = tree.parse("a: 1e-3\nb:\n  - no\n  - '2'\n", "s.yaml")
    assert isinstance(root, Entries)
    a, b = root.values["a"], root.values["b"]
    assert isinstance(a, Text)
    assert (a.value, a.plain, a.place) == ("1e-3", True, ("s.yaml", 1))
    assert isinstance(b, Items)
    assert [(t.value, t.plain, t.place.line) for t in b.values] == [
        ("no", True, 3),
        ("2", False, 4),
    ]
    assert root.keys["b"].line == 2


def test_an_alias_is_a_copy():
    root = tree.parse("a: &x {c: 1}\nb: *x\n", "s.yaml")
    assert root.values["b"].values["c"].value == "1"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "key 'a' occurs twice, first in line 1"),
        ("a: 1\nb: [1, 2\n", 3, "not YAML"),
        ("a: !!python/object/apply:os.system [ls]\n", 1, "no code in them"),
        ("a: &x [*x]\n", 1, "contains itself"),
        ("a: *x\n", 1, "*x is not there"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("", None, "is empty"),
        ("# nothing\n", None, "is empty"),
        ("? [1, 2]\n: 3\n", 1, "no plain word"),
        ("a: " + "[" * 100 + "]" * 100, 1, "deep"),
        ("a: \x07\n", None, "not YAML"),
    ],
)
def test_what_is_no_scene_is_refused_with_its_line(text, line, said):
    with pytest.raises(SceneError, match=r"s.yaml") as fault:
        tree.parse(text, "s.yaml")
    assert said in str(fault.value)
    assert fault.value.line == line


def test_bytes_that_are_no_text_are_refused_with_their_line():
    with pytest.raises(SceneError, match=r"s.yaml, line 2: byte 5 is not UTF-8"):
        tree.parse(b"a: 1\n\xff\xfe", "s.yaml")


def test_a_mark_of_byte_order_is_no_part_of_the_first_key():
    assert list(tree.parse("\ufefftitle: x\n".encode(), "s.yaml").values) == ["title"]


BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{k + 1}: &a{k + 1} [{', '.join([f'*a{k}'] * 9)}]\n" for k in range(12)
)
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{k + 1}: &a{k + 1} [[[*a{k}]]]\n" for k in range(1000))


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        CHAIN,
        "[" * 400_000,
        "{a: " * 100_000,
        "a: " + "- " * 200_000,
        "- x\n" * 100_000,
        "x" * 2_000_000,
        "!" * 400_000,
        "*" + "a" * 400_000,
    ],
)
def test_bombs_are_refused_at_once(text):
    start = time.perf_counter()
    with pytest.raises(SceneError) as fault:
        tree.parse(text, "s.yaml")
    assert len(str(fault.value)) < 300
    # generous, for a busy machine: what is not bounded takes minutes
    assert time.perf_counter() - start < 10.0


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path):
    with pytest.raises(SceneError, match="cannot be read"):
        tree.read(tmp_path)


def test_the_title_of_a_text_is_found_and_of_no_scene_is_empty():
    assert title_of("title: A fall\nground: {}\n") == "A fall"
    for text in ("", "ground: {}", "title: [1]", "{", "- a"):
        assert title_of(text) == ""
