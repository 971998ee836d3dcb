"""Compiled code on disk is never old, never in the way, and never shared by mistake."""

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numba
import pytest
from fresh import DOT, NOTICE, code_in, copy_package, environment, run

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """A copy of the package."""
    return copy_package(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def filled(package, tmp_path_factory) -> Path:
    """A root of caches that one process has filled with the code of ``dot``."""
    root = tmp_path_factory.mktemp("filled")
    answer, said = run(
        package,
        DOT + "from tabi.spatial.vector import cross; cross((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))",
        TABI_CACHE_DIR=str(root),
    )
    assert answer["value"] == 32.0
    assert answer["seconds"] > 0
    # two kernels compiled, one line said
    assert said == NOTICE
    return root


@pytest.fixture
def own_root(filled, tmp_path) -> Path:
    """A copy of the filled root, to be spoilt."""
    return Path(shutil.copytree(filled, tmp_path / "root"))


# ---- compiled once -------------------------------------------------------------------------------


def test_second_process_compiles_nothing_and_says_nothing(package, filled):
    before = code_in(filled)
    answer, said = run(package, TABI_CACHE_DIR=str(filled))
    assert (answer["value"], answer["seconds"], said) == (32.0, 0.0, "")
    assert len(before) == 2
    assert code_in(filled) == before


def test_notice_can_be_silenced(package, tmp_path):
    answer, said = run(package, TABI_CACHE_DIR=str(tmp_path), TABI_QUIET="1")
    assert answer["seconds"] > 0
    assert said == ""


def test_functions_of_other_packages_are_neither_announced_nor_counted(package, tmp_path):
    foreign = "import numba\nimport tabi.jit.decorator\nvalue = numba.njit(lambda x: x + 1)(1)\n"
    answer, said = run(package, foreign, TABI_CACHE_DIR=str(tmp_path))
    assert (answer["value"], answer["seconds"], said) == (2, 0.0, "")


# ---- never old -----------------------------------------------------------------------------------


def test_callers_see_a_helper_that_changed_in_another_file(package, tmp_path):
    # the tip of an arm along x that spins about z moves along y
    code = (
        "from tabi.dynamics.jacobian import point_velocity\n"
        "value = point_velocity((0.0, 0.0, 1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0))\n"
    )
    vector = package / "spatial" / "vector.py"
    text = vector.read_text()
    old, new = "a[2] * b[0] - a[0] * b[2]", "a[0] * b[2] - a[2] * b[0]"
    assert text.count(old) == 1
    first, _ = run(package, code, TABI_CACHE_DIR=str(tmp_path))
    try:
        vector.write_text(text.replace(old, new))
        changed, _ = run(package, code, TABI_CACHE_DIR=str(tmp_path))
    finally:
        vector.write_text(text)
    again, said = run(package, code, TABI_CACHE_DIR=str(tmp_path))
    assert first["value"] == [0.0, 1.0, 0.0]
    assert changed["value"] == [0.0, -1.0, 0.0]
    # the way back finds the code of the first run
    assert (again["value"], again["seconds"], said) == (first["value"], 0.0, "")


def test_a_change_compiles_anew_what_it_reaches_and_no_more(package, tmp_path):
    code = (
        "from tabi.dynamics.jacobian import point_velocity\n"
        "value = point_velocity((0.0, 0.0, 1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0))\n"
    )
    vector = package / "spatial" / "vector.py"
    text = vector.read_text()
    run(package, code, TABI_CACHE_DIR=str(tmp_path))
    before = code_in(tmp_path)

    def changed(old, new):
        """Kernels that are compiled after a change."""
        assert text.count(old) == 1
        try:
            vector.write_text(text.replace(old, new))
            run(package, code, TABI_CACHE_DIR=str(tmp_path))
        finally:
            vector.write_text(text)
        return {name.split("-")[0] for name in code_in(tmp_path).keys() - before.keys()}

    cross = "a[2] * b[0] - a[0] * b[2]"
    # the kernel itself, and what Python calls, which has it inside
    assert changed(cross, f"2.0 * ({cross})") == {
        "tabi.spatial.vector.cross",
        "tabi.dynamics.jacobian.point_velocity",
    }
    # a comment, a description, and a kernel that is not among them
    before = code_in(tmp_path)
    assert changed("def dot(", "# about dot\n\n\ndef dot(") == set()


# ---- linked once ---------------------------------------------------------------------------------


MAKER = """
from tabi.jit import kernel


def times(factor):
    @kernel
    def scaled(x):
        return factor * x
    return scaled


def twice(law):
    @kernel
    def doubled(x):
        return law(x) + law(x)
    return doubled


double, triple = times(2.0), times(3.0)


@kernel
def leaf(x):
    return x + 1.0


@kernel
def middle(x):
    return 2.0 * leaf(x)


@kernel
def one(x):
    return double(x) + middle(x)


@kernel
def other(x):
    return triple(x) + middle(x)


@kernel
def both(x):
    return double(x) + 10.0 * triple(x) + 100.0 * middle(x)


@kernel
def above(x):
    return both(x)
"""


@pytest.fixture(scope="module")
def maker(tmp_path_factory) -> Path:
    """A copy of the package with kernels that call each other, and some made inside functions."""
    made = copy_package(tmp_path_factory.mktemp("maker"))
    (made / "maker.py").write_text(MAKER)
    return made


def calling(name: str) -> str:
    return f"from tabi import maker\nvalue = maker.{name}(1.0)\n"


def insides(root: Path) -> dict[str, tuple]:
    """Of each file that holds a kernel as other kernels see it: what it needs, and its bitcode."""
    files = {path.name: pickle.loads(path.read_bytes()) for path in root.glob("kernels-*/*.nbc")}
    found = ((name, called, bitcode) for name, (_, called, _, bitcode, _) in files.items())
    return {name: (called, bitcode) for name, called, bitcode in found if bitcode}


def inside(root: Path, kernel: str) -> Path:
    (name,) = (name for name in insides(root) if name.startswith(f"tabi.{kernel}-"))
    return next(root.glob(f"kernels-*/{name}"))


def test_a_kernel_is_kept_without_the_kernels_that_it_calls(maker, tmp_path):
    answer, _ = run(maker, calling("one"), TABI_CACHE_DIR=str(tmp_path))
    assert answer["value"] == 6.0
    found = insides(tmp_path)
    leaf, middle = (inside(tmp_path, f"maker.{name}").name for name in ("leaf", "middle"))
    ((label, _, symbol, _),) = found[middle][0]
    assert label[:2] == ("tabi.maker", "leaf")
    assert found[leaf][0] == ()
    names = [
        [function.name for function in module.functions if not function.is_declaration]
        for module in (llvm.parse_bitcode(found[name][1]) for name in (leaf, middle))
    ]
    # each holds itself, and the name by which the caller asks is the one that is there
    assert names[0] == [symbol]
    assert len(names[1]) == 1


def test_kernels_of_one_maker_compiled_by_different_processes_are_not_mixed_up(maker, tmp_path):
    # each process counts its functions alike: by the counts, these two would have one name
    for name, value in (("one", 6.0), ("other", 7.0)):
        answer, _ = run(maker, calling(name), TABI_CACHE_DIR=str(tmp_path))
        assert answer["value"] == value
    before = code_in(tmp_path)
    answer, _ = run(maker, calling("both"), TABI_CACHE_DIR=str(tmp_path))
    assert answer["value"] == 2.0 + 30.0 + 400.0
    # the inner kernels came from the files of the other processes
    after = code_in(tmp_path)
    assert before.items() <= after.items()
    assert {name.split("-")[0] for name in after.keys() - before.keys()} == {"tabi.maker.both"}
    again, _ = run(maker, calling("both"), TABI_CACHE_DIR=str(tmp_path))
    assert (again["value"], again["seconds"]) == (432.0, 0.0)


@pytest.mark.parametrize("spoil", ["lost", "empty", "of another kernel", "with another result"])
def test_a_spoilt_file_of_a_needed_kernel_is_compiled_anew(maker, tmp_path, spoil):
    run(maker, calling("one"), TABI_CACHE_DIR=str(tmp_path))
    leaf, middle = (inside(tmp_path, f"maker.{name}") for name in ("leaf", "middle"))
    whole, spoilt = pickle.loads(leaf.read_bytes()), leaf
    if spoil == "lost":
        leaf.unlink()
    elif spoil == "empty":
        leaf.write_bytes(b"")
    elif spoil == "of another kernel":
        leaf.write_bytes(middle.read_bytes())
    else:
        # a caller that knows the kernel as another than it is
        key, ((label, args, symbol, _),), *rest = pickle.loads(middle.read_bytes())
        called = ((label, args, symbol, numba.types.float32),)
        whole, spoilt = pickle.loads(middle.read_bytes()), middle
        middle.write_bytes(pickle.dumps((key, called, *rest)))
    for name, value in (("other", 7.0), ("both", 432.0)):
        answer, _ = run(maker, calling(name), TABI_CACHE_DIR=str(tmp_path))
        assert answer["value"] == value
    # but for how many functions the process had counted
    assert pickle.loads(spoilt.read_bytes())[:4] == whole[:4]


def test_code_is_linked_in_the_same_order_whichever_of_its_kernels_come_from_the_disk(
    maker, tmp_path
):
    # in another order LLVM inlines other calls, sums are rounded otherwise, and a run that another
    # process repeats ends elsewhere
    code = calling("above") + (
        "from tabi.jit import compilation\n"
        "library = next(iter(maker.above.overloads.values())).library\n"
        "value = [other.face[2] for other in compilation.reached(library)]\n"
    )

    def order(lost):
        for name in lost:
            for path in tmp_path.glob(f"kernels-*/tabi.maker.{name}-*"):
                path.unlink()
        return run(maker, code, TABI_CACHE_DIR=str(tmp_path), PYTHONHASHSEED=str(len(lost)))[0]

    first = order([])["value"]
    assert len(first) == 5
    for lost in (["above"], ["above", "middle"], ["above", "both", "leaf", "scaled"]):
        assert order(lost)["value"] == first


# ---- kernels of users' own files -----------------------------------------------------------------


LAW = """
from tabi.jit import kernel
import helper

GAIN = 3.0


@kernel
def law(x):
    return GAIN * x + helper.more(x)
"""
HELPER = """
from tabi.jit import kernel


@kernel
def more(x):
    return x + 0.5
"""


def test_kernel_built_from_a_users_kernel_sees_every_change_of_it(maker, tmp_path):
    code = "import law\nfrom tabi import maker\nvalue = maker.twice(law.law)(1.0)\n"
    settings = {
        "TABI_CACHE_DIR": str(tmp_path / "root"),
        "PYTHONPATH": f"{maker.parent}:{tmp_path}",
    }
    changes = [
        (LAW, HELPER, 9.0),
        # a number that it names, its own code, a kernel of another file that it calls
        (LAW.replace("GAIN = 3.0", "GAIN = 4.0"), HELPER, 11.0),
        (LAW.replace("GAIN * x +", "GAIN * x -"), HELPER, 3.0),
        (LAW, HELPER.replace("0.5", "1.5"), 11.0),
    ]
    for law, helper, value in changes:
        (tmp_path / "law.py").write_text(law)
        (tmp_path / "helper.py").write_text(helper)
        answer, _ = run(maker, code, **settings)
        assert answer["value"] == value
        assert answer["seconds"] > 0
    # the way back finds the first code, and so does one with another comment
    (tmp_path / "law.py").write_text("# a comment\n" + LAW)
    (tmp_path / "helper.py").write_text(HELPER)
    again, said = run(maker, code, **settings)
    assert (again["value"], again["seconds"], said) == (9.0, 0.0, "")


def test_kernels_of_users_are_kept_as_those_of_the_package(maker, tmp_path):
    (tmp_path / "helper.py").write_text(HELPER)
    code = (
        "import helper\nfrom tabi import maker\nfrom tabi.jit import kernel\n"
        "inner = maker.twice(helper.more)\n"
        "outer = maker.twice({})\nvalue = outer(1.0)\n"
    )
    settings = {
        "TABI_CACHE_DIR": str(tmp_path / "root"),
        "PYTHONPATH": f"{maker.parent}:{tmp_path}",
    }
    # compiled together, then the inner one from its file
    first, _ = run(maker, code.format("inner"), **settings)
    second, _ = run(maker, code.format("maker.twice(inner)"), **settings)
    assert (first["value"], second["value"]) == (6.0, 12.0)
    again, said = run(maker, code.format("maker.twice(inner)"), **settings)
    assert (again["value"], again["seconds"], said) == (12.0, 0.0, "")
    assert sum("helper.more" in name for name in code_in(tmp_path / "root")) == 1


# ---- several processes, lost and broken files ----------------------------------------------------


def test_processes_that_compile_one_kernel_for_different_types_at_once_keep_both(package, tmp_path):
    codes = [
        "from tabi.spatial.vector import dot\nprint(dot((1, 2, 3), (4, 5, 6)))",
        "from tabi.spatial.vector import dot\nprint(dot((1.0, 2.0, 3.0), (4.0, 5.0, 6.5)))",
    ]
    settings = environment(package, TABI_CACHE_DIR=str(tmp_path), TABI_QUIET="1")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code], env=settings, stdout=subprocess.PIPE, text=True
        )
        for code in codes
    ]
    assert [process.communicate(timeout=120)[0].strip() for process in started] == ["32", "33.5"]
    answer, said = run(
        package, DOT + "value = [dot((1, 2, 3), (4, 5, 6)), value]", TABI_CACHE_DIR=str(tmp_path)
    )
    assert (answer["value"], answer["seconds"], said) == ([32, 32.0], 0.0, "")
    assert len(code_in(tmp_path)) == 2


