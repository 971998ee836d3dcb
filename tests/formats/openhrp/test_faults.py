"""OpenHRP models with faults: each is refused by one sentence with its element and its line,
whatever the fault.
"""

import random
import re
from pathlib import Path

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.formats.openhrp import reader as openhrp
from tabi.model.robot import Robot

HERE = Path(__file__).parent
ROBOT = (HERE / "mini.wrl").read_text()
HEAD = ROBOT[: ROBOT.index("Background")]


@pytest.fixture
def load(tmp_path):
    def read(text: str, **options) -> Robot:
        path = tmp_path / "robot.wrl"
        path.write_text(text)
        return openhrp.read(path, **options)

    return read


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


FAULTS = [
    # jointType
    ('"slide"', '"slid"', "Joint 'LEG' has jointType 'slid'"),
    ('"rotate"', '""', "Joint 'HIP' has jointType ''"),
    ('jointType "crawler"', "jointType 3", "Joint 'BELT' has jointType 3; expected one string"),
    # wrong count of numbers, or none
    (
        "translation 0 0.1 -0.05",
        "translation 0 0.1",
        "Joint 'HIP' has translation 0 0.1; expected 3",
    ),
    (
        "[ 0.1 0.01 0 0.01 0.2 0 0 0 0.3 ]",
        "[ 0.1 0.2 0.3 ]",
        "Segment 'PELVIS' has momentsOfInertia 0.1 0.2 0.3; expected 9",
    ),
    (
        "size 0.2 0.3 0.1",
        "size 0.2 0.3 0.1 1",
        "Box in Shape 'HULL' has size 0.2 0.3 0.1 1; expected 3",
    ),
    ("rotation 1 0 0 0.3", 'rotation "x"', "Joint 'TOE' has rotation 'x'; expected 4"),
    ("gearRatio -100", "gearRatio many", "Joint 'HIP' has gearRatio 'many'"),
    (
        "point [ 0 0 0, 1 0 0",
        "point [ 0 0 0, 1 0",
        "Coordinate in Joint 'TOE' has 14 numbers in point",
    ),
    # NaN and infinity
    ("mass 3", "mass nan", "Segment 'THIGH' has mass 'nan'"),
    ("centerOfMass 0 0 -0.2", "centerOfMass 0 NaN -0.2", "Segment 'THIGH' has 'NaN'"),
    ("ulimit 0.5", "ulimit inf", "Joint 'HIP' has ulimit 'inf'"),
    ("ulimit 0.5", "ulimit 1e99", "Joint 'HIP' has ulimit 1e+99; expected finite numbers"),
    # mass
    ("mass 4", "mass -4", "Segment 'PELVIS' has mass -4 kg"),
    ("mass 2 ", "mass -1e-9 ", "Segment 'PACK' has mass -1e-09 kg"),
    ("mass 0.25", "mass -0.25", "Segment in Joint 'BELT' has mass -0.25 kg"),
    # axis
    ("jointAxis 0 2 0", "jointAxis 0 0 0", "Joint 'HIP' has jointAxis 0 0 0"),
    ("jointAxis 0 2 0", "jointAxis 1e-12 0 0", "Joint 'HIP' has jointAxis 1e-12 0 0"),
    ("jointAxis 0 2 0", 'jointAxis "W"', "Joint 'HIP' has jointAxis 'W'"),
    ("rotation 0 0 2 0.5", "rotation 0 0 0 0.5", "Joint 'WAIST' has rotation about the axis 0 0 0"),
    # limits
    (
        "llimit -1.5 ulimit 0.5",
        "llimit 1.5 ulimit 0.5",
        "Joint 'HIP' has llimit 1.5 above ulimit 0.5",
    ),
    (
        "llimit [ 0 ] ulimit [ 0.1 ]",
        "llimit [ 0.2 ] ulimit [ 0.1 ]",
        "Joint 'LEG' has llimit 0.2 above ulimit 0.1",
    ),
    (
        "llimit [ 0 ] ulimit [ 0.1 ]",
        "ulimit [ -0.1 ] llimit 0",
        "Joint 'LEG' has llimit 0 above ulimit -0.1",
    ),
    ("llimit [ 0 ]", "llimit [ 0 1 ]", "Joint 'LEG' has llimit 0 1; expected one number"),
    ("lvlimit -3", "lvlimit 3", "Joint 'HIP' has velocities from lvlimit 3"),
    ("rotorInertia 1e-5", "rotorInertia -1e-5", "Joint 'HIP' has rotorInertia -1e-05"),
    # names
    ("DEF BELT Joint", "DEF HIP Joint", "Joint 'HIP' occurs twice"),
    ("DEF BELT Joint", "DEF WAIST Joint", "Joint 'WAIST' occurs twice"),
    ("DEF TOE Joint", "DEF LEG Joint", "Joint 'LEG' occurs twice"),
    ("DEF BELT Joint", "Joint", "Joint in Joint 'LEG' has no name"),
    ("DEF IMU Acc", "DEF GYRO Acc", "second sensor 'GYRO'"),
    ("jointId 5", "jointId 5.5", "Joint 'LEG' has jointId 5.5"),
    # fields and places
    (
        "climit 10",
        "cilmit 10",
        "Joint 'HIP' has no field 'cilmit'; fields near that name: 'climit'",
    ),
    ("mass 3", "mas 3", "Segment 'THIGH' has no field 'mas'; fields near that name: 'mass'"),
    ("scale 0.5 2 0.5", "scal 0.5 2 0.5", "Transform in Segment 'THIGH' has no field 'scal'"),
    ("scale 0.5 2 0.5", "scale 0.5 0 0.5", "Transform in Segment 'THIGH' has scale 0.5 0 0.5"),
    ("radius 0.1 height", "radius -0.1 height", "Cylinder in Segment 'THIGH' has radius -0.1"),
    (
        "-1 0 3 2 -1 ]",
        "-1 0 3 7 -1 ]",
        "IndexedFaceSet in Joint 'TOE' has a coordIndex outside of its 5 points",
    ),
    (
        "Transform { translation 0.01 0 0 ch",
        "Transform { scale 2 2 2 ch",
        "Joint 'TOE' stands in a Transform that scales",
    ),
    (
        "Transform { translation 0.01 0 0 ch",
        "Widget { ch",
        "Widget in Joint 'LEG' holds Joint 'TOE'",
    ),
    ('jointType "free"', 'jointType "rotate"', "Joint 'WAIST' is the root"),
    # USE before DEF
    ("USE HULL", "USE HULK", "USE HULK"),
    ("appearance USE RED", "appearance USE BLUE", "USE BLUE"),
    ("USE LEG ]", "USE ARM ]", "USE ARM"),
]


