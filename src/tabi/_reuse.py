"""Compiled code that a change of the sources did not reach is taken over into the new cache.

A kernel depends on its own file and on the files that this one imports, and so on; a digest of all
these tells whether its code is still good. Files that make kernels inside of functions are left
out: what such kernels call is not among their imports.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from pathlib import Path

LIST = "sources.json"
# a kernel made inside of a function
MADE = re.compile(rb"^[ \t]+@kernel", re.MULTILINE)
# from module import names, in brackets or not; import module
IMPORT = re.compile(
    r"^[ \t]*(?:from (\w[\w.]*) import (\([^)]*\)|[^\n]*)|import (\w[\w.]*))", re.MULTILINE
)


def digests(package: Path, compiler: str) -> dict[str, str]:
    """Of each module that may be taken over, by its dotted name,
    under a compiler of this name and version.
    """
    files = {_name(path, package): path for path in package.rglob("*.py")}
    sources = {name: path.read_bytes() for name, path in files.items()}
    imports = {name: _imports(source, files) for name, source in sources.items()}
    found = {}
    for name, source in sources.items():
        if MADE.search(source):
            continue
        needed, ahead = {name}, [name]
        while ahead:
            ahead += (new := imports[ahead.pop()] - needed)
            needed |= new
        state = hashlib.sha256(compiler.encode())
        for other in sorted(needed):
            state.update(other.encode() + sources[other])
        # through these, its kernels may call some that are made inside of functions
        if not any(MADE.search(sources[other]) for other in needed):
            found[name] = state.hexdigest()
    return found


def take_over(old: Path, new: Path, package: Path, compiler: str) -> None:
    """Link into the folder ``new`` what is still good in ``old``, and list the digests there."""
    now = digests(package, compiler)
    (new / LIST).write_text(json.dumps(now))
    try:
        then = json.loads((old / LIST).read_text())
    except (OSError, ValueError):
        return
    good = {name for name, digest in now.items() if then.get(name) == digest}
    for path in old.glob("*.nbc"):
        # module, function and a hash: tabi.contact.cone.local-0123456789abcdef.nbc
        if path.name.rpartition("-")[0].rpartition(".")[0] in good:
            with contextlib.suppress(FileExistsError):
                os.link(path, new / path.name)


def _name(path: Path, package: Path) -> str:
    parts = (package.name, *path.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(source: bytes, files: dict[str, Path]) -> set[str]:
    """Modules of the package that a source names in its imports;
    of ``from package import name`` the module that has the name.
    """
    found = set()
    for module, listed, alone in IMPORT.findall(source.decode()):
        found |= {alone} if alone else set()
        for name in re.findall(r"(\w+)(?: as \w+)?", listed):
            found |= {f"{module}.{name}" if f"{module}.{name}" in files else module}
    return found & set(files)
