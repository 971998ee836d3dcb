"""Numba's undocumented names that tabi uses: an upgrade of Numba begins here.

Releases that tabi was not tested with end in one sentence before any of it is imported. What is
called on these things, and is not documented either, is in ``compilation``, ``dispatcher`` and
``lowering``, which ``TABI_JIT=plain`` does without.
"""

# ruff: noqa: E402, F401
from tabi import _versions

_versions.check_compiler()

from numba.core import callconv, cgutils, config, event, imputils, types
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.registry import cpu_target
from numba.core.typing import templates
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.np.arrayobj import get_itemsize

if _versions.jit_mode() != _versions.PLAIN:
    from numba.core import (
        caching,
        codegen,
        compiler,
        ir,
        lowering,
        serialize,
        sigutils,
        typed_passes,
        untyped_passes,
    )
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.compiler_machinery import PassManager, register_pass
    from numba.core.dispatcher import _FunctionCompiler  # ty: ignore[import-not-found]
    from numba.core.extending import _Intrinsic
    from numba.core.registry import CPUDispatcher
