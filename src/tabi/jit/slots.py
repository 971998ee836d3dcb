"""Places for the addresses of kernels that are compiled when they are first called.

Where such a kernel is called, the code is

    address ← slot;   if address = 0: fill(slot), address ← slot;   call address

``fill`` asks Python, which compiles the kernel, or reads it from the cache. A kernel that cannot be
compiled is not called: its result is zero, ``failed()`` is true for the kernels around it, which
return a status, and Python raises a ``KernelError`` as soon as it goes on.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import threading
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from tabi._errors import KernelError
from tabi.jit.callback import failed_cell

FILL = "tabi.fill"
# address that stands for a kernel that cannot be compiled
FAILED_ADDRESS = 1
# delay after which an interrupt is repeated
INTERRUPT_DELAY_S = 0.01
BYTES, WORD = ir.IntType(8).as_pointer(), ir.IntType(64)


class Slot:
    """Place for the address of one kernel.

    Attributes:
        name: of the kernel, for messages. place: where this lies. cell: the address in it.
        error: what is raised if it cannot be compiled.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        # the address, and the class of the error if there is none
        self.memory = (ctypes.c_void_p * 2)()
        self.cell = ctypes.c_void_p.from_buffer(self.memory)
        self.place = ctypes.addressof(self.memory)
        self.error: type[KernelError] | None = None
        _all[self.place] = self

    def fill(self) -> None:
        """Compile the kernel, or read it."""
        raise NotImplementedError


_all: dict[int, Slot] = {}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _fill(address: int) -> None:
    """For machine code, which cannot go on without: an interrupt waits for the kernel."""
    slot, interrupted = _all[address], False
    while not slot.cell.value:
        try:
            slot.fill()
        except KeyboardInterrupt:
            interrupted = True
        except BaseException as error:
            slot.error = _error_class(slot, error)
            slot.memory[:] = FAILED_ADDRESS, id(slot.error)
    if interrupted:
        # when this function has returned: machine code has no use for an error
        threading.Timer(INTERRUPT_DELAY_S, _thread.interrupt_main).start()


def _error_class(slot: Slot, error: BaseException) -> type[KernelError]:
    """Exception class for a kernel that cannot be compiled: a class, as Python makes the exception
    itself where machine code has returned.
    """
    reason = str(error).strip().splitlines()
    message = (
        f"{slot.name} cannot be compiled ({type(error).__name__}: "
        f"{reason[0] if reason else 'no reason given'}); the result of this call is not valid"
    )

    class RaisedError(KernelError):
        def __init__(self) -> None:
            super().__init__(message)
            self.__cause__ = error

    RaisedError.__name__ = RaisedError.__qualname__ = KernelError.__name__
    return RaisedError


# functions of Python's C interface that raise it
RAISING = (
    "PyGILState_Ensure", "PyThread_get_thread_ident", "PyThreadState_SetAsyncExc",
    "PyGILState_Release",
)  # fmt: skip
for name in RAISING:
    target = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    llvm.add_symbol(name, target)
llvm.add_symbol(FILL, ctypes.cast(_fill, ctypes.c_void_p).value)


@contextlib.contextmanager
def address(builder: Any, cell: Any) -> Iterator[Any]:
    """Code that runs with the address in a slot, which is filled if it is empty; it does not run
    where that fails.
    """
    kind = ir.FunctionType(ir.VoidType(), (BYTES,))
    empty = builder.icmp_unsigned("==", builder.load(cell), ir.Constant(BYTES, None))
    with builder.if_then(empty, likely=False):
        builder.call(_function(builder, kind, FILL), (builder.bitcast(cell, BYTES),))
    target = builder.load(cell)
    filled = builder.icmp_unsigned("!=", target, ir.Constant(WORD, FAILED_ADDRESS).inttoptr(BYTES))
    with builder.if_else(filled, likely=True) as (there, missing):
        with missing:
            _raise(builder, cell)
        with there:
            yield target


def _function(builder: Any, kind: Any, name: str) -> Any:
    return builder.module.globals.get(name) or ir.Function(builder.module, kind, name)


def _raise(builder: Any, cell: Any) -> None:
    """Code that raises the error of a slot in this thread of Python's, when machine code has
    returned. The callback cannot: it would be raised within.
    """
    number = ir.IntType(32)
    thread = ir.IntType(8 * ctypes.sizeof(ctypes.c_ulong))

    def call(name: str, result: Any, *args: Any) -> Any:
        kind = ir.FunctionType(result, [argument.type for argument in args])
        return builder.call(_function(builder, kind, name), args)

    lock = call(RAISING[0], number)
    error = builder.load(builder.gep(cell, [ir.Constant(number, 1)]))
    call(RAISING[2], number, call(RAISING[1], thread), error)
    call(RAISING[3], ir.VoidType(), lock)
    builder.store(ir.Constant(ir.IntType(64), 1), failed_cell(builder))
