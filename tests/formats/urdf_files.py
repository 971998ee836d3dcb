"""Small URDF files for tests."""

import struct
from pathlib import Path

import numpy as np


def write(folder: Path, body: str, robot: str = '<robot name="r">') -> Path:
    """A file of a robot with these elements."""
    file = folder / "r.urdf"
    file.write_text(f"{robot}\n{body}\n</robot>\n")
    return file


def joint(name: str, parent: str, child: str, inside: str = "", kind: str = "fixed") -> str:
    """The element of a joint."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}</joint>"
    )


def cube_stl(edge: float) -> bytes:
    """A cube in STL; half of its triangles span its hull."""
    corners = edge * (np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) - 0.5)
    faces = [[0, 1, 3], [4, 6, 7], [0, 4, 5], [2, 3, 7], [0, 2, 6], [1, 5, 7]]
    return (
        bytes(80)
        + struct.pack("<I", len(faces))
        + b"".join(struct.pack("<12fH", 0, 0, 0, *corners[f].ravel(), 0) for f in faces)
    )
