"""The version of a build: from git's tags, or the last release.

A tag ``v1.2.3`` is version 1.2.3; seven commits later it is 1.2.4.dev7+g0123abc, which pip sorts
between 1.2.3 and 1.2.4. A tree without tags or without git is the release named in
``src/tabi/_versions.py``; TABI_BUILD_VERSION says another one. An sdist has the version it was made
with.
"""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TAG = re.compile(r"v(\d+)\.(\d+)\.(\d+)-(\d+)-g([0-9a-f]+)$")


def version(root: Path = ROOT) -> str:
    """The version of a tree."""
    return os.environ.get("TABI_BUILD_VERSION") or _of_tags(root) or last_release(root)


def last_release(root: Path = ROOT) -> str:
    """The release that the source names."""
    source = (root / "src" / "tabi" / "_versions.py").read_text(encoding="utf-8")
    found = re.search(r'^LAST_RELEASE = "([^"]+)"$', source, re.MULTILINE)
    if found is None:
        raise ValueError('src/tabi/_versions.py has no line LAST_RELEASE = "…"')
    return found[1]


def _of_tags(root: Path) -> str:
    # a repository around an unpacked archive is not this one's
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "describe", "--tags", "--long", "--match", "v[0-9]*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    found = TAG.match(done.stdout.strip())
    if not found:
        return ""
    major, minor, patch, commits, revision = found.groups()
    if commits == "0":
        return f"{major}.{minor}.{patch}"
    return f"{major}.{minor}.{int(patch) + 1}.dev{commits}+g{revision}"
