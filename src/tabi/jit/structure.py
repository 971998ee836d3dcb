"""Many arrays that a kernel is handed as one address.

Numba hands over every array as seven numbers of its own. A step works on some 250 arrays: taking
them apart costs more than the step itself, and each call from kernel to kernel takes thousands of
arguments to compile. A ``Structure`` writes down once, in one piece of memory, where its arrays lie
and how long they are; kernels get the address of that and read what they use.

    class Cloud(Structure):
        position: NDArray[np.float64]
        grid: Grid                             # another structure

In a kernel ``cloud.position[i]`` and ``cloud.grid.cell[k]`` read as in Python. The arrays of a
structure never change, only what is in them: so a compiler may read the memory once and keep what
it read. What kernels make themselves are named tuples; a structure may hold those too.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self, cast, dataclass_transform

import numpy as np
from llvmlite import ir
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox
from numpy.typing import NDArray

from tabi._renamed import renamed_keys, warn_renamed
from tabi.jit.numba_private import (
    AttributeTemplate,
    cgutils,
    get_itemsize,
    impl_ret_borrowed,
    infer_getattr,
    lower_getattr_generic,
    types,
)

WORD = ir.IntType(64)


@dataclass_transform(frozen_default=True)
class Structure:
    """Base of classes whose annotated fields are arrays, structures, or tuples of arrays; one that
    is made from another has the other's fields first.

    Attributes:
        renamed: old name of a field → new name; kernels and Python read both for one release.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    renamed: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, renamed: Mapping[str, str] | None = None) -> None:
        cls.renamed = {**cls.renamed, **(renamed or {})}
        cls._fields = (*cast(Any, cls.__bases__[0])._fields, *inspect.get_annotations(cls))

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = self._fields
        if not self.renamed.keys().isdisjoint(named):
            named = renamed_keys(type(self).__name__, named, self.renamed)
        values_by_name = dict(zip(fields, values, strict=False)) | named
        if len(values) + len(named) != len(fields) or values_by_name.keys() != set(fields):
            raise TypeError(f"{type(self).__name__} takes {', '.join(fields)}")
        self.__dict__.update((name, values_by_name[name]) for name in fields)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is fixed; see _replace")

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in self._fields)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), tuple(self))

    def _replace(self, **changed: Any) -> Self:
        """The same with other arrays under some of the names."""
        changed = renamed_keys(type(self).__name__, changed, self.renamed)
        return type(self)(**{name: getattr(self, name) for name in self._fields} | changed)

    def __getattr__(self, name: str) -> Any:
        if name in self.renamed:
            warn_renamed(type(self).__name__, name, self.renamed[name])
            return getattr(self, self.renamed[name])
        # what kernels are handed is made when the first one asks
        if name not in ("_numba_type_", "_memory", "_address"):
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        kind, memory = _type_of(self), np.array(list(_words(self)), np.uint64)
        made = {"_numba_type_": kind, "_memory": memory, "_address": memory.ctypes.data}
        self.__dict__.update(made)
        return made[name]


def arrays_of(value: Any) -> Iterator[NDArray[Any]]:
    """All arrays of structures and tuples, in their order."""
    if isinstance(value, np.ndarray):
        yield value
    else:
        for part in value:
            yield from arrays_of(part)


