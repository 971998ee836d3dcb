"""A Python function that kernels call by its address, in the middle of what takes long.

The address is a number like others, so compiled code stays the same whoever is called. Python takes
its lock back for the call, also from kernels that have let it go.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import config, types
from numba.extending import intrinsic

PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int64)


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


# call the kernel at an address (``_jit.address``) with the structure at another
call_with: Any = _called_with
# what the function at an address returns
call: Any = _called if config.DISABLE_JIT else _compiled  # type: ignore[attr-defined]
