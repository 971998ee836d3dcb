"""VRML text → nodes: what is kept, and that every fault names its element and its line."""

from pathlib import Path

import pytest

from tabi._errors import ModelError
from tabi.formats.openhrp import vrml
from tabi.formats.openhrp.vrml_node import VrmlNode

FILE = Path("robot.wrl")


def parse(body: str) -> list[VrmlNode]:
    """Nodes of a text whose first line of ``body`` is line 2 of the file."""
    return vrml.parse("#VRML V2.0 utf8\n" + body, FILE)


def refused(body: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        parse(body)
    return caught.value


# ---- what is kept ---------------------------------------------------------------------------


def test_values_of_every_kind_are_read_with_their_lines():
    (node,) = parse(
        'DEF A Thing {\n  mass 1.5 size 1, -2. 3e-1 # three\n  tag "a \\"b\\" \\\\"\n  on TRUE off '
        "FALSE none NULL hex 0xFF list [ 1 2, 3 ]\n}"
    )
    assert (node.kind, node.name, node.line) == ("Thing", "A", 2)
    assert node.number("mass", 0.0) == 1.5
    assert node.numbers("size", 3) == [1.0, -2.0, 0.3]
    assert node.text("tag") == 'a "b" \\'
    assert [node.fields[k].values for k in ("on", "off", "none", "hex", "list")] == [
        [True],
        [False],
        [None],
        [255.0],
        [1.0, 2.0, 3.0],
    ]
    assert [node.fields[k].line for k in ("mass", "tag", "list")] == [3, 4, 5]


def test_a_comment_inside_a_vector_does_not_split_it():
    (node,) = parse("Transform { translation 1 # x\n 2 # y\n 3 }")
    assert node.numbers("translation", 3) == [1.0, 2.0, 3.0]


def test_use_is_the_very_node_that_was_defined():
    a, b = parse("DEF A Group { }\nGroup { children [ USE A, USE A ] }")
    assert b.nodes("children") == [a, a]


def test_one_node_needs_no_brackets_and_null_is_no_node():
    (node,) = parse("Shape { geometry Box { size 1 2 3 } appearance NULL }")
    assert [n.kind for n in node.nodes("geometry")] == ["Box"]
    assert node.nodes("appearance") == []


def test_fields_not_written_have_the_default_of_the_proto():
    proto = (
        "PROTO Joint [ exposedField SFFloat gearRatio 7 eventIn MFNode add field MFNode children "
        "[ ] ] { Group { } }\n"
    )
    plain, geared = parse(proto + "Joint { }\nJoint { gearRatio 2 }")
    assert plain.number("gearRatio", 1.0) == 7.0
    assert geared.number("gearRatio", 1.0) == 2.0
    assert plain.proto is not None
    assert set(plain.proto.fields) == {"gearRatio", "add", "children"}


def test_bodies_of_protos_scripts_and_routes_are_skipped():
    text = """PROTO P [ ] { DEF S Thing { a IS b } ROUTE S.x TO S.y }
EXTERNPROTO Q [ field SFFloat mass ] "other.wrl"
Script { url "x" field SFBool on TRUE eventIn SFTime go }
P { } Q { }
ROUTE A.x TO B.y
Group { ROUTE A.x TO B.y children [ ROUTE A.x TO B.y ] }"""
    assert [n.kind for n in parse(text)] == ["Script", "P", "Q", "Group"]


def test_windows_and_old_mac_line_ends_count_as_lines():
    for end in ("\r\n", "\r"):
        with pytest.raises(ModelError) as caught:
            vrml.parse(end.join(["#VRML V2.0 utf8", "Group {", "mass nan", "}"]), FILE)
        assert caught.value.line == 3


def test_nesting_twenty_thousand_deep_needs_no_recursion():
    depth = 20_000
    (node,) = parse("Group { children [ " * depth + "Box { }" + " ] }" * depth)
    for _ in range(depth):
        (node,) = node.nodes("children")
    assert node.kind == "Box"


def test_comments_in_other_encodings_do_no_harm(tmp_path):
    path = tmp_path / "a.wrl"
    path.write_bytes("#VRML V2.0 utf8\n# 膝関節\nGroup { }".encode("shift_jis"))
    assert [n.kind for n in vrml.read(path)] == ["Group"]


# ---- Inline ---------------------------------------------------------------------------------


def test_inline_files_are_found_beside_the_file_that_names_them(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "a.wrl").write_text('#VRML V2.0 utf8\nInline { url [ "gone.wrl" "parts/b.wrl" ] }')
    (tmp_path / "parts" / "b.wrl").write_text('#VRML V2.0 utf8\nInline { url "c.wrl" }')
    (tmp_path / "parts" / "c.wrl").write_text("#VRML V2.0 utf8\n\nDEF C Box { }")
    (a,) = vrml.read(tmp_path / "a.wrl")
    (b,) = a.nodes("children")
    (c,) = b.nodes("children")
    assert (c.kind, c.name, c.line, c.file.name) == ("Box", "C", 3, "c.wrl")


@pytest.mark.parametrize("name", ["gone.wrl", "", "http://example.org/a.wrl", "a\0b.wrl"])
def test_an_inline_file_that_is_not_there_is_refused(tmp_path, name):
    (tmp_path / "a.wrl").write_text(
        f'#VRML V2.0 utf8\n\nDEF LEG Group {{ children Inline {{ url "{name}" }} }}'
    )
    with pytest.raises(ModelError, match="Inline in Group 'LEG'") as caught:
        vrml.read(tmp_path / "a.wrl")
    assert caught.value.line == 3


@pytest.mark.parametrize("chain", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_files_that_contain_themselves_are_refused(tmp_path, chain):
    for name, inner in zip(chain, [*chain[1:], chain[0]], strict=True):
        (tmp_path / f"{name}.wrl").write_text(f'#VRML V2.0 utf8\nInline {{ url "{inner}.wrl" }}')
    with pytest.raises(ModelError, match="cannot contain itself") as caught:
        vrml.read(tmp_path / "a.wrl")
    assert (caught.value.file, caught.value.line) == (tmp_path / f"{chain[-1]}.wrl", 2)


def test_inline_files_too_deep_within_each_other_are_refused(tmp_path):
    for i in range(40):
        (tmp_path / f"{i}.wrl").write_text(f'#VRML V2.0 utf8\nInline {{ url "{i + 1}.wrl" }}')
    with pytest.raises(ModelError, match="16 files deep"):
        vrml.read(tmp_path / "0.wrl")


# ---- faults ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "line", "named"),
    [
        ("DEF A Group {\n children [ ]\n", 2, "Group 'A'"),
        ("DEF A Group {\n children [\n DEF B Box { size 1 1 1\n ]\n}", 5, "Box 'B'"),
        ("DEF A Group {\n children [ ]\n}\n}", 5, "'}'"),
        ("DEF A Group {\n children [ DEF B Group {\n", 3, "Group 'B'"),
        ("DEF A Group\n children [ ]\n}", 2, "'Group'"),
    ],
)
def test_a_missing_or_needless_brace_is_named_with_its_line(body, line, named):
    error = refused(body)
    assert error.line == line
    assert named in str(error)


@pytest.mark.parametrize(
    ("body", "line", "named"),
    [
        (
            "DEF A Group {\n children [\n Box { }\n}\n",
            5,
            "list children of Group 'A', opened in line 3",
        ),
        ("DEF A Group {\n children [\n Box { }\n", 3, "list children of Group 'A'"),
        ("DEF A Group {\n ]\n}", 3, "Group 'A'"),
        ("]", 2, "']'"),
        ("PROTO P [\n field SFFloat x 1\n { }\n", 4, "PROTO 'P'"),
        ("PROTO P\n { }\n", 3, "PROTO 'P'"),
    ],
)
def test_a_missing_or_needless_bracket_is_named_with_its_line(body, line, named):
    error = refused(body)
    assert error.line == line
    assert named in str(error)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ('Group {\n name "abc\n}', 3),
        ('Group {\n}\n Group { info [ "a"\n "b ] }', 5),
        ('Group {\n name "abc\n type "COLOR"\n}', 3),
        ('"', 2),
    ],
)
def test_a_missing_quote_is_found_where_the_string_begins(body, line):
    error = refused(body)
    assert error.line == line
    assert "closing quote" in str(error)


