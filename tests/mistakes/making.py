"""What mistakes are made of: a small arm, a small biped, and how a mistake is judged.

A mistake ends in one sentence of tabi: it says what is wrong, what was expected, or what to do.
"""

import re
import warnings
from typing import NamedTuple

import pytest

import tabi

ARM = """<robot name="arm">
<link name="base">
  <inertial><mass value="3"/>
  <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
<link name="upper">
  <inertial><origin xyz="0 0 0.15"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 0.15"/><geometry><box size="0.05 0.05 0.2"/></geometry></collision>
</link>
<link name="lower">
  <inertial><origin xyz="0 0 0.15"/><mass value="0.5"/>
  <inertia ixx="0.005" iyy="0.005" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 0.15"/><geometry><box size="0.04 0.04 0.2"/></geometry></collision>
</link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
  <origin xyz="0 0 0.1"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" effort="50" velocity="5"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
  <origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
  <limit lower="-1.5" upper="1.5" effort="30" velocity="6"/></joint>
</robot>
"""


def link(name, size, mass, at):
    """A box of a link."""
    x, y, z = size
    moments = [mass / 12 * (a * a + b * b) for a, b in ((y, z), (x, z), (x, y))]
    tensor = 'ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"'.format(*moments)
    origin = f'<origin xyz="{at[0]} {at[1]} {at[2]}"/>'
    return (
        f'<link name="{name}"><inertial>{origin}<mass value="{mass}"/>'
        f"<inertia {tensor}/></inertial>"
        f'<collision>{origin}<geometry><box size="{x} {y} {z}"/></geometry></collision></link>\n'
    )


def hinge(name, parent, child, at):
    """A joint that bends forwards."""
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at[0]} {at[1]} {at[2]}"/><axis xyz="0 1 0"/>'
        '<limit lower="-2" upper="2" effort="100" velocity="10"/></joint>\n'
    )


def biped_text():
    """A URDF of two legs with plates for feet."""
    parts = [link("trunk", (0.15, 0.3, 0.3), 5.0, (0, 0, 0.15))]
    for side, y in (("left", 0.1), ("right", -0.1)):
        parts += [
            link(f"{side}_thigh", (0.06, 0.06, 0.16), 2.0, (0, 0, -0.1)),
            link(f"{side}_shank", (0.06, 0.06, 0.16), 1.5, (0, 0, -0.1)),
            link(f"{side}_foot", (0.2, 0.1, 0.02), 0.3, (0.02, 0, -0.05)),
            hinge(f"{side}_hip", "trunk", f"{side}_thigh", (0, y, 0)),
            hinge(f"{side}_knee", f"{side}_thigh", f"{side}_shank", (0, 0, -0.2)),
            hinge(f"{side}_ankle", f"{side}_shank", f"{side}_foot", (0, 0, -0.2)),
        ]
    return f'<robot name="biped">\n{"".join(parts)}</robot>\n'


def arm(*changes):
    """The text of the arm with parts of it replaced; each has to be there."""
    return changed(ARM, *changes)


def changed(text, *changes):
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def written(folder, text, name="robot.urdf"):
    """A file with a text or bytes."""
    file = folder / name
    file.write_bytes(text) if isinstance(text, bytes) else file.write_text(text, encoding="utf-8")
    return file


def quiet_load(folder, text=ARM, **told):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tabi.load(written(folder, text), **told)


def standing(folder, ground=True):
    """A world with the biped on its feet, and the biped."""
    world = tabi.World()
    if ground:
        world.add_ground(friction=0.8)
    robot = world.add_robot(quiet_load(folder, biped_text()))
    robot.stand_on_ground()
    return world, robot


class Said(NamedTuple):
    """What a mistake ended in."""

    kind: type
    text: str


def outcome(mistake, folder):
    """The error or the first warning that a mistake ends in; None where nobody says a word."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            mistake(folder)
        except Exception as e:
            return Said(type(e), str(e))
    return Said(told[0].category, str(told[0].message)) if told else None


def faults(mistake, parts, folder, kind=tabi.ModelError):
    """What is wrong with how a mistake ends: it should be one sentence of tabi, with all parts.

    Args:
        parts: of the sentence; a class before them is what is raised or warned, if not ``kind``.
    """
    kind, parts = (parts[0], parts[1:]) if isinstance(parts[0], type) else (kind, parts)
    said = outcome(mistake, folder)
    if said is None or not issubclass(said.kind, kind):
        return [f"{kind.__name__} was expected, not {said}"]
    # one sentence: no full stop before a capital; and nothing of others' insides
    strange = r"\n|[a-z)]\. [A-Z]|Traceback|dtype=|<lxml|object at 0x"
    found = [f"not a sentence: {said.text}"] if re.search(strange, said.text) else []
    found += [f"{part!r} is not in: {said.text}" for part in parts if part not in said.text]
    return found if parts else ["nothing is expected of the sentence"]


def cases(table):
    """Parameters of a table {name: (mistake, parts, …)}."""
    return pytest.mark.parametrize(
        ("mistake", "parts"),
        [pytest.param(mistake, parts, id=name) for name, (mistake, *parts) in table.items()],
    )
