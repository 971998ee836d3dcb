"""Compiled code on disk is never old, never in the way, and never shared by mistake.

Fresh interpreters run on one copy of the package, so that its sources may be changed and
its folders spoilt.
"""

import json
import math
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

import tabi
from tabi import _identity, _jit, _reuse
from tabi._jit import kernel
from tabi.dynamics import workspace
from tabi.model import arrays

NOTICE = (
    "tabi: compiling for this processor, once for this version (about a minute for a "
    "simulation) …\n"
)
DOT = """
from tabi.spatial.vector import dot
value = dot((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
"""
ANSWER = """
import json
from tabi import _jit, _reuse
folder = _jit.cache_folder()
found = {"value": value, "seconds": _jit.first_run.seconds}
print(json.dumps(found | {"folder": folder and str(folder), "tabi": _jit.__file__}))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """A copy of the package, in a folder of its own."""
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(_jit.PACKAGE, site / "tabi", ignore=shutil.ignore_patterns("__pycache__"))
    return site / "tabi"


def environment(package: Path, **settings: str) -> dict[str, str]:
    """The variables of a fresh interpreter on the copy;
    Python's own cache is off, because it overlooks quick changes.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TABI_", "NUMBA_", "XDG_"))
    }
    return {**kept, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1", **settings}


def run(package: Path, code: str = DOT, **settings: str) -> tuple[dict, str]:
    """What a fresh interpreter answers, and what it says on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", code + ANSWER],
        env=environment(package, **settings),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert Path(answer["tabi"]).parent == package
    return answer, done.stderr


def code_in(root: Path) -> dict[str, int]:
    """Compiled files in a root of caches, with the time of their last change."""
    return {path.name: path.stat().st_mtime_ns for path in root.glob("kernels-*/*.nbc")}


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


# ---- compiled once ------------------------------------------------------------------------------


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
    foreign = "import numba\nimport tabi._jit\nvalue = numba.njit(lambda x: x + 1)(1)\n"
    answer, said = run(package, foreign, TABI_CACHE_DIR=str(tmp_path))
    assert (answer["value"], answer["seconds"], said) == (2, 0.0, "")


# ---- never old ----------------------------------------------------------------------------------


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
    assert changed["folder"] != first["folder"]
    # the way back finds the code of the first run
    assert (again["value"], again["folder"], again["seconds"], said) == (
        first["value"],
        first["folder"],
        0.0,
        "",
    )


def test_code_that_a_change_cannot_have_reached_is_taken_over(package, tmp_path):
    both = (
        "from tabi.spatial.quaternion import matrix\n"
        "from tabi.dynamics.jacobian import point_velocity\n"
        "value = (matrix(1.0, 0.0, 0.0, 0.0), point_velocity((0.0, 0.0, 1.0, 0.0, 0.0, 0.0), (1.0, "
        "0.0, 0.0)))\n"
    )
    jacobian = package / "dynamics" / "jacobian.py"
    text = jacobian.read_text()
    first, _ = run(package, both, TABI_CACHE_DIR=str(tmp_path))
    try:
        jacobian.write_text(text + "\n# changed\n")
        only, said = run(
            package,
            both.replace("point_velocity((0.0, 0.0, 1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0))", "0"),
            TABI_CACHE_DIR=str(tmp_path),
        )
        other, _ = run(package, both, TABI_CACHE_DIR=str(tmp_path))
    finally:
        jacobian.write_text(text)
    assert only["folder"] != first["folder"]
    # quaternions do not import Jacobians: nothing to compile;
    # what stands in the changed file is compiled
    assert (only["seconds"], said) == (0.0, "")
    assert other["seconds"] > 0
    assert other["value"] == first["value"]


def test_code_of_another_compiler_and_kernels_made_inside_of_functions_are_not_taken_over(tmp_path):
    package, old, new = tmp_path / "package", tmp_path / "old", tmp_path / "new"
    for folder in (package, old, new):
        folder.mkdir()
    (package / "leaf.py").write_text("@kernel\ndef f(): ...\n")
    (package / "maker.py").write_text("def make():\n    @kernel\n    def g(): ...\n")
    (package / "user.py").write_text("from package import maker\n@kernel\ndef h(): ...\n")
    for name in ("leaf.f", "maker.g", "user.h"):
        (old / f"package.{name}-0123456789abcdef.nbc").write_bytes(b"code")
    _reuse.take_over(old, old, package, "numba 1")
    _reuse.take_over(old, new, package, "numba 2")
    assert list(new.glob("*.nbc")) == []
    _reuse.take_over(old, new, package, "numba 1")
    assert [path.name for path in new.glob("*.nbc")] == ["package.leaf.f-0123456789abcdef.nbc"]


def test_digest_changes_with_content_name_and_number_of_sources_only(tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "PACKAGE", tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_text("x = 1")
    (tmp_path / "sub" / "b.py").write_text("y = 1")
    digest = _jit.source_digest.__wrapped__
    seen = [digest()]
    (tmp_path / "sub" / "b.py").write_text("y = 2")
    seen.append(digest())
    (tmp_path / "c.py").write_text("")
    seen.append(digest())
    (tmp_path / "c.py").rename(tmp_path / "d.py")
    seen.append(digest())
    assert len(set(seen)) == 4
    os.utime(tmp_path / "a.py", (0, 0))
    (tmp_path / "notes.txt").write_text("no source")
    assert digest() == seen[-1]


def test_digest_leaves_out_what_stands_above_the_kernels_unless_it_holds_some(
    tmp_path, monkeypatch
):
    (tmp_path / "apps").mkdir()
    monkeypatch.setattr(_jit, "PACKAGE", tmp_path)
    digest = _jit.source_digest.__wrapped__
    before = digest()
    (tmp_path / "apps" / "page.py").write_text("x = 1")
    assert digest() == before
    (tmp_path / "apps" / "loops.py").write_text("@kernel\ndef f(): ...")
    assert digest() != before


def test_digest_changes_with_python_and_numba(monkeypatch):
    before = _jit.digest.__wrapped__()
    monkeypatch.setattr(_jit.numba, "__version__", "0.0")
    other_numba = _jit.digest.__wrapped__()
    monkeypatch.setattr(_jit.platform, "python_version", lambda: "3.0")
    assert len({before, other_numba, _jit.digest.__wrapped__()}) == 3


def test_kernels_outside_the_package_are_not_kept_because_the_digest_does_not_know_them():
    @kernel
    def double(x):
        return 2.0 * x

    assert double(3.0) == 6.0
    assert not isinstance(getattr(double, "_cache", None), _jit._Cache)


# ---- linked once --------------------------------------------------------------------------------

MAKER = """
from tabi._jit import kernel


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
"""


@pytest.fixture(scope="module")
def maker(tmp_path_factory) -> Path:
    """A copy of the package with kernels that call each other, and some made inside functions."""
    site = tmp_path_factory.mktemp("maker")
    shutil.copytree(_jit.PACKAGE, site / "tabi", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "tabi" / "maker.py").write_text(MAKER)
    return site / "tabi"


def calling(name: str) -> str:
    return f"from tabi import maker\nvalue = maker.{name}(1.0)\n"


def insides(root: Path) -> dict[str, tuple]:
    """Of each file that holds a kernel as other kernels see it: what it needs, and its bitcode."""
    files = [pickle.loads(path.read_bytes()) for path in root.glob("kernels-*/*.nbc")]
    return {name: (called, bitcode) for name, _, called, bitcode, _ in files if bitcode}


def inside(root: Path, kernel: str) -> Path:
    (name,) = (name for name in insides(root) if name.startswith(f"tabi.{kernel}-"))
    return next(root.glob(f"kernels-*/{name}"))


def test_a_kernel_is_kept_without_the_kernels_that_it_calls(maker, tmp_path):
    answer, _ = run(maker, calling("one"), TABI_CACHE_DIR=str(tmp_path))
    assert answer["value"] == 6.0
    found = insides(tmp_path)
    leaf, middle = (inside(tmp_path, f"maker.{name}").name for name in ("leaf", "middle"))
    (needed,) = found[middle][0]
    assert needed[0] == leaf
    assert found[leaf][0] == ()
    names = [
        [function.name for function in module.functions if not function.is_declaration]
        for module in (llvm.parse_bitcode(found[name][1]) for name in (leaf, middle))
    ]
    # each holds itself, and the name by which the caller asks is the one that is there
    assert names[0] == [needed[1]]
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
    assert {name.rpartition("-")[0] for name in after.keys() - before.keys()} == {"tabi.maker.both"}
    again, _ = run(maker, calling("both"), TABI_CACHE_DIR=str(tmp_path))
    assert (again["value"], again["seconds"]) == (432.0, 0.0)


@pytest.mark.parametrize("spoil", ["lost", "empty", "of another kernel", "of another name inside"])
def test_kernel_whose_needed_file_is_spoilt_is_compiled_anew_and_both_mended(
    maker, tmp_path, spoil
):
    run(maker, calling("one"), TABI_CACHE_DIR=str(tmp_path))
    leaf, middle = (inside(tmp_path, f"maker.{name}") for name in ("leaf", "middle"))
    whole = leaf.read_bytes()
    if spoil == "lost":
        leaf.unlink()
    elif spoil == "empty":
        leaf.write_bytes(b"")
    elif spoil == "of another kernel":
        leaf.write_bytes(middle.read_bytes())
    else:
        name, symbol, *rest = pickle.loads(whole)
        leaf.write_bytes(pickle.dumps((name, symbol + "x", *rest)))
    before = code_in(tmp_path)
    answer, _ = run(maker, calling("other"), TABI_CACHE_DIR=str(tmp_path))
    assert answer["value"] == 7.0
    after = code_in(tmp_path)
    assert after[middle.name] != before[middle.name]
    assert leaf.read_bytes() == whole
    last, _ = run(maker, calling("both"), TABI_CACHE_DIR=str(tmp_path))
    assert last["value"] == 432.0
    assert code_in(tmp_path)[middle.name] == after[middle.name]


def test_kernels_that_are_taken_over_bring_along_what_they_call(package, tmp_path):
    code = (
        "from tabi.dynamics.jacobian import point_velocity\n"
        "value = point_velocity((0.0, 0.0, 1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0))\n"
    )
    # one that no other imports
    world = package / "dynamics" / "free.py"
    text = world.read_text()
    first, _ = run(package, code, TABI_CACHE_DIR=str(tmp_path))
    try:
        world.write_text(text + "\n# changed\n")
        second, said = run(package, code, TABI_CACHE_DIR=str(tmp_path))
    finally:
        world.write_text(text)
    assert second["folder"] != first["folder"]
    assert (second["value"], second["seconds"], said) == (first["value"], 0.0, "")
    taken = {path.name for path in Path(second["folder"]).glob("*.nbc")}
    assert taken == {path.name for path in Path(first["folder"]).glob("*.nbc")}
    assert {file for called, _ in insides(tmp_path).values() for file, _ in called} <= taken


# ---- kernels of users' own files ----------------------------------------------------------------

LAW = """
from tabi._jit import kernel
import helper

GAIN = 3.0


@kernel
def law(x):
    return GAIN * x + helper.more(x)
"""
HELPER = """
from tabi._jit import kernel


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


def test_code_of_users_kernels_goes_into_the_files_of_those_built_from_them(maker, tmp_path):
    (tmp_path / "helper.py").write_text(HELPER)
    code = (
        "import helper\nfrom tabi import maker\nfrom tabi._jit import kernel\n"
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
    assert all("more" not in path.name for path in (tmp_path / "root").glob("kernels-*/*"))


# ---- pruned -------------------------------------------------------------------------------------


def test_only_the_caches_used_last_are_kept_and_nothing_else_is_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "cache_root", lambda: tmp_path)
    for age in range(6):
        old = tmp_path / f"kernels-{age:016x}"
        old.mkdir()
        (old / "code.nbc").write_text("")
        os.utime(old, (1e9 - age, 1e9 - age))
    for other in ("photos", "kernels-of-wheat", "0123456789abcdef"):
        (tmp_path / other).mkdir()
    folder = _jit.cache_folder.__wrapped__()
    assert folder == tmp_path / f"kernels-{_jit.digest()}"
    youngest = {f"kernels-{age:016x}" for age in range(_jit.KEPT_CACHES - 1)}
    assert {path.name for path in tmp_path.iterdir()} == {
        folder.name,
        "photos",
        "kernels-of-wheat",
        "0123456789abcdef",
    } | youngest


def test_cache_that_another_process_removes_meanwhile_is_no_obstacle(tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "cache_root", lambda: tmp_path)
    # listed, but gone when looked at
    for i in range(_jit.KEPT_CACHES + 1):
        (tmp_path / f"kernels-{i:016x}").symlink_to(tmp_path / "gone")
    assert _jit.cache_folder.__wrapped__() == tmp_path / f"kernels-{_jit.digest()}"


# ---- where it is kept ---------------------------------------------------------------------------


@pytest.fixture
def read_only(package):
    """The package where nobody can write: a file stands where its cache would be."""
    (package / "__pycache__").write_text("")
    yield package
    (package / "__pycache__").unlink()


def test_without_settings_the_package_keeps_its_own_code(package):
    answer, _ = run(package)
    try:
        assert Path(answer["folder"]).parent == package / "__pycache__"
        assert len(code_in(package / "__pycache__")) == 1
    finally:
        shutil.rmtree(package / "__pycache__")


def test_read_only_package_keeps_its_code_in_the_users_cache(read_only, tmp_path):
    answer, _ = run(read_only, XDG_CACHE_HOME=str(tmp_path))
    again, said = run(read_only, XDG_CACHE_HOME=str(tmp_path))
    assert Path(answer["folder"]).parent == tmp_path / "tabi"
    assert (again["seconds"], again["folder"], said) == (0.0, answer["folder"], "")


def test_where_nothing_can_be_written_it_compiles_every_time_and_says_so(read_only, tmp_path):
    (tmp_path / "file").write_text("")
    code = DOT + (
        "from tabi.apps import doctor, warmup\nwarmup.jobs = list\n"
        "value = [value, doctor.text(doctor.examine()), warmup.run(show=False)]\n"
    )
    answer, said = run(read_only, code, XDG_CACHE_HOME=str(tmp_path / "file"))
    number, doctor, warmup = answer["value"]
    assert (number, answer["folder"]) == (32.0, None)
    assert said.count("\n") == 1
    assert "on every run" in said
    assert "no folder can be written" in doctor
    assert "for this run only" in warmup
    assert all("TABI_CACHE_DIR" in text for text in (doctor, warmup))


def test_user_without_a_home_gets_no_folder_named_tilde(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TABI_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(_jit.os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(_jit, "PACKAGE", tmp_path / "missing" / "package")
    (tmp_path / "missing").write_text("")
    assert _jit.cache_root.__wrapped__() is None
    assert not (tmp_path / "~").exists()


def test_relative_folder_stays_where_it_was_when_the_process_moves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TABI_CACHE_DIR", "here")
    assert _jit.cache_root.__wrapped__() == tmp_path / "here"


# ---- several processes, lost and broken files ---------------------------------------------------


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
from tabi import _jit, _reuse
from tabi.spatial.vector import add, dot
shutil.rmtree(_jit.cache_root())
if {lost!r} == "folder for good":
    _jit.cache_root().write_text("")
value = [dot((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)), add((1.0, 0.0, 0.0), (0.0, 1.0, 2.0))]
"""
    answer, _ = run(package, code, TABI_CACHE_DIR=str(own_root))
    assert answer["value"] == [32.0, [1.0, 1.0, 2.0]]
    assert len(code_in(own_root)) == (2 if lost == "folder" else 0)


# ---- the decorator ------------------------------------------------------------------------------


def test_kernels_are_kept_as_plain_functions_for_other_targets():
    from tabi.spatial import vector

    plain = next(
        function
        for function in _jit.KERNELS
        if function.__module__ == vector.__name__ and function.__name__ == "dot"
    )
    assert plain((1, 2, 3), (4, 5, 6)) == 32
    assert all(type(function) is type(run) for function in _jit.KERNELS)


def test_nan_stays_nan_and_exact_keeps_the_order_of_additions():
    @kernel
    def is_nan(x):
        return x != x

    @kernel(exact=True)
    def lost(x, large):
        return (x + large) - large

    assert is_nan(math.nan)
    # 1 is below half the spacing of numbers near 1e17
    assert lost(1.0, 1e17) == 0.0


def test_plain_python_gives_the_same_dynamics_as_compiled_code():
    code = """
import json, numpy as np, tabi
from tabi import dynamics
world = tabi.World()
world.add_robot(tabi.robots.hrp2())
model = world.compile()
rng = np.random.default_rng(1)
q = dynamics.integrate(model, model.neutral(), rng.normal(size=model.v_count), 0.5)
v, tau = rng.normal(size=model.v_count), rng.normal(size=model.v_count)
a = dynamics.forward_dynamics(model, q, v, tau)
found = [q, a, dynamics.inverse_dynamics(model, q, v, a), dynamics.mass_matrix(model, q).ravel()]
found += dynamics.step(model, q, v, tau, 1e-3, order=2)
"""
    names: dict = {}
    exec(code, names)
    settings = environment(_jit.PACKAGE, NUMBA_DISABLE_JIT="1")
    plain = subprocess.run(
        [sys.executable, "-c", code + "print(json.dumps([x.tolist() for x in found]))"],
        env=settings,
        capture_output=True,
        text=True,
    )
    assert plain.returncode == 0, plain.stderr
    assert plain.stderr == ""
    for compiled, interpreted in zip(names["found"], json.loads(plain.stdout), strict=True):
        # another order of additions, through 30 joints:
        # rounding times the condition of M, about 1e4
        assert np.linalg.norm(compiled - interpreted) <= 1e-11 * np.linalg.norm(compiled)


def test_columns_of_tables_are_no_methods_of_numpy_records():
    # rows of tables answer to column names as attributes in plain Python,
    # unless a method has the name
    columns = {
        name
        for columns in (arrays.BODY, arrays.DOF, arrays.MIMIC, workspace.BODY, workspace.DOF)
        for name in columns.names or ()
    }
    assert not columns & set(dir(np.record))
    assert len(columns) > 30


def test_importing_tabi_does_not_import_the_compiler():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, tabi; print('numba' in sys.modules, tabi.__version__)"],
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["False", tabi.__version__]


def test_what_a_kernel_closes_over_is_told_apart_and_named_alike_in_every_process():
    code = (
        "from tabi import _identity; from tabi.contact import gauss_seidel as g; "
        "print([_identity.closure(f.py_func) for f in (g.solve, g.solve_bodies)])"
    )
    first, second = (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    )
    assert first == second
    from tabi.contact import gauss_seidel

    assert _identity.closure(gauss_seidel.solve.py_func) != _identity.closure(
        gauss_seidel.solve_bodies.py_func
    )
