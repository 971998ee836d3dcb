"""How Numba is made to compile a kernel: once, whole, and only where Python enters.

Left to itself, Numba optimises every function on its way from the leaves to the root, together with
all that it calls, and makes machine code of each: a chain of ten callers is optimised ten times.
Here every kernel has two faces.

- **Inside**, as other kernels see it: kept in LLVM's intermediate form,
  neither optimised nor made into machine code.
- **Outside**, as Python sees it: made when Python first calls it,
  from the inside forms of all that it calls, optimised once as a whole.

Against Numba's own way this halves the time of compilation, and the code is faster,
as nothing was decided too early.
"""

from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen, compiler, types
from numba.core.registry import CPUDispatcher


class Inside(codegen.JITCodeLibrary):
    """Code of a kernel as other kernels take it in: no machine code, and no address."""

    def _optimize_final_module(self) -> None: ...

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """The code generator, which must not look for this code in memory."""
        return _Addressless(self._codegen)

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """As bitcode, all there is."""
        return self.serialize_using_bitcode()


class Outside(codegen.JITCodeLibrary):
    """Code of a kernel for Python. Nothing counts references, so Numba's first,
    cheap round to prune such counts is left out.
    """

    def _optimize_final_module(self) -> None:
        manager, builder = self._codegen._module_pass_manager()
        manager.run(self._final_module, builder)


class _Addressless:
    """The code generator, for code that is not in memory:
    what Python objects it refers to need not be told.
    """

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def set_env(self, name: str, env: Any) -> None: ...


class _InsideCompiler(compiler.Compiler):
    library: type[codegen.JITCodeLibrary] = Inside

    def __init__(self, typing: Any, target: Any, library: Any, *others: Any) -> None:
        library = self.library(target.codegen(), "tabi")
        library.enable_object_caching()
        super().__init__(typing, target, library, *others)


class _OutsideCompiler(_InsideCompiler):
    library = Outside


class Kernel(CPUDispatcher):
    """What Python calls; other kernels that name it get ``inside``."""

    inside: CPUDispatcher

    @property
    def _numba_type_(self) -> types.Dispatcher:
        return types.Dispatcher(self.inside)


def compiled(function: Any, inline: bool, options: dict[str, Any]) -> Kernel:
    """Both faces of a function."""
    outside = Kernel(function, targetoptions=options, pipeline_class=_OutsideCompiler)
    outside.inside = CPUDispatcher(
        function,
        targetoptions={**options, "forceinline": inline, "no_cpython_wrapper": True},
        pipeline_class=_InsideCompiler,
    )
    return outside


def rebuild_inside(target: Any, *code: Any) -> Any:
    """The inside of a kernel from what its CompileResult was reduced to."""
    (name, _, bitcode), fndesc, env, signature, objectmode, lifted, annotation, reload_init, _ = (
        code
    )
    library = Inside(target.codegen(), name)
    library._final_module = llvm.parse_bitcode(bitcode)
    library._finalize_final_module()
    return compiler.compile_result(
        target_context=target,
        typing_context=target.typing_context,
        library=library,
        environment=env,
        entry_point=target.get_executable(library, fndesc, env),
        fndesc=fndesc,
        type_annotation=annotation,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        reload_init=reload_init,
    )