def each(value: Any, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Any:
    """The same structures and tuples, with every array changed."""
    if isinstance(value, np.ndarray):
        return change(value)
    parts = [each(part, change) for part in value]
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


def _words(value: Any) -> Iterator[int]:
    """Yield the address of an array, its number of items, shape and strides; of tuples and
    structures all of their parts.
    """
    if isinstance(value, np.ndarray):
        yield from (value.ctypes.data, value.size, *value.shape, *value.strides)
    else:
        for part in value:
            yield from _words(part)


def _type_of(value: Structure) -> StructureType:
    names = (value._fields, tuple(value.renamed.items()))
    return _type(type(value).__name__, *names, tuple(map(_kind, value)))


_kinds: dict[tuple[Any, ...], Any] = {}


def _kind(value: Any) -> Any:
    """Type of a field; Numba derives that of an array of records again each time."""
    if type(value) is not np.ndarray:
        return typeof_impl(value, None)
    f = value.flags
    key = (value.dtype, value.ndim, f.c_contiguous, f.f_contiguous, f.writeable, f.aligned)
    kind = _kinds.get(key)
    if kind is None:
        kind = _kinds[key] = typeof_impl(value, None)
    return kind


class StructureType(types.Type):
    """Type of a structure with fields of certain types.

    Attributes:
        names, fields: of its fields. places: name → first word and type.
        size: in words. renamed: old name of a field → new name.
    """

    def __init__(
        self,
        name: str,
        names: tuple[str, ...],
        renamed: tuple[tuple[str, str], ...],
        fields: tuple[types.Type, ...],
    ) -> None:
        self.made_from = (name, names, renamed, fields)
        self.renamed = dict(renamed)
        self.places: dict[str, tuple[int, types.Type]] = {}
        self.size = 0
        for label, field in zip(names, fields, strict=True):
            self.places[label] = (self.size, field)
            self.size += _size(field)
        content = hashlib.sha256(repr((names, [str(field) for field in fields])).encode())
        self.owner = name
        super().__init__(f"{name}_{content.hexdigest()[:16]}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_type, self.made_from)


@functools.cache
def _type(
    name: str,
    names: tuple[str, ...],
    renamed: tuple[tuple[str, str], ...],
    fields: tuple[types.Type, ...],
) -> StructureType:
    return StructureType(name, names, renamed, fields)


def _size(field: Any) -> int:
    """Words of a field."""
    if isinstance(field, types.Array):
        return 2 + 2 * field.ndim
    if isinstance(field, StructureType):
        return field.size
    if isinstance(field, types.BaseTuple):
        parts: Any = field
        return sum(map(_size, parts.types))
    raise TypeError(f"a structure holds arrays, structures and tuples of them, not {field}")


@typeof_impl.register(Structure)
def _typeof(value: Structure, context: Any) -> StructureType:
    return value._numba_type_


register_model(StructureType)(models.OpaqueModel)


@unbox(StructureType)
def _unbox(typ: StructureType, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "_address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(pointer, is_error=cgutils.is_null(c.builder, pointer))


@intrinsic
def _structure_at(typing: Any, address: Any, like: Any) -> Any:

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return like(types.int64, like), code


# the structure at an address, of the same type as another; for kernels
structure_at: Any = _structure_at


@infer_getattr
class _Fields(AttributeTemplate):
    key = StructureType

    def generic_resolve(self, typ: StructureType, name: str) -> types.Type | None:
        if name in typ.renamed:
            warn_renamed(typ.owner, name, typ.renamed[name])
        return typ.places.get(typ.renamed.get(name, name), (0, None))[1]


@lower_getattr_generic(StructureType)
def _get(context: Any, builder: Any, typ: StructureType, value: Any, name: str) -> Any:
    place, field = typ.places[typ.renamed.get(name, name)]
    return impl_ret_borrowed(context, builder, field, _load(context, builder, field, value, place))


def _load(context: Any, builder: Any, field: Any, base: Any, place: int) -> Any:
    """A field, from the word ``place`` of a structure on."""
    if isinstance(field, StructureType):
        return builder.gep(base, [ir.Constant(WORD, 8 * place)])
    if isinstance(field, types.Array):
        return _load_array(context, builder, field, base, place)
    parts = []
    for part in field.types:
        parts.append(_load(context, builder, part, base, place))
        place += _size(part)
    return context.make_tuple(builder, field, parts)


def _load_array(context: Any, builder: Any, field: types.Array, base: Any, place: int) -> Any:
    """An array as Numba has it: no owner, no parent, items, bytes of one, where, shape, strides;
    what follows from the type is not read.
    """
    whole = context.get_value_type(field)
    owner, parent, _, _, data, shape, _ = whole.elements
    size, dimensions = get_itemsize(context, field), range(field.ndim)
    undefined, known = ir.Constant(WORD, ir.Undefined), ir.Constant(WORD, size)
    last = field.ndim - 1 if field.layout == "C" else -1
    strides = [known if i == last else undefined for i in dimensions]
    start = [
        ir.Constant(owner, None), ir.Constant(parent, None), undefined, known,
        ir.Constant(data, ir.Undefined), ir.Constant(shape, ir.Undefined),
        ir.Constant(shape, strides),
    ]  # fmt: skip
    array = ir.Constant(whole, start)

    def word(i: int, kind: Any = WORD) -> Any:
        at = builder.gep(base, [ir.Constant(WORD, 8 * (place + i))])
        read = builder.load(builder.bitcast(at, kind.as_pointer()))
        read.set_metadata("invariant.load", builder.module.add_metadata([]))
        return read

    array = builder.insert_value(array, word(0, data), 4)
    array = builder.insert_value(array, word(1), 2)
    for i in dimensions:
        array = builder.insert_value(array, word(2 + i), (5, i))
        if i != last:
            array = builder.insert_value(array, word(2 + field.ndim + i), (6, i))
    return array
