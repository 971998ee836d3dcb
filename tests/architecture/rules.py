"""The house rules that a program can check: each takes source text and returns its faults,
'line: what'.

``circles`` takes a whole package.

Sources are parsed, never imported, so the whole set takes a second.
"""

import ast
import contextlib
import functools
import gc
import re
from collections.abc import Iterator

LONGEST_FILE, LONGEST_FUNCTION, LONGEST_KERNEL, MOST_PARAMETERS = 400, 50, 80, 10
# of a command
MOST_OPTIONS = 14
VAGUE_NAMES = {"utils", "common", "helpers", "core", "manager"}
ALLOCATORS = {
    "zeros",
    "ones",
    "empty",
    "full",
    "array",
    "asarray",
    "arange",
    "linspace",
    "eye",
    "concatenate",
    "stack",
    "copy",
}
ALLOCATORS |= {"zeros_like", "ones_like", "empty_like", "full_like"}
CONTAINERS = {"list", "dict", "set", "bytearray"}
DISPLAYS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.Dict, ast.Set, ast.GeneratorExp)
# written in pieces, so that this file keeps its own rules
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
WORKPLACE = re.compile(
    r"(?<![\w.])/(wo" r"rk|ro" r"ot)/|\bissue" r" #|\bsub" r"agent|\bhel" r"per-", re.IGNORECASE
)

# what simulators are called
SIMULATORS = {"sim", "_sim", "simulator"}

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = {ast.FunctionDef, ast.AsyncFunctionDef}


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Make what is kept anyway without a search for garbage, which takes longer than the rest."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@functools.cache
def parse(source: str) -> ast.Module:
    """Return the tree of a text; the same one again where it was asked for before."""
    with without_collection():
        return ast.parse(source)


@functools.cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Everything in a tree, as ``ast.walk`` finds it."""
    with without_collection():
        return tuple(ast.walk(tree))


@functools.cache
def functions(tree: ast.AST) -> tuple[Function, ...]:
    """Every function, nested ones too."""
    return tuple(node for node in nodes(tree) if type(node) in FUNCTIONS)


def dotted(node: ast.expr) -> str:
    """Return a name with dots between its parts; empty if there is more to it."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return owner and f"{owner}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@functools.cache
def kernels(tree: ast.AST) -> list[Function]:
    """Functions under @kernel or @kernel(…)."""

    def is_kernel(decorator: ast.expr) -> bool:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        return getattr(target, "id", getattr(target, "attr", None)) == "kernel"

    return [
        function for function in functions(tree) if any(map(is_kernel, function.decorator_list))
    ]


def long_files(source: str) -> list[str]:
    count = len(source.splitlines())
    return [f"1: {count} lines, at most {LONGEST_FILE}"] if count > LONGEST_FILE else []


def long_functions(source: str) -> list[str]:
    tree, faults = parse(source), []
    compiled = kernels(tree)
    for function in functions(tree):
        limit = LONGEST_KERNEL if function in compiled else LONGEST_FUNCTION
        if lines_of(function) <= limit:
            continue
        # functions inside are counted by themselves
        inner = [
            f for f in ast.walk(function) if isinstance(f, ast.FunctionDef) and f is not function
        ]
        count = lines_of(function) - sum(map(lines_of, inner))
        if is_command(function):
            # options with their help are a table, not a method
            count -= function.body[0].lineno - function.lineno
        if count > limit:
            faults.append(f"{function.lineno}: {function.name} has {count} lines, at most {limit}")
    return faults


def lines_of(function: ast.FunctionDef) -> int:
    return (function.end_lineno or 0) - function.lineno + 1


def many_parameters(source: str) -> list[str]:
    faults = []
    for function in functions(parse(source)):
        a = function.args
        names = [
            arg.arg
            for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
            if arg and arg.arg not in ("self", "cls")
        ]
        most = MOST_OPTIONS if is_command(function) else MOST_PARAMETERS
        if len(names) > most:
            faults.append(
                f"{function.lineno}: {function.name} has {len(names)} parameters, at most {most}"
            )
    return faults


def is_command(function: ast.FunctionDef) -> bool:
    """Whether its parameters are options of a command line."""
    # a plain name has no dot
    annotations = (arg.annotation for arg in function.args.args)
    notes = (ast.unparse(x) for x in annotations if x and not isinstance(x, ast.Name))
    return any("typer.Option" in note or "typer.Argument" in note for note in notes)


def undocumented(source: str) -> list[str]:
    """Public functions, classes and methods without a docstring; a file of kernels without one."""
    tree, faults = parse(source), []
    if kernels(tree) and not ast.get_docstring(tree):
        faults.append(
            "1: a file of kernels without a docstring; it opens with the problem and its equations"
        )
    for place in (
        tree,
        *(
            node
            for node in tree.body
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        ),
    ):
        for node in place.body:
            if (
                isinstance(node, Function | ast.ClassDef)
                and not node.name.startswith("_")
                and not ast.get_docstring(node)
            ):
                faults.append(f"{node.lineno}: {node.name} has no docstring")
    return faults


