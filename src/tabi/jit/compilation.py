"""Compilation of kernels by Numba: once, as a whole, and only where Python enters.

Left to itself, Numba optimises every function on its way from the leaves to the root, together with
all that it calls, and makes machine code of each: a chain of ten callers is optimised ten times.
Here every kernel has two faces.

- **Inside**, as other kernels see it: its own code and no other's, in LLVM's intermediate form,
  neither optimised as a whole nor made into machine code, and a list of the kernels that it calls.
- **Outside**, as Python sees it: made when Python first calls it, from its own code and the inside
  of all that it reaches, each linked in once; then optimised as a whole. Kernels that are compiled
  apart (``units``) are not linked in: they have an outside of their own.

Against Numba's own way this halves the time of compilation, and the code is faster,
as nothing was decided too early.

Kernels are linked by name, also with code that another process has compiled. So the name has a tag
of what the kernel is (``identity``), where Numba counts the functions of one process. Functions of
Numba's own have such numbers still: a kernel keeps its copies of them to itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm

from tabi.jit import identity
from tabi.jit.dispatcher import KernelCompiler, KernelDispatcher
from tabi.jit.numba_private import codegen, compiler, sigutils, types
from tabi.jit.units import Apart, KernelSlot, slots_of


class _Linked(codegen.JITCodeLibrary):
    """Code that knows the kernels it calls, and does not hold them."""

    def __init__(self, generator: Any, name: str) -> None:
        super().__init__(generator, name)
        # in the order of the calls
        self.called: dict[Inside, None] = {}

    def add_linking_library(self, library: Any) -> None:
        """A kernel is noted; anything else that is called becomes part of this code."""
        if not isinstance(library, Inside):
            return super().add_linking_library(library)
        library._ensure_finalized()
        self._reload_init.update(library._reload_init)
        self.called[library] = None
        return None

    def _optimize_functions(self, ll_module: Any) -> None:
        # variables go from memory into registers, which makes the code a third as long;
        # all else is left for the whole
        ll_module.data_layout = self._codegen._data_layout
        builder = self._codegen._pass_builder()
        manager = llvm.create_new_function_pass_manager()
        manager.add_sroa_pass()
        manager.add_instruction_combine_pass()
        manager.add_simplify_cfg_pass()
        for function in ll_module.functions:
            if not function.is_declaration:
                manager.run(function, builder)

    def _keep_to_itself(self) -> None:
        """Functions of Numba's own, linked in by now, are seen from nowhere else."""
        for function in self._final_module.functions:
            # the counting of references goes by other names, which a pass of Numba's looks for
            if function.linkage == llvm.Linkage.linkonce_odr and function.name.startswith("_ZN"):
                function.linkage = "internal"


class Inside(_Linked):
    """Code of a kernel as other kernels take it in: no machine code, and no address."""

    # what callers have to know (``code_cache``); None if it is not kept
    face: tuple[Any, ...] | None = None

    def _optimize_final_module(self) -> None:
        self._keep_to_itself()
        for function in self._final_module.functions:
            # may be inlined, dropped, and defined twice
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        for library in self.called:
            self._dynamic_globals += library._dynamic_globals
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        # for code of Numba's own that calls a kernel: with all that the kernel reaches
        self._ensure_finalized()
        if self._shared_module is None:
            self._shared_module = self._final_module.clone()
            _link(self._shared_module, reached(self))
        return self._shared_module

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, as an inside has no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """The code generator, which must not look for this code in memory."""
        return _Addressless(self._codegen)

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """Return name, format and LLVM bitcode."""
        self._ensure_finalized()
        return (self.name, "bitcode", self._final_module.as_bitcode())


class InsideWithVectors(Inside):
    """The same of a kernel whose loops run along long rows: several numbers at once."""

    def _optimize_final_module(self) -> None:
        manager, builder = self._codegen._module_pass_manager(loop_vectorize=True)
        manager.run(self._final_module, builder)
        super()._optimize_final_module()


class Outside(_Linked):
    """Code of a kernel for Python. Nothing counts references, so Numba's first,
    cheap round to prune such counts is left out; nor are loops made into vectors, unless a kernel
    asks for it: they run over a few rows of tables, which vectors have to gather number by number,
    and that takes twice as long.
    """

    vectors = False
    # of kernels that are compiled apart; None before they are looked up
    slots: list[KernelSlot] | None = None

    def _optimize_final_module(self) -> None:
        self._keep_to_itself()
        _link(self._final_module, reached(self))
        manager, builder = self._codegen._module_pass_manager(loop_vectorize=self.vectors)
        manager.run(self._final_module, builder)


