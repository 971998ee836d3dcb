"""The one decorator that compiles tabi: ``@kernel``.

Every numerical function of the package is plain Python under ``@kernel``. Here it becomes machine
code for the processor, compiled once and kept on disk; the list ``KERNELS`` keeps the plain
functions, so that another target (CUDA, another precision) can be built from the same source.
``_llvm`` says what Numba is made to do.

The disk cache lives in a folder named by a digest of *all* sources of the package together with the
versions of Python and Numba. Numba itself watches one file only: a helper changed in another file
would leave its callers running old code. With the digest, any change starts a new folder, into
which comes what the change cannot have reached (``_reuse``); the folders used last are kept, the
others removed. In a folder there is one file per kernel, signature and processor, put in its place
whole: processes that compile at the same time do the same work twice and no harm.

The file of a kernel as other kernels see it holds its own code only and names the files of those
that it calls. They are read with it, each once per process; where one is missing, the caller counts
as missing too. Kernels of users' own files have none: their code goes into the files of the
package's kernels that were built from them, whose names tell their content (``_identity``).

Rules for kernels: no allocation (workspaces are arguments), no exceptions (a status is returned),
no ``np.linalg``, real literals as floats, functions of ``math``. ``NUMBA_DISABLE_JIT=1`` runs them
as Python.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import platform
import shutil
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import caching, compiler, config, serialize

from tabi import _identity, _llvm, _reuse, _shipped
from tabi._progress import first_run

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
    return hashlib.sha256(f"{_compiler()} {source_digest()}".encode()).hexdigest()[:16]


@functools.cache
def source_digest() -> str:
    """Digest of the package's sources."""
    state = hashlib.sha256()
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
    """Folder that holds the caches: $TABI_CACHE_DIR, the package itself, or the user's cache;
    None if all are read-only.
    """
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "tabi"
    asked = os.environ.get("TABI_CACHE_DIR")
    folders = [Path(asked)] if asked else [PACKAGE / "__pycache__", user]
    # the tilde of a user without a home stays, and is no folder
    return next(
        (folder.absolute() for folder in folders if folder.parts[0] != "~" and _writable(folder)),
        None,
    )


@functools.cache
def cache_folder() -> Path | None:
    """Folder of the compiled code of exactly these sources; all but the folders used last are
    removed.
    """
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
    """Other caches, the last used first; by their names, as the root may be a folder with other
    things in it.
    """

    def last_use(folder: Path) -> float:
        # another process may have removed it by now
        with contextlib.suppress(OSError):
            return folder.stat().st_mtime
        return 0.0

    others = [other for other in root.glob("kernels-" + 16 * "[0-9a-f]") if other != folder]
    return sorted(others, key=last_use, reverse=True)


# inside forms of kernels by the names of their files: each is read once, whoever calls it
_read: dict[str, _llvm.Inside] = {}


def _content(folder: Path, name: str) -> bytes:
    """A file of the cache, or of the kernels that came with the package.

    Raises:
        OSError: if neither has it.
    """
    shipped = _shipped.folder(PACKAGE, source_digest())
    path = folder / name
    return (path if shipped is None or path.exists() else shipped / name).read_bytes()


def _inside(folder: Path, name: str, symbol: str, target: Any) -> _llvm.Inside:
    """The inside of a kernel from its file, and from their files the kernels that it needs.

    Raises:
        Exception: of some kind, if one of the files is lost, broken or of another kernel.
    """
    if name not in _read:
        stored, own, called, bitcode, _ = pickle.loads(_content(folder, name))
        if stored != name:
            raise ValueError(f"{name} holds {stored}")
        needed = [_inside(folder, file, inner, target) for file, inner in called]
        library = _llvm.load_inside(target, bitcode, needed)
        library.file, library.symbol = name, own
        _read[name] = library
    if _read[name].symbol != symbol:
        raise ValueError(f"{name} holds {_read[name].symbol}, wanted is {symbol}")
    return _read[name]


