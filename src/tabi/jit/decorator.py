"""The one decorator that compiles tabi: ``@kernel``.

Every numerical function of the package is plain Python under ``@kernel``. Here it becomes machine
code for the processor, compiled once and kept on disk; the list ``KERNELS`` keeps the plain
functions, so that another target (CUDA, another precision) can be built from the same source.
``compilation`` describes how Numba is used.

Compiled code is kept on disk by its content (``cache_folder``, ``code_cache``, ``identity``).

Rules for kernels: no allocation (workspaces are arguments), no exceptions (a status is returned),
no ``np.linalg``, real literals as floats, functions of ``math``. ``NUMBA_DISABLE_JIT=1`` runs them
as Python, ``TABI_JIT=plain`` compiles them with ``numba.njit`` alone (``plain_numba``).
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from tabi import _versions
from tabi.jit.numba_private import config
from tabi.jit.progress import first_run

# "plain" or ""; what a process is begun with
MODE = _versions.jit_mode()

F = TypeVar("F", bound=Callable[..., Any])

# without nnan and ninf: a NaN has to stay a NaN, or errors would go unnoticed
FASTMATH = frozenset({"nsz", "arcp", "contract", "afn", "reassoc"})
KERNELS: list[Callable[..., Any]] = []


def interpreted() -> bool:
    """Whether kernels stay plain Python: ``NUMBA_DISABLE_JIT=1``."""
    return bool(config.DISABLE_JIT)  # ty: ignore[missing-attribute]


def own_compiler() -> bool:
    """Whether tabi's own compiler makes the kernels, and keeps them on disk."""
    return not interpreted() and MODE != _versions.PLAIN


def kernel(
    function: F | None = None,
    *,
    inline: bool = False,
    exact: bool = False,
    views: bool = False,
    nogil: bool = False,
    plain: bool = False,
    vectors: bool = False,
    apart: str = "",
    rare: bool = False,
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
        apart: compile it apart from its callers; the type of its result, as Numba names it (none,
            boolean, int64, float64), or several, separated by ", ", for a tuple.
        rare: compile it when it is first called; for what is not needed in every world.
    """
    settings: Any = {"inline": inline, "exact": exact, "views": views, "nogil": nogil}
    settings |= {"plain": plain, "vectors": vectors, "apart": apart, "rare": rare}
    if function is None:
        return cast(Any, functools.partial(kernel, **settings))
    if plain:
        return function
    KERNELS.append(function)
    if interpreted():
        return function
    options: dict[str, Any] = {
        "error_model": "numpy",
        "boundscheck": False,
        "nogil": nogil,
        "fastmath": set(FASTMATH - {"reassoc"} if exact else FASTMATH),
    }
    if own_compiler():
        return _compiled(function, settings, options)
    from tabi.jit import plain_numba

    return plain_numba.compiled(function, options, apart, views)


def _compiled(function: Any, settings: dict[str, Any], options: dict[str, Any]) -> Any:
    """A function as a kernel of tabi's own compiler."""
    from tabi.jit import cache_folder, callback, compilation, identity
    from tabi.jit.code_cache import KernelCache, NoCache

    setattr(function, identity.OPTIONS, sorted(settings.items()))
    # _nrt: kernels allocate nothing, so no array's references need counting;
    # two atomic operations less per array and call
    options |= {"nopython": True, "_nrt": settings["views"], "no_cfunc_wrapper": True}
    folder = cache_folder.cache_folder()
    first_run.is_cached = folder is not None

    def keep(inside: bool) -> Any:
        return NoCache() if folder is None else KernelCache(function, folder, inside)

    made = compilation.compiled(function, settings["inline"], options, keep, settings["vectors"])
    made.apart = callback.result_type(settings["apart"]) if settings["apart"] else None
    made.rare = settings["rare"]
    return made


def address(compiled: Any, *args: Any) -> int:
    """Address of a kernel's machine code for arguments like these, for ``call_with``."""
    if not own_compiler():
        from tabi.jit import plain_numba

        return plain_numba.address(compiled, *args)
    compiled.compile(kinds := tuple(map(compiled.typeof_pyval, args)))
    code = compiled.overloads[kinds]
    return code.library.get_pointer_to_function(code.fndesc.llvm_func_name)


def complete(compiled: Any, *args: Any) -> None:
    """Compile all that a kernel may call for arguments like these, rare kernels too."""
    if hasattr(compiled, "slots"):
        from tabi.jit import units

        units.fill_below(compiled.slots(tuple(map(compiled.typeof_pyval, args))))


def complete_cached() -> None:
    """Load what kernels of this process may call and the cache has: a tenth of a second or two,
    which a run that keeps pace with a clock should not spend in the middle.
    """
    if own_compiler():
        from tabi.jit import units

        units.fill_kept()


def entry(compiled: Any, *args: Any) -> Any:
    """The machine code of a kernel for arguments like these, as a function. It saves the look-up of
    their types, a microsecond for each structure, and so must be called with no others.
    """
    if hasattr(compiled, "entry"):
        return compiled.entry(args)
    if hasattr(compiled, "signatures"):
        from tabi.jit import plain_numba

        return plain_numba.entry(compiled, *args)
    return compiled
