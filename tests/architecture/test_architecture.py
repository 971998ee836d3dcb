"""The house rules of CONTRIBUTING.md on this repository;
and for every rule, a text that breaks it.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from architecture import rules

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks", ".ci")
PACKAGES = sorted(path.parent.name for path in ROOT.glob("src/tabi/*/__init__.py"))


def texts(*folders: str, suffix: str = "") -> dict[Path, str]:
    """Text files by path, relative to the repository."""
    found = {}
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*" + suffix)):
            if path.is_file() and "__pycache__" not in path.parts:
                try:
                    found[path.relative_to(ROOT)] = path.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    continue  # a picture
    return found


SOURCES = texts("src", suffix=".py")
STEP = Path("src/tabi/step")
TESTS = texts("tests", suffix=".py")
EVERYTHING = texts(*FOLDERS) | {
    path.relative_to(ROOT): path.read_text(encoding="utf-8")
    for path in sorted(ROOT.iterdir())
    # .git is a file in a worktree
    if path.is_file() and path.name != ".git"
}


def check_rule(rule: Callable[[str], list[str]], files: dict[Path, str]) -> None:
    """Assert that no file breaks a rule, and list every place that does."""
    faults = [f"{path}:{fault}" for path, text in files.items() for fault in rule(text)]
    assert not faults, "\n" + "\n".join(faults)


# ---- this repository ----------------------------------------------------------------------------


def test_sources_are_found():
    assert Path("src/tabi/jit/decorator.py") in SOURCES
    assert Path("tests/architecture/rules.py") in TESTS
    assert Path("README.md") in EVERYTHING


def test_no_source_file_is_too_long():
    check_rule(rules.long_files, SOURCES)


def test_no_function_is_too_long():
    check_rule(rules.long_functions, SOURCES)


def test_no_function_has_too_many_parameters():
    check_rule(rules.many_parameters, SOURCES)


def test_everything_public_has_a_docstring():
    check_rule(rules.undocumented, SOURCES)


def test_kernels_neither_raise_nor_allocate_nor_use_linalg():
    check_rule(rules.kernel_faults, SOURCES)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_modules_of_a_package_import_each_other_in_a_circle(package):
    whole = f"tabi.{package}"
    files = {
        name: text
        for path, text in SOURCES.items()
        if (name := dotted(path)) == whole or name.startswith(whole + ".")
    }
    assert files
    found = rules.circles(files)
    assert not found, "\n" + "\n".join(found)


def test_nobody_reaches_into_a_simulator_from_another_package():
    own = {"step", "observation", "simulation"}
    others = {path: text for path, text in SOURCES.items() if not own & set(path.parts)}
    check_rule(rules.private_reaches, others)


def test_a_class_name_stands_for_one_thing():
    homes: dict[str, list[str]] = {}
    for path, text in SOURCES.items():
        for name in rules.class_names(text):
            if not name.startswith("_"):
                homes.setdefault(name, []).append(str(path))
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


# the kernels from a rollout to its law, each of which calls the next
WAY = {
    "rollout.py": ("rollout",),
    "step.py": ("step", "solve", "find_points", "find_velocities", "conclude"),
    "free_motion.py": ("free_motion",),
    "solving.py": ("solve_contacts", "solve_groups", "solve_group"),
    "assembly.py": ("assemble",),
    "laws/coulomb.py": ("solve",),
}


def test_the_step_fits_on_a_screen_and_the_way_from_rollout_to_law_on_four():
    lines = {
        (file, function.name): rules.lines_of(function)
        for file, names in WAY.items()
        for function in rules.functions(rules.parse(SOURCES[STEP / file]))
        if function.name in names
    }
    assert len(lines) == sum(map(len, WAY.values()))
    assert max(lines.values()) <= 40
    assert sum(lines.values()) <= 200


def dotted(path: Path) -> str:
    """The name under which a source file is imported."""
    return ".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__")


def test_no_module_has_a_vague_name():
    vague = [
        path
        for path in SOURCES | TESTS
        if rules.VAGUE_NAMES & {part.removesuffix(".py").removeprefix("_") for part in path.parts}
    ]
    assert vague == []


def test_nothing_is_left_unfinished():
    check_rule(rules.unfinished, EVERYTHING)


def test_no_file_speaks_of_the_place_it_was_written_at():
    check_rule(rules.workplace, EVERYTHING)


def test_every_test_asserts():
    checkers = set().union(*map(rules.checkers, TESTS.values()))
    tests = {path: text for path, text in TESTS.items() if path.name.startswith("test_")}
    assert len(tests) > 10
    check_rule(lambda text: rules.tests_without_assert(text, checkers), tests)


def test_every_module_has_a_test():
    missing = untested(SOURCES, TESTS)
    assert not missing, "no test file has the name of, or imports,\n" + "\n".join(missing)


def untested(sources: dict[Path, str], tests: dict[Path, str]) -> list[str]:
    """Modules that neither have a test file of their name nor are named in one;
    mjcf_geoms is a part of mjcf, and formats.mjcf.geoms of formats.mjcf.reader.
    """
    named = set().union(*map(rules.modules_named, tests.values()))
    files = {path.name for path in tests}
    missing = []
    for path, text in sources.items():
        module = dotted(path)
        stem = module.rpartition(".")[2].lstrip("_")
        whole = path.with_name(stem.partition("_")[0] + ".py")
        tested = f"test_{stem}.py" in files or (whole in sources and f"test_{whole.name}" in files)
        # the tests of a package or of its reader: not those of tabi.step, of all that is in it
        mirrors = {f"test_{path.parent.name}.py", "test_reader.py"}
        folder = Path("tests", *path.parts[2:-1])
        beside = {test.name for test in tests if test.parent == folder}
        tested |= module.count(".") > 2 and bool(mirrors & beside)
        if rules.defines_something(text) and module not in named and not tested:
            missing.append(module)
    return missing


# ---- every rule can be broken -------------------------------------------------------------------


def function_of(lines: int, decorator: str = "", parameters: str = "") -> str:
    return f"{decorator}def f({parameters}):\n" + "    x = 1\n" * (lines - 1)


def test_a_file_of_401_lines_is_too_long():
    assert rules.long_files("x = 1\n" * 400) == []
    assert rules.long_files("x = 1\n" * 401) == ["1: 401 lines, at most 400"]


def test_a_function_of_51_lines_is_too_long_and_a_kernel_of_81():
    assert rules.long_functions(function_of(50)) == []
    assert rules.long_functions(function_of(51)) == ["1: f has 51 lines, at most 50"]
    for decorator in ("@kernel\n", "@kernel(exact=True)\n", "@decorator.kernel\n"):
        assert rules.long_functions(function_of(80, decorator)) == []
        assert rules.long_functions(function_of(81, decorator)) == ["2: f has 81 lines, at most 80"]


def test_eleven_parameters_are_too_many_of_whatever_kind():
    ten = ", ".join(f"a{i}" for i in range(10))
    assert rules.many_parameters(function_of(2, parameters=ten)) == []
    assert rules.many_parameters(function_of(2, parameters="self, " + ten)) == []
    for more in (f"{ten}, b", f"b, /, {ten}", f"{ten}, *b", f"{ten}, *, b", f"{ten}, **b"):
        assert rules.many_parameters(function_of(2, parameters=more)) == [
            "1: f has 11 parameters, at most 10"
        ]


def test_options_of_a_command_are_no_parameters_but_have_an_end_too():
    options = [f"a{i}: Annotated[int, typer.Option(help='one')] = 0" for i in range(15)]
    assert rules.many_parameters(function_of(2, parameters=", ".join(options[:14]))) == []
    assert rules.many_parameters(function_of(2, parameters=", ".join(options))) == [
        "1: f has 15 parameters, at most 14"
    ]
    # a table of options in lines of their own is not counted, what follows is
    for rows, faults in ((50, []), (51, ["1: f has 51 lines, at most 50"])):
        source = "def f(\n" + ",\n".join(options[:9]) + "\n):\n" + "    x = 1\n" * rows
        assert rules.long_functions(source) == faults


def test_a_missing_docstring_is_found_on_functions_classes_methods_and_files_of_kernels():
    assert rules.undocumented("def _f(): pass\nclass _C:\n    def m(self): pass\n") == []
    assert rules.undocumented("def f(): pass\n") == ["1: f has no docstring"]
    assert rules.undocumented("class C:\n    '''c'''\n    def m(self): pass\n") == [
        "3: m has no docstring"
    ]
    assert rules.undocumented("@kernel\ndef _f(): pass\n")[0].startswith(
        "1: a file of kernels without a docstring"
    )


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("raise ValueError", "raises"),
        ("assert a > 0", "raises"),
        ("b = np.linalg.solve(a, a)", "uses linalg"),
        ("b = np.zeros(3)", "allocates with .zeros()"),
        ("b = numpy.empty_like(a)", "allocates with .empty_like()"),
        ("b = empty(3)", "allocates with empty()"),
        ("b = a.copy()", "allocates with .copy()"),
        ("b = [a, a]", "allocates a container"),
        ("b = [x for x in a]", "allocates a container"),
        ("b = list(a)", "allocates with list()"),
        ("b = {1: a}", "allocates a container"),
    ],
)
def test_a_kernel_that_raises_or_allocates_is_found(line, fault):
    source = f"from numpy import empty\n@kernel\ndef f(a):\n    {line}\n"
    assert f"4: kernel f {fault}" in rules.kernel_faults(source)
    assert rules.kernel_faults(source.replace("@kernel\n", "")) == []


def test_a_kernel_on_tuples_is_no_fault():
    body = "    x, y = a[0], (1.0, 2.0)\n    out[0], out[1] = y\n    return x\n"
    assert rules.kernel_faults(f"@kernel\ndef f(a, out):\n{body}") == []


def test_a_reach_into_a_simulator_is_found():
    source = "x = sim._v\nself._sim._room = 1\nsim.data.q\nsim.__dict__\nself._sim.data"
    assert rules.private_reaches(source) == ["1: sim._v", "2: _sim._room"]


def test_unfinished_work_and_workplaces_are_found():
    assert rules.unfinished("fine\n# TO" + "DO later") == ["2: 'TO" + "DO'"]
    for words in (
        "/wo" + "rk/main",
        "see '/ro" + "ot/x'",
        "Issue" + " #2",
        "a sub" + "agent",
        "hel" + "per-3",
    ):
        assert len(rules.workplace(words)) == 1
    assert rules.workplace("https://example.org/roots/a, a helper of frame/work, issues") == []


@pytest.mark.parametrize(
    "body",
    [
        "x = 1",
        "assert True",
        "model.check_velocity('v', 1)",
        "check_nothing(1)",
        "print('assert 1 == 1')",
        "np.allclose(1, 2)",
    ],
)
def test_a_test_without_an_assertion_is_found(body):
    helper = "def check_nothing(x):\n    return x == 1\n"
    checkers = rules.checkers(helper)
    assert rules.tests_without_assert(f"def test_x():\n    {body}\n", checkers) == [
        "1: test_x asserts nothing"
    ]


@pytest.mark.parametrize(
    "body",
    [
        "assert f() == 1",
        "with pytest.raises(ValueError): f()",
        "np.testing.assert_allclose(1, 1)",
        "check_one(1)",
    ],
)
def test_a_test_with_an_assertion_is_accepted(body):
    checkers = rules.checkers("def check_one(x):\n    assert x == 1\n")
    assert rules.tests_without_assert(f"def test_x():\n    {body}\n", checkers) == []


def test_a_module_without_a_test_is_found():
    sources = {
        Path("src/tabi/spatial/new.py"): "def f(): pass\n",
        Path("src/tabi/spatial/_kept.py"): "@kernel\ndef _f(): pass\n",
    }
    assert untested(sources, {Path("tests/test_other.py"): "import os\n"}) == [
        "tabi.spatial.new",
        "tabi.spatial._kept",
    ]
    assert untested(sources, {Path("tests/test_new.py"): "", Path("tests/test_kept.py"): ""}) == []
    for imported in (
        "from tabi.spatial import new, _kept",
        "import tabi.spatial.new\nfrom tabi.spatial._kept import f",
        "tabi.spatial.new.f(tabi.spatial._kept.g)",
    ):
        assert untested(sources, {Path("tests/test_other.py"): imported}) == []
    assert untested({Path("src/tabi/x.py"): "X = 1\ndef _f(): pass\n"}, {}) == []


def test_a_circle_of_imports_is_found_wherever_they_stand():
    files = {
        "p": "x = 1\n",
        "p.low": "import os\nimport numpy as np\n",
        "p.a": "from p import low\nfrom p.b import f\n",
        "p.b": "def f():\n    from p import c\n",
        "p.c": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a import A\n",
    }
    assert rules.circles(files) == ["p.a → p.b → p.c → p.a"]
    assert rules.circles(files | {"p.c": "from p.low import x\n"}) == []
    for closed in (
        "import p.a\n",
        "from . import a\n",
        "from .a import A\n",
        "from p import low, a\n",
    ):
        assert rules.circles(files | {"p.c": closed}) == ["p.a → p.b → p.c → p.a"]


def test_two_circles_are_told_apart_and_packages_count_by_their_own_imports():
    files = {
        "p.a": "import p.b",
        "p.b": "import p.a",
        "p.c": "import p.d, p.a",
        "p.d": "import p.c",
    }
    assert rules.circles(files) == ["p.a → p.b → p.a", "p.c → p.d → p.c"]
    assert rules.circles({"p": "from p.a import f", "p.a": "from p import g"}) == ["p → p.a → p"]
    assert rules.circles({"p": "from p.a import f", "p.a": "from p import b", "p.b": "x = 1"}) == []
    inner = {
        "p.q": "from p.q.a import f",
        "p.q.a": "from .. import low",
        "p.low": "from .q import f",
    }
    assert rules.circles(inner) == ["p.low → p.q → p.q.a → p.low"]
