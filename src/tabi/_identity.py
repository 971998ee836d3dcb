"""What tells two kernels apart, the same in every process.

Compiled code is kept on disk and linked by name, so a kernel's name has to say which code it is.
A kernel of the package is told by its module, its name and what it closes over: the folder of the
cache knows the sources. A kernel of a user's own file, handed into a function of the package that
makes kernels, is told by its content: its bytecode and constants, and all that it names.
"""

import hashlib
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core import serialize

OWN = "tabi"
# what these hold is told by its name
FIXED = frozenset({OWN, "builtins", "math", "numba", "numpy"})
NUMBERS = (bool, int, float, complex, str, bytes, type(None), np.generic)


def closure(function: Callable[..., Any]) -> tuple[Any, ...]:
    """What a function closes over: kernels as this module tells them, all else by its value.

    Raises:
        ValueError: if it closes over something that cannot be told.
    """
    return _closure(function, (), {})


def tag(function: Callable[..., Any]) -> str:
    """A short name for what a function is, beyond its module and name, or "" if it cannot be told;
    the same for the same code in every process.
    """
    try:
        told = closure(function) if _root(function) == OWN else _content(function, {})
    except ValueError:
        return ""
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def _root(function: Callable[..., Any]) -> str:
    return (function.__module__ or "").partition(".")[0]


def _closure(function: Any, names: tuple[str, ...], seen: dict[Any, int]) -> tuple[Any, ...]:
    return tuple(_told(cell.cell_contents, names, seen) for cell in function.__closure__ or ())


def _content(function: Any, seen: dict[Any, int]) -> tuple[Any, ...]:
    """All that a function of a user's own file is made of; it may name itself."""
    if id(function) in seen:
        return ("again", seen[id(function)])
    seen[id(function)] = len(seen)
    codes = _codes(function.__code__)
    names = tuple(sorted({name for code in codes for name in code.co_names}))
    named = [name for name in names if name in function.__globals__]
    return (
        tuple(map(_code, codes)),
        _told((function.__defaults__, *(function.__kwdefaults__ or {}).items()), names, seen),
        tuple((name, _told(function.__globals__[name], names, seen)) for name in named),
        _closure(function, names, seen),
    )


def _codes(code: CodeType) -> list[CodeType]:
    """A code and those of the functions written inside of it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [code, *(found for one in inner for found in _codes(one))]


def _code(code: CodeType) -> tuple[Any, ...]:
    constants = [repr(value) for value in code.co_consts if not isinstance(value, CodeType)]
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars)


def _told(value: Any, names: tuple[str, ...], seen: dict[Any, int]) -> Any:
    """A value, in what ``repr`` writes alike in every process; of a module, what is among
    ``names``.
    """
    plain = getattr(value, "py_func", value)
    if isinstance(plain, FunctionType):
        named = (plain.__module__, plain.__qualname__)
        if _root(plain) == OWN:
            return (*named, _closure(plain, (), seen))
        options = {} if plain is value else getattr(value, "inside", value).targetoptions
        # a set of strings has another order in every process
        read = {name: sorted(v) if isinstance(v, set) else v for name, v in options.items()}
        fixed = _root(plain) in FIXED
        return named if fixed else (*named, sorted(read.items()), _content(plain, seen))
    if isinstance(value, NUMBERS):
        return (type(value).__name__, repr(value))
    if isinstance(value, tuple):
        return (type(value).__name__, *(_told(item, names, seen) for item in value))
    if isinstance(value, ModuleType):
        return _module(value, names, seen)
    if isinstance(value, type):
        return (value.__module__, value.__qualname__)
    try:
        return hashlib.sha256(serialize.dumps(value)).hexdigest()
    except Exception as error:  # pickle has no error of its own for all that it cannot do
        raise ValueError(f"{value!r} cannot be told") from error


def _module(module: ModuleType, names: tuple[str, ...], seen: dict[Any, int]) -> tuple[Any, ...]:
    name = module.__name__
    if name.partition(".")[0] in FIXED or (id(module), names) in seen:
        return ("module", name)
    # modules may hold each other; another function names other things of the same module
    seen[id(module), names] = len(seen)
    held = [other for other in names if other in vars(module)]
    return ("module", name, *((other, _told(vars(module)[other], names, seen)) for other in held))
