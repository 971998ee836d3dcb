"""Identity of a kernel: digests of its content, the same in every process.

Compiled code is kept on disk and linked by name. Three digests identify it:

- ``own_digest``: of a kernel's bytecode and options and of all values that it names. Other kernels
  that it names enter by their labels alone: what they do is in their own code.
- ``whole``: the same with all that these kernels do, and those that they name, and so on, up to
  kernels that are compiled apart.
- ``label``: module, name and a tag of what the kernel closes over, which distinguishes kernels that
  one function makes. In one process a kernel of the package has one content; the tag of a kernel
  of a user's own file, which may be read again after a change, has its content too.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Callable, Iterator
from opcode import opmap
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tabi.jit.numba_private import _Intrinsic, serialize

PACKAGE_NAME = "tabi"
# objects of these packages are identified by their names
FIXED = frozenset({"builtins", "math", "numba", "numpy", "llvmlite"})
NUMBERS = (bool, int, float, complex, str, bytes, type(None), np.generic)
# where a plain function keeps the options of its kernel
OPTIONS = "_kernel_options"
# of bytecode: reading a global, whose argument counts in twos, and an attribute, which does so from
# Python 3.12 on
CACHE, EXTENDED, GLOBAL = opmap["CACHE"], opmap["EXTENDED_ARG"], opmap["LOAD_GLOBAL"]
ATTRIBUTE = {opmap["LOAD_ATTR"]: int(sys.version_info >= (3, 12))}
if "LOAD_METHOD" in opmap:
    ATTRIBUTE[opmap["LOAD_METHOD"]] = 0

Label = tuple[str, str, str]
Describe = Callable[[Any], Any]


def own_digest(function: Any) -> str:
    """Digest of a function in which the kernels it names stand by their labels.

    Raises:
        ValueError: if it closes over a value without a digest.
    """

    def describe(kernel: Any) -> Any:
        plain = _plain(kernel)
        # a caller fills in what it leaves out itself
        return (label(plain), repr(plain.__defaults__))

    return _digest(_content(function, describe))


def whole(function: Any) -> str:
    """Digest of a function and of all kernels that it reaches.

    Raises:
        ValueError: if one of them closes over a value without a digest.
    """
    return _whole_own(function) if _root(function) == PACKAGE_NAME else _whole(function, ())


def label(function: Any) -> Label:
    """Module, name and tag of a function, by which others name it.

    Raises:
        ValueError: if it closes over a value without a digest.
    """
    return (function.__module__, function.__qualname__, _tag(function))


def tag(function: Any) -> str:
    """The tag of a function, or "" if it closes over a value without a digest."""
    try:
        return _tag(function)
    except ValueError:
        return ""


def named(function: Any) -> dict[Label, Any]:
    """Kernels that a function names, by their labels."""
    kernels: dict[Label, Any] = {}

    def note(kernel: Any) -> None:
        if hasattr(kernel, "py_func"):
            kernels[label(kernel.py_func)] = kernel

    _content(function, note)
    return kernels


def reached(function: Any) -> dict[Label, Any]:
    """All kernels that a function names, that these name, and so on, up to those that are compiled
    apart.
    """
    kernels = named(function)
    ahead = list(kernels.values())
    while ahead:
        kernel = ahead.pop()
        if getattr(kernel, "apart", None) is None:
            new = {k: v for k, v in named(kernel.py_func).items() if k not in kernels}
            kernels |= new
            ahead += new.values()
    return kernels


def _digest(description: Any) -> str:
    return hashlib.sha256(repr(description).encode()).hexdigest()[:16]


def _root(function: Any) -> str:
    return (function.__module__ or "").partition(".")[0]


def _plain(kernel: Any) -> Any:
    return getattr(kernel, "py_func", kernel)


@functools.cache
def _whole_own(function: Any) -> str:
    # the package does not change in a process
    return _whole(function, ())


def _whole(function: Any, around: tuple[Any, ...]) -> str:
    """Digest of a function and all it reaches; it may name itself or those ``around`` it."""
    around = (*around, function)

    def describe(kernel: Any) -> Any:
        plain = _plain(kernel)
        if getattr(kernel, "apart", None) is not None:
            # what it does is in code of its own
            return (label(plain), str(kernel.apart))
        if plain in around:
            return ("again", around.index(plain))
        if _root(plain) == PACKAGE_NAME:
            return _whole_own(plain)
        # of kernels by other means than tabi's
        options = getattr(kernel, "targetoptions", {})
        read = {name: sorted(v) if isinstance(v, set) else v for name, v in options.items()}
        return (_whole(plain, around), sorted(read.items()))

    return _digest((function.__module__, function.__qualname__, _content(function, describe)))


def _tag(function: Any) -> str:
    return _tag_own(function) if _root(function) == PACKAGE_NAME else _whole(function, ())


@functools.cache
def _tag_own(function: Any) -> str:
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return _digest([_canonical(cell, lambda kernel: label(_plain(kernel))) for cell in cells])


def _content(function: Any, describe: Describe) -> tuple[Any, ...]:
    """Everything that a function consists of; kernels that it names as ``describe`` has them."""
    codes, at = list(_codes(function.__code__)), function.__globals__
    names = sorted({name for code in codes for name in global_names(code)})
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return (
        [_code(code) for code in codes],
        getattr(function, OPTIONS, None),
        _canonical((function.__defaults__, *(function.__kwdefaults__ or {}).items()), describe),
        [(name, _canonical(_value(at, name), describe)) for name in names if name[0] in at],
        [_canonical(cell, describe) for cell in cells],
    )


def global_names(code: CodeType) -> set[tuple[str, ...]]:
    """Globals that a code reads, each with the attributes that are read from it at once:
    ``("math", "sqrt")``.
    """
    result, names, extended = set(), code.co_names, 0
    chain: tuple[str, ...] = ()
    for op, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        if op == CACHE:
            continue
        argument = extended | low
        extended = argument << 8 if op == EXTENDED else 0
        if op == EXTENDED:
            continue
        if op in ATTRIBUTE and chain:
            chain = (*chain, names[argument >> ATTRIBUTE[op]])
            continue
        result |= {chain}
        chain = (names[argument >> 1],) if op == GLOBAL else ()
    return result - {()}


def _value(at: dict[str, Any], name: tuple[str, ...]) -> Any:
    """Value of a name, as far as it leads through modules, with the rest of the name."""
    value = at[name[0]]
    for i, inner in enumerate(name[1:], 1):
        if not isinstance(value, ModuleType) or not hasattr(value, inner):
            return (value, name[i:])
        value = getattr(value, inner)
    return value


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code and those of the functions written inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _code(code: CodeType) -> tuple[Any, ...]:
    # the first constant of a function is its description, which changes nothing
    first = 1 if code.co_consts and isinstance(code.co_consts[0], str) else 0
    constants = [repr(x) for x in code.co_consts[first:] if not isinstance(x, CodeType)]
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars)


def _canonical(value: Any, describe: Describe) -> Any:
    """A value as objects whose ``repr`` is the same in every process."""
    if isinstance(value, _Intrinsic):
        value = value._defn
    plain = _plain(value)
    if isinstance(plain, FunctionType):
        by_name = (plain.__module__, plain.__qualname__)
        return by_name if _by_name(plain, value) else (*by_name, describe(value))
    if isinstance(value, NUMBERS):
        return (type(value).__name__, repr(value))
    if isinstance(value, tuple):
        return (type(value).__name__, *(_canonical(item, describe) for item in value))
    if isinstance(value, ModuleType):
        return ("module", value.__name__)
    if isinstance(value, type):
        return (value.__module__, value.__qualname__, getattr(value, "_fields", ()))
    try:
        return hashlib.sha256(serialize.dumps(value)).hexdigest()
    except Exception as error:  # pickle has no error of its own for all that it cannot do
        raise ValueError(f"{value!r} has no digest that is the same in every process") from error


def _by_name(plain: Any, value: Any) -> bool:
    """Whether the name of a function is enough: kernels do not call plain functions of the package,
    but for those that write code themselves, which belong to the compiler.
    """
    return _root(plain) in FIXED or (_root(plain) == PACKAGE_NAME and plain is value)
