"""Numba's front end, as far as kernels need it.

Numba spends half of the time to compile a kernel on looking up what it knows already: the type of
a sum of two reals, whether two sets of compiler flags are equal, how long functions have taken. A
third of its passes are for Python that kernels do not contain. Here

- the type of an operator on given types is looked up once,
- flags of one content are one object,
- compilation runs the passes that kernels need, and no clocks.

None of this changes the code that comes out.
"""

from __future__ import annotations

import functools
from typing import Any

from tabi.jit.lowering import KernelLowering, insert_kernel
from tabi.jit.numba_private import (
    CPUDispatcher,
    PassManager,
    _FunctionCompiler,
    compiler,
    global_compiler_lock,
    sigutils,
    typed_passes,
    untyped_passes,
)
from tabi.jit.progress import FirstRun, first_run, no_garbage

# loops over tuples of kernels, closures, "with", exceptions and array expressions have passes of
# their own, which are left out
PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    untyped_passes.GenericRewrites,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.IRLegalization,
    KernelLowering,
    typed_passes.NoPythonBackend,
)
# where functions are at home whose result depends on the types of their arguments alone
PURE = frozenset({"_operator", "math", "builtins"})


class TypingContext:
    """Numba's typing context, with a memory for operators and functions of ``math``."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._signatures: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, named: Any) -> Any:
        """The signature of a call."""
        of_types = self._context.resolve_function_type
        key = getattr(function, "typing_key", function)
        if named or getattr(key, "__module__", None) not in PURE:
            return of_types(function, args, named)
        try:
            return self._signatures[function, args]
        except KeyError:
            signature = of_types(function, args, named)
            if signature is not None:
                self._signatures[function, args] = signature
            return signature


typing_context = functools.cache(TypingContext)


class KernelFlags(compiler.Flags):
    """Flags that become one object for each content where they are compared often."""

    def copy(self) -> compiler.Flags:
        """Return the shared, fixed flags of this content."""
        return _fixed.setdefault(repr(self), FixedFlags(self))


class FixedFlags(compiler.Flags):
    """Flags that no longer change."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def copy(self) -> compiler.Flags:
        """Return a copy that may be changed."""
        return compiler.Flags(self)


_fixed: dict[str, FixedFlags] = {}


class KernelCompiler(compiler.CompilerBase):
    """Runs the passes that kernels need."""

    def __init__(self, typing: Any, *rest: Any) -> None:
        super().__init__(typing_context(typing), *rest)

    def define_pipelines(self) -> list[PassManager]:
        """Return the single pipeline of passes."""
        passes = PassManager("kernel")
        for compiler_pass in PASSES:
            passes.add_pass(compiler_pass, compiler_pass._name)
        passes.finalize()
        return [passes]


class _Front(_FunctionCompiler):
    def _customize_flags(self, flags: Any) -> Any:
        return KernelFlags(flags)


class KernelDispatcher(CPUDispatcher):
    """Compiles a kernel for the types it is called with, or takes it from the disk.

    Attributes:
        watch: entered while something is compiled.
        _cache: where compiled code is kept.
    """

    watch: FirstRun = first_run
    overloads: Any
    _cache: Any

    def __init__(self, function: Any, options: dict[str, Any], pipeline: Any) -> None:
        super().__init__(function, targetoptions=options, pipeline_class=pipeline)
        self._compiler = _Front(function, self.targetdescr, options, {}, pipeline)

    def compile(self, sig: Any) -> Any:
        """The entry point for a signature."""
        with global_compiler_lock, self._compiling_counter:
            args, result = sigutils.normalize_signature(sig)
            code = self.overloads.get(tuple(args))
            if code is None:
                self.watch.tick()
                code = self._cache.load_overload(sig, self.targetctx)
                if code is None:
                    with self._cache.alone(sig, self.targetctx) as code:
                        code = code or self._compile(sig, args, result)
                # code from the disk is not known to other kernels yet
                if code.entry_point not in self.targetctx._defns:
                    insert_kernel(self.targetctx, code.entry_point, code.fndesc, [code.library])
                self.add_overload(code)
            return code.entry_point

    def _compile(self, sig: Any, args: Any, result: Any) -> Any:
        with self.watch, no_garbage():
            return self._cache.keep(sig, self._compiler.compile(args, result), self.targetctx)

    def entry(self, args: tuple[Any, ...]) -> Any:
        """The entry point for values of the types of these."""
        self.compile(types := tuple(map(self.typeof_pyval, args)))
        return self.overloads[types].entry_point
