"""Origin of a measured file: the revision of tabi that was measured, and the day.

Figures in the documentation are kept as JSON in ``docs/measured``, and tests hold the pages to
them. Such a file is only worth something while its origin is known: a test refuses
files without a stamp, and files that are too old.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import tabi

# digits of a revision, as git itself shows it in a small repository
DIGITS = 7


def stamped(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with the revision of tabi that was measured, and the date."""
    today = datetime.datetime.now(datetime.UTC).date()
    return {"revision": revision(), "measured": today.isoformat()} | result


def stamped_json(result: dict[str, Any]) -> str:
    """A stamped result, as text for a file."""
    return json.dumps(stamped(result), indent=2)


def revision(package: Path = Path(tabi.__file__).parent) -> str:
    """The commit that is checked out where tabi lies, else the version that is installed."""
    for folder in package.parents:
        if (folder / "pyproject.toml").is_file() and (folder / ".git").exists():
            commit = _commit(folder / ".git")
            if commit:
                return commit[:DIGITS]
    return f"v{tabi.__version__}"


def _commit(git: Path) -> str:
    """The commit at HEAD, read from git's own files, so that no other program is started."""
    try:
        if git.is_file():
            # a second working tree says where its files are
            git = git.parent / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref:"):
            return head
        name, shared = head.removeprefix("ref:").strip(), git
        if (git / "commondir").is_file():
            shared = git / (git / "commondir").read_text(encoding="utf-8").strip()
        for folder in (git, shared):
            if (folder / name).is_file():
                return (folder / name).read_text(encoding="utf-8").strip()
        packed = (shared / "packed-refs").read_text(encoding="utf-8").splitlines()
        return next((line.split()[0] for line in packed if line.endswith(" " + name)), "")
    except OSError:
        return ""
