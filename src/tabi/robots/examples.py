"""Robots of the package example-robot-data, which brings files of forty of them: found by name."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from tabi._errors import ModelError, near


def example_folder() -> Path | None:
    """Folder of the package's robots; None where it is not installed."""
    spec = importlib.util.find_spec("cmeel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parents[1] / "cmeel.prefix/share/example-robot-data/robots"
    return folder if folder.is_dir() else None


def example_file(name: str) -> Path:
    """Return the path of a robot's file in the package example-robot-data, for ``tabi.load``.

    Args:
        name: of the file, "g1_29dof_rev_1_0.urdf", or its path in there.

    Example: docs/your_controller.md
    """
    folder = example_folder()
    if folder is None:
        raise ModelError(
            f"robot {name!r} is looked for in the package example-robot-data, which is not "
            'installed; pip install "tabi[robots]", or load a file of yours'
        )
    if (folder / name).is_file():
        return folder / name
    files = {path.name: path for path in sorted(folder.rglob("*.urdf"))}
    if name not in files:
        raise ModelError(
            f"robot {name!r} is none of example-robot-data, which has {len(files)} files in "
            f"{folder}{near(name, files)}"
        )
    return files[name]
