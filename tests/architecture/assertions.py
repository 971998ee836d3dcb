"""Asserts that may never run: a test whose every assert stands in a loop or behind an ``if`` passes
where the loop goes over nothing.

A test surely asserts where one of its statements does, read from top to bottom:

- ``assert``, ``pytest.raises``, ``np.testing…``, and functions of the tests that surely assert;
- an ``if`` of which both sides do, and a loop that surely has a turn: over a literal, a range of
  constants, or a name that stands for one.

Whatever else has its asserts in a loop says first how many turns it expects, or counts them.
"""

import ast
import functools
import operator
from collections.abc import Iterable

from architecture.rules import Function, functions, parse

# what goes over as many things as it is given, and what makes numbers from constants
PASSED_ON = {"enumerate", "zip", "sorted", "list", "tuple", "set", "reversed", "product", "array"}
PASSED_ON |= {"combinations", "permutations", "items", "keys", "values", "asarray", "concatenate"}
RANGES, COUNTED = {"range", "arange"}, {"linspace", "geomspace", "logspace", "uniform", "integers"}

ASSERTING = {"pytest.raises", "pytest.warns", "pytest.fail"}

# what a call in them may never be reached in
CONDITIONAL = (ast.Lambda, ast.IfExp, ast.ListComp, ast.GeneratorExp, ast.DictComp)

Names = dict[str, ast.expr]


def conditional_tests(source: str, asserting: set[str]) -> list[str]:
    """Tests of a file whose asserts may never run.

    Args:
        asserting: names of functions that assert whenever they are called.
    """
    tree = parse(source)
    names, known = values_in(tree.body), asserting | always_asserting(source, asserting)
    return [
        f"{test.lineno}: {test.name} has no assert that surely runs"
        for test in functions(tree)
        if test.name.startswith("test_") and not surely(test.body, names, known)
    ]


def always_asserting(source: str, asserting: Iterable[str] = ()) -> set[str]:
    """Functions at the top of a file that assert whenever they are called."""
    tree, known = parse(source), set(asserting)
    names = values_in(tree.body)
    tops = [n for n in tree.body if isinstance(n, Function) and not n.name.startswith("test_")]
    found: set[str] = set()
    # once more for those that are written above what they call
    for _ in range(2):
        found |= {f.name for f in tops if surely(f.body, names, known | found)}
    return found