@pytest.mark.parametrize(
    ("body", "line", "named"),
    [
        ("Group {\n children USE LEG\n}", 3, "USE LEG"),
        ("Group { children [\n\n USE ARM ] }\nDEF ARM Group { }", 4, "USE ARM"),
        ("DEF LEG_L Group { }\n Group { children USE LEG_R }", 3, "names near it: 'LEG_L'"),
        ("DEF A Group { children\n DEF B Group { children USE A } }", 3, "cannot contain itself"),
    ],
)
def test_use_of_a_name_not_defined_before_is_refused(body, line, named):
    error = refused(body)
    assert error.line == line
    assert named in str(error)


@pytest.mark.parametrize("number", ["nan", "-NaN", "inf", "1.2.3", "1e", "0x", "12abc", "--1"])
def test_what_is_no_number_is_refused_with_node_and_line(number):
    for body in (
        f"DEF A Thing {{\n\n mass {number}\n}}",
        f"DEF A Thing {{\n mass 1\n {number} 2\n}}",
        f"DEF A Thing {{ mass [\n1\n{number} ] }}",
    ):
        error = refused(body)
        assert error.line == 4
        assert "Thing 'A'" in str(error)
        assert number in str(error)


WRONG = [
    "one 1 2",
    "one 1e39",
    "one -1e400",
    "one 0x" + "f" * 400,
    'one "1"',
    "one TRUE",
    "one [ ]",
    "one Box { }",
]