class _Cache(caching._Cache):
    """One kernel's compiled code on disk. A file that is lost or broken is compiled anew;
    one that cannot be written is not missed.

    A file holds its own name, the kernel's name in the code, the files and names of the kernels
    that it needs, its own bitcode, and what Numba wants to know of it; that of an outside, which
    is whole, has the machine code in this last part.
    """

    def __init__(self, function: Callable[..., Any], folder: Path, inside: bool) -> None:
        self.function, self.folder, self.inside = function, folder, inside

    @property
    def cache_path(self) -> str:
        return str(self.folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        # whatever a broken file makes of pickle, and values that cannot be told
        with contextlib.suppress(Exception):
            key = self._key(sig, target_context.codegen())
            name = self._name(key)
            *_, rest = pickle.loads(_content(self.folder, name))
            stored, code = pickle.loads(rest)
            if stored != key:
                return None
            if not self.inside:
                return compiler.CompileResult._rebuild(target_context, *code)
            library = _inside(self.folder, name, code[0].llvm_func_name, target_context)
            return _llvm.rebuild_inside(target_context, library, *code)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        library, symbol = data.library, data.fndesc.llvm_func_name
        # such code holds addresses of this process
        if library.has_dynamic_globals:
            return
        try:
            key = self._key(sig, data.codegen)
        except ValueError:
            return
        # the annotation is the source with the types of everything: long, and for readers only
        name, code = self._name(key), data._replace(type_annotation="")._reduce()
        called, bitcode = (), b""
        if self.inside:
            called = tuple((other.file, other.symbol) for other in library.kept())
            (_, _, bitcode), *code, _ = code
        content = serialize.dumps((name, symbol, called, bitcode, serialize.dumps((key, code))))
        with contextlib.suppress(OSError):
            self._write(name, content)
            if self.inside:
                library.file, library.symbol = name, symbol
                _read[name] = library

    def _write(self, name: str, content: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / uuid.uuid4().hex
        try:
            part.write_bytes(content)
            os.replace(part, self.folder / name)
        finally:
            part.unlink(missing_ok=True)

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """All that tells two codes of one kernel apart: its face, types, processor, and what it
        closes over.
        """
        # the inside is for any processor of the kind
        platform, *processor = codegen.magic_tuple()
        named = (platform,) if self.inside else (platform, *processor)
        return (self.inside, sig, named, _identity.closure(self.function))

    def _name(self, key: tuple[Any, ...]) -> str:
        name = f"{self.function.__module__}.{self.function.__name__}"
        return f"{name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None: ...


def plain_mode() -> bool:
    """Whether kernels stay plain Python: ``NUMBA_DISABLE_JIT=1``."""
    return bool(config.DISABLE_JIT)  # type: ignore[attr-defined]


def kernel(
    function: F | None = None,
    *,
    inline: bool = False,
    exact: bool = False,
    views: bool = False,
    nogil: bool = False,
    plain: bool = False,
    vectors: bool = False,
) -> F:
    """Compile ``function`` on its first call, from the disk cache when it is there.

    Args:
        function: a plain Python function that keeps the rules of this module's docstring.
        inline: force its code into its callers; for small functions of the inner loops.
        exact: keep the order of additions as written.
        views: it returns arrays, or tuples of them; costs the counting of references in every call.
        nogil: other threads of Python run meanwhile; for what takes long.
        plain: leave it as Python; for what calls Python itself.
        vectors: let its loops run over several numbers at once; for those along rows of matrices,
            and for arrays that are counted from zero.
    """
    if function is None:
        asked: Any = {"inline": inline, "exact": exact, "views": views}
        asked |= {"nogil": nogil, "plain": plain, "vectors": vectors}
        return functools.partial(kernel, **asked)  # type: ignore[return-value]
    if plain:
        return function
    KERNELS.append(function)
    if plain_mode():
        return function
    fastmath = set(FASTMATH - {"reassoc"} if exact else FASTMATH)
    # _nrt: kernels allocate nothing, so no array's references need counting;
    # two atomic operations less per array and call
    options: dict[str, Any] = {
        "nopython": True,
        "error_model": "numpy",
        "boundscheck": False,
        "_nrt": views,
        "no_cfunc_wrapper": True,
        "nogil": nogil,
    }
    folder = cache_folder()
    first_run.kept = folder is not None
    # the digest knows the package's own sources only
    own = folder is not None and function.__module__.startswith("tabi.")

    def keep(inside: bool) -> Any:
        return (
            _Cache(function, folder, inside) if own and folder is not None else caching.NullCache()
        )

    kept: Any = _llvm.compiled(function, inline, options | {"fastmath": fastmath}, keep, vectors)
    return kept


def address(compiled: Any, *args: Any) -> int:
    """Where the machine code of a kernel for arguments like these lies, for ``call_with``."""
    compiled.compile(kinds := tuple(map(compiled.typeof_pyval, args)))
    code = compiled.overloads[kinds]
    return code.library.get_pointer_to_function(code.fndesc.llvm_func_name)


def entry(compiled: Any, *args: Any) -> Any:
    """The machine code of a kernel for arguments like these, as a function. It saves the look-up of
    their types, a microsecond for each structure, and so must be called with no others.
    """
    return compiled.entry(args) if hasattr(compiled, "entry") else compiled
