"""A Python function that kernels call by its address, in the middle of what takes long.

The address is a number like others, so compiled code is the same for every callback. Python takes
its lock (GIL) back for the call, also from kernels that have released it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.extending import intrinsic

from tabi.jit.numba_private import config, types

PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int64)
# 1 when a kernel that was called could not be compiled (``units``), and where machine code sees it
FAILED, FAILED_SYMBOL = ctypes.c_int64(0), "tabi.failed"
llvm.add_symbol(FAILED_SYMBOL, ctypes.addressof(FAILED))


class Callback:
    """A function without arguments that returns a whole number, as kernels see it.

    Attributes:
        address: for ``call``; good as long as this object lives. An error that leaves the function
            is printed, and 0 returned.
    """

    def __init__(self, function: Callable[[], int]) -> None:
        self._function = PROTOTYPE(function)
        self.address = int(ctypes.cast(self._function, ctypes.c_void_p).value or 0)


def _called(address: int) -> int:
    return PROTOTYPE(address)()


@intrinsic
def _compiled(typing: Any, address: Any) -> Any:
    word = ir.IntType(64)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = builder.inttoptr(args[0], ir.FunctionType(word, ()).as_pointer())
        return builder.call(function, ())

    return types.int64(types.int64), code


@intrinsic
def _called_with(typing: Any, code: Any, structure: Any) -> Any:
    # by Numba's own convention a function is handed places for its result, which is none, and for
    # an error, which kernels have not
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.IntType(32), (byte, byte, byte))

    def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = builder.inttoptr(args[0], kind.as_pointer())
        places = [builder.alloca(byte) for _ in range(2)]
        pointers = [builder.bitcast(place, byte) for place in places]
        builder.call(function, (*pointers, builder.inttoptr(args[1], byte)))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), made


def failed_cell(builder: Any) -> Any:
    """Global variable in which machine code reports that a kernel could not be compiled."""
    module, word = builder.module, ir.IntType(64)
    return module.globals.get(FAILED_SYMBOL) or ir.GlobalVariable(module, word, FAILED_SYMBOL)


@intrinsic
def _read_failed(typing: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = builder.load(failed_cell(builder))
        return builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0))

    return types.boolean(), code


@intrinsic
def _clear_failed(typing: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(ir.Constant(ir.IntType(64), 0), failed_cell(builder))
        return context.get_dummy_value()

    return types.none(), code


def _set_false() -> None:
    FAILED.value = 0


# whether a kernel could not be compiled since ``clear_failed``; for kernels
failed: Any = (lambda: FAILED.value != 0) if config.DISABLE_JIT else _read_failed  # ty: ignore[missing-attribute]
clear_failed: Any = _set_false if config.DISABLE_JIT else _clear_failed  # ty: ignore[missing-attribute]
# call the kernel at an address (``decorator.address``) with the structure at another
call_with: Any = _called_with
# what the function at an address returns
call: Any = _called if config.DISABLE_JIT else _compiled  # ty: ignore[missing-attribute]


def result_type(names: str) -> Any:
    """Numba's type of a name, such as none, boolean, int64, float64; of several a tuple."""
    kinds = [getattr(types, name) for name in names.split(", ")]
    return types.Tuple(kinds) if len(kinds) > 1 else kinds[0]
