"""Fresh interpreters on a copy of the package, so that its sources may be changed and its folders
spoilt.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tabi.jit import cache_folder

NOTICE = (
    "tabi: compiling for this processor, once for this version (half a minute for a simulation) …\n"
)
DOT = """
from tabi.spatial.vector import dot
value = dot((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
"""
ANSWER = """
import json
from tabi.jit import cache_folder
from tabi.jit import decorator
folder = cache_folder.cache_folder()
found = {"value": value, "seconds": decorator.first_run.seconds}
print(json.dumps(found | {"folder": folder and str(folder), "tabi": decorator.__file__}))
"""


def copy_package(site: Path) -> Path:
    """A copy of the package, in a folder of its own."""
    shutil.copytree(
        cache_folder.PACKAGE, site / "tabi", ignore=shutil.ignore_patterns("__pycache__")
    )
    return site / "tabi"


def environment(package: Path, **settings: str) -> dict[str, str]:
    """The variables of a fresh interpreter on the copy;
    Python's own cache is off, because it overlooks quick changes.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TABI_", "NUMBA_", "XDG_"))
    }
    return {**kept, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1", **settings}


def run(package: Path, code: str = DOT, **settings: str) -> tuple[dict, str]:
    """What a fresh interpreter answers, and what it says on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", code + ANSWER],
        env=environment(package, **settings),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert Path(answer["tabi"]).parents[1] == package
    return answer, done.stderr


def code_in(root: Path) -> dict[str, int]:
    """Compiled files in a root of caches; one that is written again is another one."""
    return {path.name: path.stat().st_ino for path in root.glob("kernels-*/*.nbc")}