@pytest.mark.parametrize("spoil", ["empty", "half", "of other types"])
def test_broken_file_is_compiled_anew_and_mended(package, own_root, spoil):
    (file,) = own_root.glob("kernels-*/*.dot-*.nbc")
    whole = file.read_bytes()
    if spoil == "of other types":
        run(
            package,
            "from tabi.spatial.vector import dot\nvalue = dot((1, 2, 3), (4, 5, 6))",
            TABI_CACHE_DIR=str(own_root),
        )
        (other,) = set(own_root.glob("kernels-*/*.dot-*.nbc")) - {file}
        file.write_bytes(other.read_bytes())
    else:
        file.write_bytes(whole[: len(whole) // 2] if spoil == "half" else b"")
    answer, _ = run(package, TABI_CACHE_DIR=str(own_root))
    assert answer["value"] == 32.0
    assert answer["seconds"] > 0
    again, _ = run(package, TABI_CACHE_DIR=str(own_root))
    assert (again["value"], again["seconds"]) == (32.0, 0.0)


@pytest.mark.parametrize("lost", ["folder", "folder for good"])
def test_cache_deleted_during_a_run_does_no_harm(package, own_root, lost):
    code = f"""
import shutil
from tabi.jit import cache_folder
from tabi.spatial.vector import add, dot
shutil.rmtree(cache_folder.cache_root())
if {lost!r} == "folder for good":
    cache_folder.cache_root().write_text("")
value = [dot((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)), add((1.0, 0.0, 0.0), (0.0, 1.0, 2.0))]
"""
    answer, _ = run(package, code, TABI_CACHE_DIR=str(own_root))
    assert answer["value"] == [32.0, [1.0, 1.0, 2.0]]
    assert len(code_in(own_root)) == (2 if lost == "folder" else 0)
