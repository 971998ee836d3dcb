"""Folder of compiled code: one folder for each state of the compiler, one file for each kernel.

The folder is named by a digest of the modules that compile and of the versions of Python, NumPy,
Numba and llvmlite as far as code depends on them (``shipped_kernels.versions``); the name of a
file contains a digest of the kernel in it (``identity``).
So nothing in it is ever outdated: a changed line recompiles just the kernels that reach it, and
undoing the change finds their code again. Of a folder that has grown large, the files that were
not used for longest are removed; of folders, all but those used most recently.

A file is moved into place as a whole, and the first one stays: processes that compile the same at
the same time all use the same code afterwards.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from tabi.jit import shipped_kernels

PACKAGE = Path(__file__).parents[1]
# modules of this package that compile
COMPILER = (
    "callback", "code_cache", "decorator", "dispatcher", "identity", "compilation", "lowering",
    "numba_private", "slots", "structure", "units",
)  # fmt: skip
MAX_CACHES = 3
# a folder above the first size is pruned to the second
PRUNE_ABOVE_BYTES, PRUNE_TO_BYTES = 512 << 20, 256 << 20
# packages that kernels never import; those among their files that hold kernels count all the same
ABOVE = frozenset(
    {"lab", "apps", "analysis", "identification", "runs", "scenes", "robots", "control", "readers"}
)
# waiting for another process that compiles the same: interval of polling, timeout, and how long
# it may take to write its process number
POLL_INTERVAL_S, LOCK_TIMEOUT_S, WRITE_TIMEOUT_S = 0.02, 60.0, 1.0


@functools.cache
def digest() -> str:
    """Digest of what compiles."""
    state = hashlib.sha256(repr(sorted(shipped_kernels.versions().items())).encode())
    for name in COMPILER:
        state.update((PACKAGE / "jit" / f"{name}.py").read_bytes())
    return state.hexdigest()[:16]


@functools.cache
def source_digest() -> str:
    """Digest of the package's sources, as far as they compute."""
    state = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel" in source or not ABOVE.intersection(path.relative_to(PACKAGE).parts):
            state.update(path.relative_to(PACKAGE).as_posix().encode())
            state.update(source)
    return state.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@functools.cache
def cache_root() -> Path | None:
    """Folder that holds the caches: $TABI_CACHE_DIR, the package itself, or the user's cache;
    None if all are read-only.
    """
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "tabi"
    chosen_folder = os.environ.get("TABI_CACHE_DIR")
    folders = [Path(chosen_folder)] if chosen_folder else [PACKAGE / "__pycache__", user]
    # the tilde of a user without a home stays, and is no folder
    return next(
        (folder.absolute() for folder in folders if folder.parts[0] != "~" and _writable(folder)),
        None,
    )


@functools.cache
def cache_folder() -> Path | None:
    """Folder of the code that this compiler makes; all but the folders used last are removed."""
    root = cache_root()
    if root is None:
        return None
    folder = root / f"kernels-{digest()}"
    try:
        folder.mkdir(exist_ok=True)
        os.utime(folder)
    except OSError:
        return None
    for old in _other_caches(root, folder)[MAX_CACHES - 1 :]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def _last_use(path: Path) -> float:
    # another process may have removed it by now
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _other_caches(root: Path, folder: Path) -> list[Path]:
    """Other caches, the last used first; by their names, as the root may be a folder with other
    things in it.
    """
    caches = [other for other in root.glob("kernels-" + 16 * "[0-9a-f]") if other != folder]
    return sorted(caches, key=_last_use, reverse=True)


def content(folder: Path, name: str) -> bytes:
    """A file of the cache, or of the kernels that came with the package.

    Raises:
        OSError: if neither has it.
    """
    path, shipped = folder / name, shipped_kernels.folder(PACKAGE, digest())
    if shipped is not None and not path.exists():
        return (shipped / name).read_bytes()
    with contextlib.suppress(OSError):
        os.utime(path)
    return path.read_bytes()


def has(folder: Path, name: str) -> bool:
    """Whether there is such a file."""
    return (folder / name).exists()


def keep(folder: Path, name: str, code: bytes, instead: bool = False) -> bool:
    """Write a file; whether it was the first of its name, or is put ``instead`` of what is there.

    Raises:
        OSError: if it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _prune(folder)
    part = folder / uuid.uuid4().hex
    try:
        part.write_bytes(code)
        if instead:
            os.replace(part, folder / name)
        else:
            _put(part, folder / name)
    except FileExistsError:
        return False
    finally:
        part.unlink(missing_ok=True)
    return True


def _put(part: Path, place: Path) -> None:
    """Give a file its name, unless another one has it.

    Raises:
        FileExistsError: if another one has.
    """
    try:
        os.link(part, place)
    except FileExistsError:
        raise
    except OSError:
        # a file system without links: of two processes at once the later one stays
        if place.exists():
            raise FileExistsError(place) from None
        os.replace(part, place)


@functools.cache
def _prune(folder: Path) -> None:
    """Remove the files of a large folder that were not used longest; looked at once a process."""
    files = [(path, path.stat()) for path in folder.glob("*.nbc") if path.exists()]
    size = sum(stat.st_size for _, stat in files)
    if size < PRUNE_ABOVE_BYTES:
        return
    for path, stat in sorted(files, key=lambda file: file[1].st_mtime):
        if size < PRUNE_TO_BYTES:
            return
        path.unlink(missing_ok=True)
        size -= stat.st_size


@contextlib.contextmanager
def alone(folder: Path, name: str) -> Iterator[bool]:
    """Within, no other process that asks makes the file of this name; whether another has done so
    meanwhile. One that does not get done is waited for no longer than it lives.
    """
    mark, mine = folder / f"{name}.busy", False
    try:
        while not mine and not has(folder, name):
            try:
                if mark.exists() and not _lives(mark):
                    mark.unlink(missing_ok=True)
                with mark.open("x", encoding="utf-8") as file:
                    file.write(str(os.getpid()))
                mine = True
            except FileExistsError:
                time.sleep(POLL_INTERVAL_S)
            except OSError:
                break
        yield has(folder, name)
    finally:
        if mine:
            mark.unlink(missing_ok=True)


def _lives(mark: Path) -> bool:
    """Whether the process that has put a mark is still there, and not for too long: another one may
    have its number by now.
    """
    try:
        text, age = mark.read_text(encoding="utf-8"), time.time() - mark.stat().st_mtime
    except OSError:
        return False
    if not text or age > LOCK_TIMEOUT_S:
        return age < WRITE_TIMEOUT_S
    try:
        # on Windows this would interrupt it
        if os.name != "nt":
            os.kill(int(text), 0)
    except PermissionError:
        # of another user
        return True
    except (OSError, ValueError):
        return False
    return True
