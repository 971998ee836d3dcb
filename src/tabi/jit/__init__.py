"""The compiler: plain Python functions under ``@kernel`` become machine code, kept on disk.

    decorator      ``@kernel``, and what a process does with kernels as a whole
    identity       what a kernel is, by its content
    structure      many arrays that a kernel is handed as one address
    compilation    how Numba is made to compile a kernel once
    dispatcher     Numba's front end, as far as kernels need it
    lowering       from typed Python to LLVM's code, the short way
    units, slots   kernels that are compiled apart from their callers
    code_cache, cache_folder, shipped_kernels   compiled code on disk, and in a wheel
    numba_private  what of Numba is not documented
    plain_numba    all of it by ``numba.njit`` alone: ``TABI_JIT=plain``
    callback       a Python function that kernels call by its address
    progress       what a first run says

Numba is imported when the first of the names below is asked for: where compiled code is kept can be
asked without it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabi.jit.decorator import (
        KERNELS,
        address,
        complete,
        complete_cached,
        entry,
        first_run,
        interpreted,
        kernel,
        own_compiler,
    )

__all__ = [
    "KERNELS",
    "address",
    "complete",
    "complete_cached",
    "entry",
    "first_run",
    "interpreted",
    "kernel",
    "own_compiler",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module("tabi.jit.decorator"), name)
    return value
