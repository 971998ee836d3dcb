"""Kernels that are compiled apart from those that call them.

A kernel marked ``@kernel(apart="int64")``, with the type of its result, stands behind a *slot*: a
place in memory for an address. Callers know the slot alone, so both are compiled by different
processes, and a change of one leaves the other as it is. Its slot is filled when its caller is
there.

That of a kernel marked ``rare=True`` as well is filled when it is first called (``slots``). A step
can do much that a given world never needs, boxes on edges, the last means against jammed contacts:
that is not compiled until then. The name of a slot identifies the kernel and the types of its
arguments; code from the cache finds its slots by them.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.extending import models, register_model

from tabi.jit import identity, slots
from tabi.jit.numba_private import callconv, cgutils, cpu_target, imputils, templates, types
from tabi.jit.slots import BYTES

PREFIX = "tabi.apart."


class KernelSlot(slots.Slot):
    """Place for the address of a kernel for arguments of certain types."""

    def __init__(self, kernel: Any, args: tuple[Any, ...]) -> None:
        plain = kernel.py_func
        super().__init__(f"{plain.__module__}.{plain.__qualname__}")
        self.kernel, self.args = kernel, args
        try:
            self.label = identity.label(plain)
        except ValueError:
            # a value without a digest, such as a function of a C library: for this process only
            self.label = (plain.__module__, plain.__qualname__, f"at {id(plain)}")
        description = repr((self.label, [str(kind) for kind in args], str(kernel.apart)))
        self.symbol = PREFIX + hashlib.sha256(description.encode()).hexdigest()[:32]

    def fill(self) -> None:
        """Compile the kernel, or read it."""
        self.kernel.compile(self.args)
        code = self.kernel.overloads[self.args]
        if code.signature.return_type != self.kernel.apart:
            raise TypeError(
                f"{self.name} returns {code.signature.return_type}, "
                f"not {self.kernel.apart} as its apart=… says"
            )
        self.cell.value = code.library.get_pointer_to_function(code.fndesc.llvm_func_name)


_known: dict[str, KernelSlot] = {}


def slot(kernel: Any, args: tuple[Any, ...]) -> KernelSlot:
    """The slot of a kernel, which machine code finds by its symbol from now on."""
    made = KernelSlot(kernel, args)
    if made.symbol not in _known:
        _known[made.symbol] = made
        llvm.add_symbol(made.symbol, made.place)
    return _known[made.symbol]


def slots_of(module: Any) -> list[KernelSlot]:
    """Slots that a module of LLVM's refers to."""
    names = (variable.name for variable in module.global_variables)
    return [_known[name] for name in names if name.startswith(PREFIX)]


def known() -> dict[str, KernelSlot]:
    """Slots of all code in this process, by their symbols."""
    return dict(_known)


def fill_below(slots: list[KernelSlot]) -> None:
    """Fill some slots, and those of all that they lead to."""
    seen: set[str] = set()
    while slots:
        slot, *slots = slots
        if slot.symbol not in seen:
            seen.add(slot.symbol)
            if not slot.cell.value:
                slot.fill()
            slots += slot.kernel.slots(slot.args)


def fill_kept() -> None:
    """Fill the slots of all code in this process whose kernels are in the cache: a tenth of a
    second or two, which a run that keeps pace with a clock should not spend in the middle.
    """
    seen: set[str] = set()
    while new := [slot for name, slot in _known.items() if name not in seen]:
        seen |= {slot.symbol for slot in new}
        for slot in new:
            if not slot.cell.value and slot.kernel._cache.has(slot.args, slot.kernel.targetctx):
                slot.fill()


class Apart(types.Dispatcher):
    """Numba's type of such a kernel."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """The signature of a call."""
        if kws:
            raise TypeError(f"{self.dispatcher} is compiled apart and takes no arguments by name")
        kernel: Any = self.dispatcher
        return templates.signature(kernel.apart, *map(types.unliteral, args))

    def get_call_signatures(self) -> Any:
        """Return that any signature is possible."""
        return (), True

    def get_impl_key(self, sig: Any) -> Any:
        """Under which the code of a call is found."""
        return _call_of(slot(self.dispatcher, sig.args).symbol, sig)


register_model(Apart)(models.OpaqueModel)


@functools.cache
def _call_of(symbol: str, sig: Any) -> str:

    def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        convention, module = context.call_conv, builder.module
        result = cgutils.alloca_once(builder, convention.get_return_type(sig.return_type).pointee)
        fault = cgutils.alloca_once(builder, ir.PointerType(callconv.excinfo_t))
        cell = module.globals.get(symbol) or ir.GlobalVariable(module, BYTES, symbol)
        kind = convention.get_function_type(sig.return_type, sig.args)
        builder.store(ir.Constant(result.type.pointee, None), result)
        with slots.address(builder, cell) as address:
            function = builder.bitcast(address, kind.as_pointer())
            numbers = convention._get_arg_packer(sig.args).as_arguments(builder, args)
            builder.call(function, [result, fault, *numbers])
        returned = context.get_returned_value(builder, sig.return_type, builder.load(result))
        return imputils.impl_ret_new_ref(context, builder, sig.return_type, returned)

    made: Any = call
    made.signature, made.libs = sig.args, ()
    context: Any = cpu_target.target_context
    context._defns[symbol].append(made, sig.args)
    return symbol
