"""Kernels by ``numba.njit`` alone: ``TABI_JIT=plain``.

tabi's own compiler (``compilation``) is quicker, but uses names that Numba may change from one
release to the next. This module does without them, so that tabi runs on releases that it was not
tested with: the same source, the same results up to rounding. Every start compiles again, as
Numba's own cache does not notice a change in a function that a cached function calls.
"""

from __future__ import annotations

import functools
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from tabi.jit import slots
from tabi.jit.callback import result_type
from tabi.jit.numba_private import cgutils, event, impl_ret_borrowed
from tabi.jit.progress import first_run, no_garbage

# its signature in the stubs has no place for options by name
njit: Any = numba.njit
# functions that are compiled for the step of a humanoid on the ground
STEP_FUNCTIONS = 400


class _Ticks(event.Listener):
    """Counts functions that were compiled, for the line of seconds left."""

    def on_start(self, event: Any) -> None: ...

    def on_end(self, event: Any) -> None:
        first_run.tick()


def compiled(function: Any, options: dict[str, Any], apart: str = "", views: bool = False) -> Any:
    """A kernel, with the options of ``numba.njit``.

    Args:
        apart: the type of its result, if it is to be compiled when it is first called.
        views: whether it returns arrays.
    """
    first_run.plain = True
    made = njit(**options, **({} if views else _uncounted()))(function)
    return called_apart(made, result_type(apart)) if apart else made


@functools.cache
def _uncounted() -> dict[str, bool]:
    """The options that leave the counting of references out, a tenth of the time to compile, where
    this Numba has them; they are not documented.
    """
    options = {"_nrt": False, "no_cfunc_wrapper": True}
    try:
        njit(**options)(lambda: 0)
    except Exception:
        return {}
    return options


class _Slot(slots.Slot):
    """Place for the address of a C function that calls a kernel for arguments of certain types."""

    def __init__(self, kernel: Any, kinds: types.Tuple, result: Any) -> None:
        plain = kernel.py_func
        super().__init__(f"{plain.__module__}.{plain.__qualname__}")
        self.kernel, self.kinds, self.result, self.function = kernel, kinds, result, None

    def fill(self) -> None:
        """Compile the kernel and store its address."""
        kernel, kinds, result = self.kernel, self.kinds, self.result

        @intrinsic
        def arguments(typing: Any, place: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                kind = context.get_value_type(kinds).as_pointer()
                structure = builder.load(builder.inttoptr(args[0], kind))
                return impl_ret_borrowed(context, builder, kinds, structure)

            return kinds(types.intp), code

        @intrinsic
        def give(typing: Any, place: Any, value: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                kind = context.get_value_type(result).as_pointer()
                builder.store(args[1], builder.inttoptr(args[0], kind))
                return context.get_dummy_value()

            return types.none(types.intp, result), code

        def call(args, out):
            give(out, kernel(*arguments(args)))  # ty: ignore[missing-argument]

        with first_run, no_garbage():
            self.function = numba.cfunc(types.void(types.intp, types.intp))(call)
            self.cell.value = self.function.address


def called_apart(kernel: Any, result: Any) -> Any:
    """A Python function in place of a kernel, which kernels call by an address: it is compiled when
    that is first needed, and its callers do not contain it.
    """

    @functools.wraps(kernel.py_func)
    def outside(*args: Any) -> Any:
        return kernel(*args)

    @functools.cache
    def slot(kinds: tuple[Any, ...]) -> _Slot:
        return _Slot(kernel, types.Tuple(kinds), result)

    @intrinsic
    def call(typing: Any, args: Any) -> Any:
        kinds = tuple(map(types.unliteral, args))

        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            word, place = ir.IntType(64), slot(kinds).place
            argument = cgutils.alloca_once(builder, values[0].type)
            returned = cgutils.alloca_once(builder, context.get_value_type(result))
            builder.store(values[0], argument)
            builder.store(ir.Constant(returned.type.pointee, None), returned)
            cell = ir.Constant(word, place).inttoptr(slots.BYTES.as_pointer())
            with slots.address(builder, cell) as address:
                kind = ir.FunctionType(ir.VoidType(), (word, word)).as_pointer()
                pointers = [builder.ptrtoint(argument, word), builder.ptrtoint(returned, word)]
                builder.call(builder.bitcast(address, kind), pointers)
            return builder.load(returned)

        return result(types.Tuple(kinds)), code

    @overload(outside, strict=False)
    def inside(*args: Any) -> Any:
        return lambda *args: call(args)  # ty: ignore[missing-argument]

    return outside


def entry(kernel: Any, *args: Any) -> Any:
    """Compile a kernel for arguments like these, with a line about it."""
    if not kernel.signatures:
        listen = event.install_listener("numba:compile", _Ticks())
        with first_run.expecting(STEP_FUNCTIONS), first_run, no_garbage(), listen:
            kernel.compile(tuple(map(numba.typeof, args)))
    return kernel


def address(kernel: Any, structure: Any) -> int:
    """Address of a C function that calls a kernel with a structure, for ``callback.call_with``."""
    kind = numba.typeof(structure)

    @intrinsic
    def at(typing: Any, where: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(kind))

        return kind(types.intp), code

    @numba.cfunc(types.int32(types.voidptr, types.voidptr, types.intp))
    def call(result, fault, where):
        kernel(at(where))  # ty: ignore[missing-argument]
        return 0

    _alive.append(call)
    return int(call.address or 0)


# functions whose addresses were handed out
_alive: list[Any] = []
