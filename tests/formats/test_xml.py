"""XML from strangers: entities stay off, and nothing outside the file is read."""

import pytest

from tabi import ModelError
from tabi.formats.xml import parse


def written(tmp_path, text):
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    return path


def test_an_entity_does_not_read_other_files(tmp_path):
    (tmp_path / "secret.txt").write_text("classified")
    text = (
        f'<!DOCTYPE r [<!ENTITY x SYSTEM "file://{tmp_path}/secret.txt">]>\n<robot name="a">'
        f'<link name="b">&x;</link></robot>'
    )
    from lxml import etree

    assert b"classified" not in etree.tostring(parse(written(tmp_path, text)))


def test_nested_entities_do_not_grow(tmp_path):
    bombs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "lol"}">' for i in range(12))
    text = f"<!DOCTYPE r [{bombs}]><robot><link>&l11;</link></robot>"
    try:
        size = len("".join(parse(written(tmp_path, text)).itertext()))
    except ModelError as error:
        size = len(str(error))
    assert size < 1000


@pytest.mark.parametrize(
    "text",
    [
        "<robot>\n<link>\n</robot>",
        "<robot>\n\n<link name=></link></robot>",
        "robot",
        "<robot>\x00</robot>",
    ],
)
def test_broken_xml_is_one_sentence_with_its_line(tmp_path, text):
    with pytest.raises(
        ModelError, match=r"robot\.urdf, line \d+: file is not well-formed XML: .*; fix it there$"
    ):
        parse(written(tmp_path, text))