def values_in(statements: list[ast.stmt]) -> Names:
    """What names are set to, once and for all, among these statements."""
    values: Names = {}
    for node in statements:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        else:
            continue
        if isinstance(target, ast.Name):
            values[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = zip(target.elts, value.elts, strict=False)
            values |= {t.id: v for t, v in pairs if isinstance(t, ast.Name)}
    return values


def surely(statements: list[ast.stmt], names: Names, known: set[str]) -> bool:
    """Whether one of these statements asserts, whatever happens."""
    names = names | values_in(statements)
    for node in statements:
        if _one(node, names, known):
            return True
        if isinstance(node, ast.If) and surely(node.body, names, known):
            # whoever takes this side has asserted, the others go on
            continue
        if _leaves(node):
            # what follows may not be reached
            return False
    return False


@functools.cache
def _leaves(node: ast.AST) -> bool:
    """Whether the function may end in this statement."""
    if isinstance(node, Function | ast.ClassDef | ast.Lambda):
        return False
    return isinstance(node, ast.Return) or any(map(_leaves, ast.iter_child_nodes(node)))


def _one(node: ast.stmt, names: Names, known: set[str]) -> bool:
    match node:
        case ast.Assert():
            return not isinstance(node.test, ast.Constant)
        case ast.If():
            both = node.orelse and surely(node.orelse, names, known)
            return bool(both) and surely(node.body, names, known)
        case ast.For():
            turns = has_a_turn(node.iter, names) and surely(node.body, names, known)
            return turns or surely(node.orelse, names, known)
        case ast.While():
            return _begins(node.test, names) and surely(node.body, names, known)
        case ast.With():
            called = any(_calls(item.context_expr, known) for item in node.items)
            return called or surely(node.body, names, known)
        case ast.Try():
            parts = (node.body, node.orelse, node.finalbody)
            return any(surely(part, names, known) for part in parts)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Match():
            return False
    return _calls(node, known)


def _calls(node: ast.AST, known: set[str]) -> bool:
    """Whether a function that asserts is called in an expression, outside of lambdas and loops."""
    return any(
        name in known or name in ASSERTING or ".testing." in name for name in _names_called(node)
    )


@functools.cache
def _names_called(node: ast.AST) -> frozenset[str]:
    """Names of the functions that an expression calls, outside of lambdas and loops."""
    names: set[str] = set()
    remaining = [node]
    while remaining:
        part = remaining.pop()
        if isinstance(part, ast.Call):
            names.add(_dotted(part.func))
        if not isinstance(part, CONDITIONAL):
            remaining += ast.iter_child_nodes(part)
    return frozenset(names)


def _dotted(node: ast.expr) -> str:
    """The name of what is called; empty where it has none."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def has_a_turn(node: ast.expr, names: Names) -> bool:
    """Whether a loop over this surely has a turn."""
    match node:
        case ast.Tuple() | ast.List() | ast.Set():
            return any(not isinstance(one, ast.Starred) for one in node.elts) or any(
                isinstance(one, ast.Starred) and has_a_turn(one.value, names) for one in node.elts
            )
        case ast.Dict():
            return bool(node.keys)
        case ast.Constant():
            return isinstance(node.value, str | bytes) and bool(node.value)
        case ast.Name():
            # a name that is set from itself stands for nothing known
            rest = {name: value for name, value in names.items() if name != node.id}
            return node.id in names and has_a_turn(names[node.id], rest)
        case ast.BinOp(op=ast.Add() | ast.BitOr()):
            return has_a_turn(node.left, names) or has_a_turn(node.right, names)
        case ast.BinOp():
            return has_a_turn(node.left, names)
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
            return all(not g.ifs and has_a_turn(g.iter, names) for g in node.generators)
        case ast.Call():
            return _made(node, names)
    return False


def _made(node: ast.Call, names: Names) -> bool:
    """Whether what a call gives has a turn."""
    called = ast.unparse(node.func).rpartition(".")[2]
    if called in PASSED_ON:
        given = [node.func.value] if called in ("items", "keys", "values") else node.args
        turns = [has_a_turn(one, names) for one in given if not _number(one, names)]
        # of things of the same length, one is enough
        strict = any(word.arg == "strict" and word.value.value for word in node.keywords)
        return any(turns) if strict or called == "concatenate" else bool(turns) and all(turns)
    sizes = [word.value for word in node.keywords if word.arg == "size"]
    if called in COUNTED and len(node.args) > 2:
        sizes = [node.args[2]]
    if called in ("eye", "ndindex"):
        sizes = node.args
    if sizes:
        each = [n for size in sizes for n in (size.elts if isinstance(size, ast.Tuple) else [size])]
        return all((_number(n, names) or 0) > 0 for n in each)
    if called in RANGES:
        match node.args:
            # so many from any number on
            case [start, ast.BinOp(op=ast.Add(), left=first, right=count)]:
                same = ast.unparse(start) == ast.unparse(first)
                return same and (_number(count, names) or 0) > 0
        numbers = [_number(one, names) for one in node.args]
        if any(number is None for number in numbers):
            return False
        start, stop, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
        return (stop - start) * step > 0
    return called in COUNTED - {"uniform", "integers"}


def _begins(test: ast.expr, names: Names) -> bool:
    """Whether a condition of constants holds at first."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Lt):
        ends = (_number(test.left, names), _number(test.comparators[0], names))
        return None not in ends and ends[0] < ends[1]
    return isinstance(test, ast.Constant) and bool(test.value)


def _number(node: ast.expr, names: Names) -> float | None:
    """The value of a constant expression."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub()):
            value = _number(node.operand, names)
            return None if value is None else -value
        case ast.Name():
            rest = {name: value for name, value in names.items() if name != node.id}
            return _number(names[node.id], rest) if node.id in names else None
        case ast.BinOp():
            left, right = _number(node.left, names), _number(node.right, names)
            if left is None or right is None:
                return None
            return _computed(left, node.op, right)
        case ast.Call(func=ast.Name(id="int" | "round"), args=[one]):
            return _number(one, names)
        case ast.Call(func=ast.Name(id="len"), args=[one]):
            return 1 if has_a_turn(one, names) else None
    return None


def _computed(left: float, op: ast.operator, right: float) -> float | None:
    signs = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
    signs |= {ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Pow: operator.pow}
    return signs[type(op)](left, right) if type(op) in signs else None