@pytest.mark.parametrize(("good", "bad", "named"), FAULTS, ids=[f[2] for f in FAULTS])
def test_a_fault_is_refused_with_its_element_and_its_line(load, good, bad, named):
    with pytest.raises(ModelError) as caught:
        load(ROBOT.replace(good, bad, 1))
    assert named in str(caught.value)
    assert "robot.wrl, line " in str(caught.value)
    assert caught.value.line == line_of(ROBOT, good)


@pytest.mark.parametrize("broken", ["}", "]", '"', "{", "["])
def test_every_missing_mark_is_refused(load, broken):
    places = [m.start() for m in re.finditer(re.escape(broken), ROBOT) if m.start() > len(HEAD)]
    refused = 0
    for at in random.Random(1).sample(places, min(8, len(places))):
        with pytest.raises(ModelError, match=r"robot\.wrl, line \d+: "):
            load(ROBOT[:at] + ROBOT[at + 1 :])
        refused += 1
    assert refused >= 3


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Group { }", "no Humanoid"),
        ('DEF A Joint { jointType "free" }', "no Humanoid"),
        ("PROTO Humanoid [ ] { Group { } }", "no Humanoid"),
        ("DEF R Humanoid { humanoidBody [ ] }", "Humanoid 'R' has no Joint"),
        (
            "DEF R Humanoid { humanoidBody Segment { } }",
            "Segment in Humanoid 'R' stands outside of any Joint",
        ),
        (
            'DEF R Humanoid { humanoidBody [ DEF A Joint { jointType "free" } DEF B Joint { '
            'jointType "free" } ] }',
            "Joint 'B' is a second root",
        ),
        (
            'DEF R Humanoid { humanoidBody DEF A Joint { jointType "free" } } DEF S Humanoid { }',
            "Humanoid 'S' is the second Humanoid",
        ),
    ],
)
def test_a_file_without_exactly_one_robot_is_refused(load, text, named):
    with pytest.raises(ModelError, match=named):
        load("#VRML V2.0 utf8\n" + text)


@pytest.mark.parametrize("content", ["", "\n \n", "# nothing"])
def test_an_empty_file_is_refused(load, content):
    with pytest.raises(ModelError, match=r"robot\.wrl"):
        load(content)


@pytest.mark.parametrize("name", ["gone.wrl", "folder/gone.wrl", "."])
def test_a_file_that_is_not_there_is_refused(tmp_path, name):
    with pytest.raises(ModelError, match="cannot be read"):
        openhrp.read(tmp_path / name)


@pytest.mark.parametrize("name", ["gone.wrl", "../gone.wrl", "meshes/gone.wrl"])
def test_a_missing_inline_file_is_refused(load, name):
    text = ROBOT.replace("Widget { } Widget { }", f'Inline {{ url "{name}" }}')
    with pytest.raises(ModelError, match="Inline in Joint 'WAIST'") as caught:
        load(text)
    assert caught.value.line == line_of(text, "Inline {")


@pytest.mark.slow
def test_nodes_that_use_each_other_without_end_are_refused(load):
    doubling = "DEF N0 Group { } " + "".join(
        f"DEF N{i + 1} Group {{ children [ USE N{i} USE N{i} ] }} " for i in range(40)
    )
    with pytest.raises(ModelError, match="more than 100000 nodes"):
        load(ROBOT.replace("Widget { } Widget { }", doubling))


@pytest.mark.slow
def test_mutated_files_load_or_are_refused_and_nothing_else(load):
    rng = random.Random(20)
    pieces = [
        "{",
        "}",
        "[",
        "]",
        '"',
        "nan",
        "-1",
        "1e300",
        "0",
        "DEF",
        "USE",
        "NULL",
        "TRUE",
        "Joint",
        "#",
        "\\",
        "PROTO",
        "IS",
        "\0",
        "膝",
    ]
    outcomes = {"loaded": 0, "refused": 0}
    words = re.findall(r"\s+|[^\s]+", ROBOT)
    for _ in range(300):
        mutated = list(words)
        for _ in range(rng.randint(1, 3)):
            i = rng.randrange(len(mutated))
            change = rng.randrange(4)
            if change == 0:
                del mutated[i]
            elif change == 1:
                mutated[i] = rng.choice(pieces)
            elif change == 2:
                mutated[i] = mutated[rng.randrange(len(mutated))]
            else:
                mutated.insert(i, f" {rng.choice(pieces)} ")
        try:
            robot = load("".join(mutated))
        except ModelError:
            outcomes["refused"] += 1
        else:
            assert np.isfinite(robot.mass)
            outcomes["loaded"] += 1
    assert min(outcomes.values()) > 20
