"""Kernels that came with the package, so that a first start need not compile them from Python.

A built wheel may hold the unoptimised code of kernels as other kernels take it in
(``compilation``). No processor is named in it: what remains is to optimise it for the one at hand.
It belongs to the compiler and the versions that made it; where any of these differ it is not
looked at, and everything is compiled as without it.
"""

from __future__ import annotations

import functools
import json
import platform
import shutil
import sys
from collections.abc import Collection
from pathlib import Path

import llvmlite
import numba
import numpy as np

FOLDER, STAMP = "_kernels", "made_for.json"


def versions() -> dict[str, str]:
    """Versions that compiled kernels depend on besides their source. Patch releases of Python keep
    the bytecode, by which kernels are identified, and those of NumPy keep the layout of arrays,
    which is all that kernels use of it: the functions of NumPy that they call are Numba's.
    """
    return {
        "python": ".".join(map(str, sys.version_info[:2])),
        "numpy": ".".join(np.__version__.split(".")[:2]),
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
    }


def here(digest: str) -> dict[str, str]:
    """Versions that compiled kernels depend on, and the digest of the compiler."""
    return {**versions(), "compiler": digest}


@functools.cache
def folder(package: Path, digest: str) -> Path | None:
    """Folder of the kernels that came with a package, None if they do not fit."""
    return package / FOLDER if differences(package, digest) == {} else None


def differences(package: Path, digest: str) -> dict[str, tuple[str, str]] | None:
    """In what the kernels that came with a package do not fit: name → theirs, ours;
    None where none came.
    """
    try:
        made = dict(json.loads((package / FOLDER / STAMP).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    now = here(digest)
    return {name: (str(made.get(name)), now[name]) for name in now if made.get(name) != now[name]}


def ship(cache: Path, package: Path, digest: str, names: Collection[str]) -> int:
    """Put kernels of a cache, as other kernels see them, into a package; returns how many.

    Args:
        names: beginnings of their files: kernel and content, as a cache may hold older ones.
    """
    into, count = package / FOLDER, 0
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir()
    for path in sorted(cache.glob("*.nbc")):
        # what Python calls is machine code, for one processor, and has another content
        if path.name.rpartition("-")[0] in names:
            shutil.copyfile(path, into / path.name)
            count += 1
    (into / STAMP).write_text(json.dumps(here(digest)))
    return count