@pytest.mark.parametrize("field", WRONG)
def test_numbers_of_the_wrong_count_kind_or_size_are_refused(field):
    (node,) = parse(f"DEF A Thing {{\n\n{field} }}")
    with pytest.raises(
        ModelError, match=r"Thing 'A' has one .*expected one finite number"
    ) as caught:
        node.number("one", 0.0)
    assert caught.value.line == 4


def test_text_and_nodes_of_the_wrong_kind_are_refused():
    (node,) = parse('DEF A Thing {\n name 3 names [ "a" "b" ]\n children 4\n}')
    for call, line in (
        (lambda: node.text("name"), 3),
        (lambda: node.text("names"), 3),
        (lambda: node.nodes("children"), 4),
    ):
        with pytest.raises(ModelError, match="Thing 'A' has") as caught:
            call()
        assert caught.value.line == line


def test_a_field_twice_is_refused():
    error = refused("DEF A Thing {\n mass 1\n mass 2\n}")
    assert error.line == 4
    assert "Thing 'A' has the field 'mass' twice" in str(error)


@pytest.mark.parametrize("text", ["", "  \n\n", "\ufeff"])
def test_an_empty_file_is_refused(tmp_path, text):
    path = tmp_path / "a.wrl"
    path.write_text(text)
    with pytest.raises(ModelError, match=r"a\.wrl: the file is empty"):
        vrml.read(path)


@pytest.mark.parametrize("text", ["#VRML V1.0 ascii\n", "<robot/>", "\0\0\0", "Group { }"])
def test_a_file_that_is_no_vrml_2_is_refused(text):
    with pytest.raises(ModelError, match=r"robot\.wrl, line 1: .*expected '#VRML V2\.0"):
        vrml.parse(text, FILE)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    for path in (tmp_path / "gone.wrl", tmp_path, Path("a\0b.wrl")):
        with pytest.raises(ModelError, match="cannot be read") as caught:
            vrml.read(path)
        assert caught.value.file == path