class OutsideWithVectors(Outside):
    """The same of a kernel whose loops run along long rows."""

    vectors = True


def reached(library: _Linked) -> list[Inside]:
    """All kernels that a code calls, and what these call in turn, each once and after its
    callers.
    """
    done: dict[Inside, None] = {}

    def visit(library: _Linked) -> None:
        for called in library.called:
            if called not in done:
                visit(called)
                done[called] = None

    visit(library)
    return list(reversed(done))


def _link(module: Any, libraries: list[Inside]) -> None:
    """Link kernels into a module; callers first, as LLVM leaves out what nothing calls yet."""
    for library in libraries:
        module.link_in(library._final_module, preserve=True)


class _Addressless:
    """Code generator for code that is not in memory, which ignores references to Python objects."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def set_env(self, name: str, env: Any) -> None: ...


class _InsideCompiler(KernelCompiler):
    library: type[_Linked] = Inside

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        library = self.library(target.codegen(), "tabi")
        library.enable_object_caching()
        super().__init__(typing, target, library, *rest)

    def _compile_bytecode(self) -> Any:
        function = self.state.func_id
        if tag := identity.tag(function.func):
            function.unique_id = self._unique(tag, function.unique_id)
        return super()._compile_bytecode()

    def _unique(self, tag: str, count: int) -> str:
        return tag


class _OutsideCompiler(_InsideCompiler):
    library = Outside

    def _unique(self, tag: str, count: int) -> str:
        # machine code is in memory under its name: one that is compiled twice has two
        return f"{tag}n{count}"


class _InsideVectorCompiler(_InsideCompiler):
    library = InsideWithVectors


class _OutsideVectorCompiler(_OutsideCompiler):
    library = OutsideWithVectors


class Kernel(KernelDispatcher):
    """A kernel as Python calls it; other kernels that name it get ``inside``.

    Attributes:
        make_inside: makes that, when a kernel that names it is compiled for the first time.
        apart: the type of its result if it is compiled apart from its callers.
        rare: whether that is done when it is first called.
    """

    make_inside: Callable[[], KernelDispatcher]
    apart: Any = None
    rare: bool = False

    def compile(self, sig: Any) -> Any:
        """The entry point for a signature; kernels that it reaches and that are compiled apart are
        there as well.
        """
        entry = super().compile(sig)
        for slot in self.slots(sig):
            if not slot.kernel.rare and not slot.cell.value:
                slot.fill()
        return entry

    def slots(self, sig: Any) -> list[KernelSlot]:
        """Slots of the kernels compiled apart that the code for a signature calls."""
        args, _ = sigutils.normalize_signature(sig)
        library = self.overloads[tuple(args)].library
        if library.slots is None:
            library.slots = slots_of(library._final_module)
        return library.slots

    @functools.cached_property
    def inside(self) -> KernelDispatcher:
        """The face for other kernels."""
        return self.make_inside()

    @property
    def _numba_type_(self) -> types.Dispatcher:
        return types.Dispatcher(self.inside) if self.apart is None else Apart(self)


class Flags(set):
    """A set that reads the same in every process: Numba writes it into names."""

    def __repr__(self) -> str:
        return repr(sorted(self))


def compiled(
    function: Any,
    inline: bool,
    options: dict[str, Any],
    keep: Callable[[bool], Any],
    vectors: bool = False,
) -> Kernel:
    """Both faces of a function.

    Args:
        vectors: whether its loops run over several numbers at once.
        keep: makes the cache of the inside (True) and of what Python calls.
    """
    options = options | {"fastmath": Flags(options["fastmath"])}
    outside = Kernel(function, options, _OutsideVectorCompiler if vectors else _OutsideCompiler)
    options = {**options, "forceinline": inline, "no_cpython_wrapper": True}

    def inside() -> KernelDispatcher:
        compiler = _InsideVectorCompiler if vectors else _InsideCompiler
        made = KernelDispatcher(function, options, compiler)
        made._cache = keep(True)
        return made

    outside.make_inside = inside
    outside._cache = keep(False)
    return outside


def load_inside(target: Any, bitcode: bytes, called: list[Inside]) -> Inside:
    """The inside of a kernel from its bitcode and the kernels that it calls."""
    library = Inside(target.codegen(), "tabi")
    library._final_module = llvm.parse_bitcode(bitcode)
    library.called = dict.fromkeys(called)
    library._finalize_final_module()
    return library


def rebuild_inside(target: Any, library: Inside, *code: Any) -> Any:
    """Rebuild Numba's CompileResult of a kernel's inside from its code and the stored parts."""
    fndesc, env, signature, objectmode, lifted, annotation, reload_init = code
    library._reload_init.update(reload_init)
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
