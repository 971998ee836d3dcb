"""From typed Python to LLVM's code, the short way for what kernels do most.

Numba writes down forty instructions for ``a[i]``, fifty to begin a loop and twenty around each call
in case the called function raised something; LLVM then takes nearly all of them out again. Kernels
index arrays by numbers, count by ones and never raise. So these are written as they end up, which
takes a third off the time to compile. Everything else goes Numba's way.
"""

from __future__ import annotations

import functools
from typing import Any

from llvmlite import ir as llvm_ir

from tabi.jit.numba_private import (
    callconv,
    cgutils,
    imputils,
    ir,
    lowering,
    register_pass,
    typed_passes,
    types,
)

WORD = llvm_ir.IntType(64)
DATA, SHAPE, STRIDES = 4, 5, 6


class KernelLower(lowering.Lower):
    """Writes the code of one kernel."""

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """The beginning of a loop that counts by ones; all else as Numba does."""
        if expr.op != "getiter" or not self._by_ones(expr.value):
            return super().lower_expr(resty, expr)
        build: Any = self.builder
        number = resty.yield_type
        start, stop, step = cgutils.unpack_tuple(build, self.loadvar(expr.value.name), 3)
        left = build.sub(stop, start)
        none = llvm_ir.Constant(left.type, 0)
        compare = build.icmp_signed if number.signed else build.icmp_unsigned
        state = cgutils.create_struct_proxy(resty)(self.context, build)
        state.iter, state.count = (cgutils.alloca_once(build, left.type) for _ in range(2))
        state.stop, state.step = stop, step
        build.store(start, state.iter)
        build.store(build.select(compare(">", stop, start), left, none), state.count)
        return state._getvalue()

    def _by_ones(self, loop: Any) -> bool:
        """Whether a variable is range(stop) or range(start, stop)."""
        made = self.func_ir.get_definition(loop)
        if not (isinstance(made, ir.Expr) and made.op == "call" and len(made.args) < 3):
            return False
        return getattr(self.typeof(made.func.name), "typing_key", None) is range

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Operators, by the signature that typing found."""
        left, right = expr.lhs.name, expr.rhs.name
        if not (expr.static_lhs is ir.UNDEFINED and expr.static_rhs is ir.UNDEFINED):
            return super().lower_binop(resty, expr, op)
        signature = self.fndesc.calltypes[expr]
        values = [
            self.context.cast(self.builder, self.loadvar(name), self.typeof(name), wanted)
            for name, wanted in zip((left, right), signature.args, strict=True)
        ]
        op_signature = _signature(self.context.typing_context, op, signature.args)
        kind = self.context.typing_context.resolve_value_type(op)
        result = self.context.get_function(kind, op_signature)(self.builder, values)
        return self.context.cast(self.builder, result, op_signature.return_type, resty)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """An item of an array at as many numbers as it has dimensions."""
        kind, at = self.typeof(value.name), self.typeof(index.name)
        if not _full(kind, at):
            return super().lower_getitem(resty, expr, value, index, signature)
        place = self._place(kind, self.loadvar(value.name), at, self.loadvar(index.name))
        item = self.context.unpack_value(
            self.builder, kind.dtype, place, None if kind.aligned else 1
        )
        return self.context.cast(self.builder, item, kind.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Store an item of an array at as many numbers as it has dimensions."""
        kind, at = self.typeof(target_var.name), self.typeof(index_var.name)
        if not _full(kind, at) or not isinstance(kind.dtype, types.Number | types.Boolean):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value, value_type = self.loadvar(value_var.name), self.typeof(value_var.name)
        value = self.context.cast(self.builder, value, value_type, kind.dtype)
        place = self._place(kind, self.loadvar(target_var.name), at, self.loadvar(index_var.name))
        align = None if kind.aligned else 1
        return self.context.pack_value(self.builder, kind.dtype, value, place, align)

    def _place(self, kind: types.Array, array: Any, at: Any, index: Any) -> Any:
        """Address of an item; negative indices count from the end."""
        build, context = self.builder, self.context
        shape = build.extract_value(array, SHAPE)
        numbers = [(at, index)]
        if isinstance(at, types.BaseTuple):
            numbers = list(zip(_parts(at), cgutils.unpack_tuple(build, index), strict=True))
        offset = None
        for i, (number, value) in enumerate(numbers):
            size = build.extract_value(shape, i)
            value = context.cast(build, value, number, types.intp)
            if getattr(number, "signed", False):
                below = build.icmp_signed("<", value, llvm_ir.Constant(WORD, 0))
                value = build.select(below, build.add(value, size), value)
            if kind.layout != "C":
                value = build.mul(value, build.extract_value(array, (STRIDES, i)))
            if offset is None:
                offset = value
            else:
                offset = build.add(build.mul(offset, size) if kind.layout == "C" else offset, value)
        data = build.extract_value(array, DATA)
        if kind.layout == "C":
            return build.gep(data, [offset], inbounds=True)
        address = build.gep(build.bitcast(data, llvm_ir.IntType(8).as_pointer()), [offset])
        return build.bitcast(address, data.type)


@functools.cache
def _signature(context: Any, op: Any, args: Any) -> Any:
    return context.resolve_value_type(op).get_call_type(context, args, {})


def _full(kind: Any, at: Any) -> bool:
    """Whether an array of a kind is indexed to a single item."""
    if type(kind) is not types.Array or kind.layout == "F":
        return False
    numbers = _parts(at) if isinstance(at, types.BaseTuple) else (at,)
    return len(numbers) == kind.ndim and all(isinstance(x, types.Integer) for x in numbers)


def _parts(kind: Any) -> tuple[Any, ...]:
    """Types in a type of tuples."""
    return tuple(kind)


def insert_kernel(context: Any, entry: Any, fndesc: Any, libraries: Any) -> None:
    """Let a target context know a kernel, and how it is called: it never raises."""

    def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        convention = context.call_conv
        function = context.declare_function(builder.module, fndesc)
        result = cgutils.alloca_once(builder, convention.get_return_type(fndesc.restype).pointee)
        fault = cgutils.alloca_once(builder, llvm_ir.PointerType(callconv.excinfo_t))
        numbers = convention._get_arg_packer(fndesc.argtypes).as_arguments(builder, args)
        builder.call(function, [result, fault, *numbers])
        returned = context.get_returned_value(builder, fndesc.restype, builder.load(result))
        return imputils.impl_ret_new_ref(context, builder, fndesc.restype, returned)

    known: Any = call
    known.signature, known.libs = fndesc.argtypes, tuple(libraries)
    context._defns[entry].append(known, known.signature)


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(typed_passes.BaseNativeLowering):
    """The pass that uses it."""

    def run_pass(self, state: Any) -> bool:
        """Write the code of a kernel, and let others call it."""
        context = state.targetctx
        context.insert_user_function = functools.partial(insert_kernel, context)
        return super().run_pass(state)

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        """Class that lowers kernels."""
        return KernelLower