def kernel_faults(source: str) -> list[str]:
    """What a kernel must not do: raise, allocate, or use linalg."""
    tree = parse(source)
    bare = {
        alias.asname or alias.name
        for node in nodes(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numpy")
        for alias in node.names
        if alias.name in ALLOCATORS
    }

    def fault(node: ast.AST) -> str | None:
        if isinstance(node, ast.Raise | ast.Assert):
            return "raises"
        if isinstance(node, ast.Attribute) and node.attr == "linalg":
            return "uses linalg"
        if isinstance(node, DISPLAYS) or (
            isinstance(node, ast.List) and isinstance(node.ctx, ast.Load)
        ):
            return "allocates a container"
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Attribute) and called.attr in ALLOCATORS:
                return f"allocates with .{called.attr}()"
            if isinstance(called, ast.Name) and called.id in bare | CONTAINERS:
                return f"allocates with {called.id}()"
        return None

    return [
        f"{getattr(node, 'lineno', function.lineno)}: kernel {function.name} {what}"
        for function in kernels(tree)
        for node in ast.walk(function)
        if (what := fault(node))
    ]


def unfinished(text: str) -> list[str]:
    return _lines_with(UNFINISHED, text)


def workplace(text: str) -> list[str]:
    """Paths of one machine, and talk of the workshop instead of the work."""
    return _lines_with(WORKPLACE, text)


def _lines_with(pattern: re.Pattern[str], text: str) -> list[str]:
    return [
        f"{i}: {found.group()!r}"
        for i, line in enumerate(text.splitlines(), 1)
        if (found := pattern.search(line))
    ]


def checkers(source: str) -> set[str]:
    """Functions of a test file that assert on behalf of tests:
    named check_… or assert_…, and asserting themselves.
    """
    found = [
        function
        for function in functions(parse(source))
        if function.name.startswith(("check_", "assert_"))
    ]
    return {function.name for function in found if _asserts(function, set())}


def tests_without_assert(source: str, known_checkers: set[str]) -> list[str]:
    tests = [function for function in functions(parse(source)) if function.name.startswith("test_")]
    return [
        f"{test.lineno}: {test.name} asserts nothing"
        for test in tests
        if not _asserts(test, known_checkers)
    ]


def _asserts(function: Function, known_checkers: set[str]) -> bool:
    asserting = known_checkers | {"pytest.raises", "pytest.warns"}
    for node in ast.walk(function):
        if isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant):
            return True
        if isinstance(node, ast.Call):
            name = dotted(node.func) or ast.unparse(node.func)
            if name in asserting or name.startswith(("np.testing.", "numpy.testing.")):
                return True
    return False


def defines_something(source: str) -> bool:
    """Whether a module has a public function or class, or a kernel, of its own."""
    tree = parse(source)
    return bool(kernels(tree)) or any(
        isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_")
        for node in tree.body
    )


def modules_named(source: str) -> set[str]:
    """Dotted names that a test file imports or spells out."""
    names: set[str] = set()
    for node in nodes(parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute):
            names.add(dotted(node))
    return names


def private_reaches(source: str) -> list[str]:
    """Private fields of a simulator that another package reads or writes;
    ``sim.data`` is there for it.
    """
    faults = []
    for node in nodes(parse(source)):
        if (
            isinstance(node, ast.Attribute)
            and node.attr.startswith("_")
            and not node.attr.startswith("__")
        ):
            owner = getattr(node.value, "id", getattr(node.value, "attr", ""))
            if owner in SIMULATORS:
                faults.append(f"{node.lineno}: {owner}.{node.attr}")
    return faults


def class_names(source: str) -> list[str]:
    """Classes of a module."""
    return [node.name for node in parse(source).body if isinstance(node, ast.ClassDef)]


def circles(files: dict[str, str]) -> list[str]:
    """Import cycles among the modules of one package, each as 'a → b → a',
    the shortest through every module that is in one.

    All imports count: at the top, inside functions, and under TYPE_CHECKING.

    Args:
        files: source text by dotted name, a package by its own name:
            "tabi.model" for its __init__.py.
    """
    edges = {name: _imported(name, source, files) - {name} for name, source in files.items()}
    found: dict[frozenset[str], str] = {}
    for start in sorted(files):
        way = _way_back(start, edges)
        if way:
            found.setdefault(frozenset(way), " → ".join([*way, start]))
    return list(found.values())


def _imported(name: str, source: str, files: dict[str, str]) -> set[str]:
    """The modules among these files that one of them imports."""
    package = (
        name if any(other.startswith(name + ".") for other in files) else name.rpartition(".")[0]
    )
    found: set[str] = set()
    for node in nodes(parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # one dot is the package itself, each further dot the one around it
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            base = ".".join(part for part in (above, node.module) if part)
            submodules = {f"{base}.{alias.name}" for alias in node.names}
            found |= submodules
            if not submodules <= files.keys():
                found.add(base)
    return found & files.keys()


def _way_back(start: str, edges: dict[str, set[str]]) -> list[str]:
    """The shortest way over the edges from a module back to itself, without its end;
    empty without one.
    """
    ways: list[list[str]] = [[start]]
    seen: set[str] = set()
    while ways:
        way = ways.pop(0)
        for name in sorted(edges[way[-1]]):
            if name == start:
                return way
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return []
