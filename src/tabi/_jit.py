"""The one decorator that compiles tabi: ``@kernel``.

Every numerical function of the package is plain Python under ``@kernel``. Here it becomes machine
code for the processor, compiled once and kept on disk; the list ``KERNELS`` keeps the plain functions,
so that another target (CUDA, another precision) can be built from the same source. ``_llvm`` says what Numba is made to do.

The disk cache lives in a folder named by a digest of *all* sources of the package together with the
versions of Python and Numba. Numba itself watches one file only: a helper changed in another file
would leave its callers running old code. With the digest, any change starts a new folder, into which comes what
the change cannot have reached (``_reuse``); the folders used last are kept, the others removed. In a folder there
is one file per kernel, signature and processor, put in its place whole: processes that compile at the same time do
the same work twice and no harm.

Rules for kernels: no allocation (workspaces are arguments), no exceptions (a status is returned), no
``np.linalg``, real literals as floats, functions of ``math``. ``NUMBA_DISABLE_JIT=1`` runs them as Python.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import platform
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import caching, compiler, config, event, serialize

from tabi import _llvm, _reuse

F = TypeVar("F", bound=Callable[..., Any])

# without nnan and ninf: a NaN has to stay a NaN, else nobody would notice it
FASTMATH = frozenset({"nsz", "arcp", "contract", "afn", "reassoc"})
PACKAGE = Path(__file__).parent
KEPT_CACHES = 3
# packages that kernels never import; those among their files that hold kernels count all the same
ABOVE = frozenset({"apps", "validation", "scenes", "robots", "control", "readers"})
KERNELS: list[Callable[..., Any]] = []


def _compiler() -> str:
    return f"{platform.python_version()} {numba.__version__}"


@functools.cache
def digest() -> str:
    """Digest of the package's sources and of what compiles them."""
    state = hashlib.sha256(_compiler().encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        # what stands above the kernels cannot reach into them: a change there compiles nothing anew
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
    """Folder that holds the caches: $TABI_CACHE_DIR, the package itself, or the user's cache; None if all are read-only."""
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "tabi"
    asked = os.environ.get("TABI_CACHE_DIR")
    folders = [Path(asked)] if asked else [PACKAGE / "__pycache__", user]
    # the tilde of a user without a home stays, and is no folder
    return next((folder.absolute() for folder in folders if folder.parts[0] != "~" and _writable(folder)), None)


@functools.cache
def cache_folder() -> Path | None:
    """Folder of the compiled code of exactly these sources; all but the folders used last are removed."""
    root = cache_root()
    if root is None:
        return None
    folder = root / f"kernels-{digest()}"
    others = _others(root, folder)
    try:
        fresh = not folder.exists()
        folder.mkdir(exist_ok=True)
        os.utime(folder)
        if fresh:
            _reuse.take_over(others[0] if others else folder, folder, PACKAGE, _compiler())
    except OSError:
        return None
    for old in others[KEPT_CACHES - 1 :]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def _others(root: Path, folder: Path) -> list[Path]:
    """Other caches, the last used first; by their names, as the root may be a folder with other things in it."""

    def last_use(folder: Path) -> float:
        # another process may have removed it by now
        with contextlib.suppress(OSError):
            return folder.stat().st_mtime
        return 0.0

    others = [other for other in root.glob("kernels-" + 16 * "[0-9a-f]") if other != folder]
    return sorted(others, key=last_use, reverse=True)


def _closure(function: Callable[..., Any]) -> tuple[Any, ...]:
    """What a function closes over, the same in every process: kernels by their names and what they close over in turn."""
    found = []
    for cell in function.__closure__ or ():
        value = cell.cell_contents
        plain = getattr(value, "py_func", None)
        found.append(serialize.dumps(value) if plain is None else (plain.__module__, plain.__qualname__, _closure(plain)))
    return tuple(found)


class _Cache(caching._Cache):
    """One kernel's compiled code on disk. A file that is lost or broken is compiled anew; one that cannot be written is not missed."""

    def __init__(self, function: Callable[..., Any], folder: Path, inside: bool) -> None:
        self.function, self.folder, self.inside = function, folder, inside

    @property
    def cache_path(self) -> str:
        return str(self.folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        key = self._key(sig, target_context.codegen())
        # whatever a broken file makes of pickle
        with contextlib.suppress(Exception):
            stored, code = pickle.loads(self._file(key).read_bytes())
            if stored == key:
                rebuild = _llvm.rebuild_inside if self.inside else compiler.CompileResult._rebuild
                return rebuild(target_context, *code)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        # such code holds addresses of this process
        if data.library.has_dynamic_globals:
            return
        key = self._key(sig, data.codegen)
        content = serialize.dumps((key, data._reduce()))
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            part = self.folder / uuid.uuid4().hex
            try:
                part.write_bytes(content)
                os.replace(part, self._file(key))
            finally:
                part.unlink(missing_ok=True)

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """All that tells two codes of one kernel apart: its face, types, processor, and values it closes over."""
        return (self.inside, sig, codegen.magic_tuple(), _closure(self.function))

    def _file(self, key: tuple[Any, ...]) -> Path:
        name = f"{self.function.__module__}.{self.function.__name__}"
        return self.folder / f"{name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None: ...


class _FirstRun(event.Listener):
    """Says once, on a terminal or in a log, that kernels are being compiled, and counts the seconds."""

    def __init__(self) -> None:
        self.said = False
        self.depth = 0
        self.started = 0.0
        self.seconds = 0.0

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"] not in _ours:
            return
        self.depth += 1
        if self.depth > 1:
            return
        self.started = time.perf_counter()
        if not self.said and not os.environ.get("TABI_QUIET"):
            self.said = True
            often = "once for this version" if cache_folder() else "on every run, because no folder can keep it; see `tabi doctor`"
            print(f"tabi: compiling for this processor, {often} (two to five minutes for a whole simulation) …", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        if event.data["dispatcher"] not in _ours:
            return
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.perf_counter() - self.started


# other packages compile too: only tabi's kernels count
_ours: set[Any] = set()
first_run = _FirstRun()
event.register("numba:compile", first_run)


def kernel(function: F | None = None, *, inline: bool = False, exact: bool = False, views: bool = False, plain: bool = False) -> F:
    """Compile ``function`` on its first call, from the disk cache when it is there.

    Args:
        function: a plain Python function that keeps the rules of this module's docstring.
        inline: force its code into its callers; for small functions of the inner loops.
        exact: keep the order of additions as written.
        views: it returns arrays, or tuples of them; costs the counting of references in every call.
        plain: leave it as Python; for what calls Python itself.
    """
    if function is None:
        return functools.partial(kernel, inline=inline, exact=exact, views=views, plain=plain)  # type: ignore[return-value]
    if plain:
        return function
    KERNELS.append(function)
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    fastmath = set(FASTMATH - {"reassoc"} if exact else FASTMATH)
    # _nrt: kernels allocate nothing, so no array's references need counting; two atomic operations less per array and call
    options: dict[str, Any] = {"nopython": True, "error_model": "numpy", "boundscheck": False, "_nrt": views, "no_cfunc_wrapper": True}
    compiled: Any = _llvm.compiled(function, inline, options | {"fastmath": fastmath})
    for face in (compiled, compiled.inside):
        _ours.add(face)
        folder = cache_folder()
        # the digest knows the package's own sources only
        if folder is not None and function.__module__.startswith("tabi."):
            face._cache = _Cache(function, folder, inside=face is compiled.inside)
    return compiled
