"""Where compiled code is kept, what is removed, and which of several writers is first."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from fresh import DOT, code_in, copy_package, run

from tabi.jit import cache_folder


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """A copy of the package."""
    return copy_package(tmp_path_factory.mktemp("site"))


def test_digests_change_with_the_sources_that_they_are_of(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_folder, "PACKAGE", tmp_path)
    compiler, sources = cache_folder.digest.__wrapped__, cache_folder.source_digest.__wrapped__
    (tmp_path / "apps").mkdir()
    (tmp_path / "jit").mkdir()
    (tmp_path / "a.py").write_text("x = 1")
    for name in cache_folder.COMPILER:
        (tmp_path / "jit" / f"{name}.py").write_text("x = 1")
    seen = [(compiler(), sources())]

    def after(file, text):
        (tmp_path / file).write_text(text)
        seen.append((compiler(), sources()))
        return [new != old for new, old in zip(seen[-1], seen[-2], strict=True)]

    assert after("a.py", "x = 2") == [False, True]
    assert after("jit/compilation.py", "x = 2") == [True, True]
    assert after("c.py", "") == [False, True]
    # what stands above the kernels counts only where it holds some
    assert after("apps/page.py", "x = 1") == [False, False]
    assert after("apps/loops.py", "@kernel\ndef f(): ...") == [False, True]
    assert after("notes.txt", "no source") == [False, False]


def test_every_module_that_writes_code_is_one_of_the_compiler():
    writes = {
        path.stem
        for path in (cache_folder.PACKAGE / "jit").glob("*.py")
        if re.search(r"^ *(from|import) (numba|llvmlite|tabi.jit.numba_p)", path.read_text(), re.M)
    }
    # one asks for versions only, and what the other one makes is not kept
    assert writes - {"shipped_kernels", "plain_numba"} == set(cache_folder.COMPILER)
    elsewhere = [
        path
        for path in cache_folder.PACKAGE.rglob("*.py")
        if path.parent.name != "jit" and "@intrinsic" in path.read_text()
    ]
    assert elsewhere == []


def test_one_module_names_what_numba_does_not_document():
    files = cache_folder.PACKAGE.rglob("*.py")
    named = {p.stem for p in files if re.search(r"import numba\.|numba\.(core|np)", p.read_text())}
    # which asks for settings
    assert named == {"numba_private", "doctor"}


def test_digest_changes_with_what_code_depends_on_and_with_no_patch_of_python_or_numpy(monkeypatch):
    digest, module = cache_folder.digest.__wrapped__, cache_folder.shipped_kernels
    before = digest()
    major, minor, patch = np.__version__.split(".")[:3]
    monkeypatch.setattr(module.np, "__version__", f"{major}.{minor}.{int(patch) + 1}")
    assert digest() == before
    python = sys.version_info
    monkeypatch.setattr(module.sys, "version_info", (*python[:2], python[2] + 1))
    assert digest() == before
    found = {before}
    monkeypatch.setattr(module.np, "__version__", f"{major}.{int(minor) + 1}.0")
    found.add(digest())
    monkeypatch.setattr(module.sys, "version_info", (3, 99, 0))
    found.add(digest())
    for library in (module.numba, module.llvmlite):
        monkeypatch.setattr(library, "__version__", "0.0")
        found.add(digest())
    monkeypatch.setattr(module.platform, "machine", lambda: "abacus")
    found.add(digest())
    assert len(found) == 6


def test_where_a_file_system_has_no_links_files_are_kept_all_the_same(tmp_path, monkeypatch):
    def refused(*paths):
        raise PermissionError("no links here")

    monkeypatch.setattr(cache_folder.os, "link", refused)
    assert cache_folder.keep(tmp_path, "a.nbc", b"first")
    assert not cache_folder.keep(tmp_path, "a.nbc", b"second")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.nbc", b"first")]


# ---- pruned --------------------------------------------------------------------------------------


def test_only_the_caches_used_last_are_kept_and_nothing_else_is_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_folder, "cache_root", lambda: tmp_path)
    for age in range(6):
        old = tmp_path / f"kernels-{age:016x}"
        old.mkdir()
        (old / "code.nbc").write_text("")
        os.utime(old, (1e9 - age, 1e9 - age))
    for other in ("photos", "kernels-of-wheat", "0123456789abcdef"):
        (tmp_path / other).mkdir()
    folder = cache_folder.cache_folder.__wrapped__()
    assert folder == tmp_path / f"kernels-{cache_folder.digest()}"
    youngest = {f"kernels-{age:016x}" for age in range(cache_folder.MAX_CACHES - 1)}
    assert {path.name for path in tmp_path.iterdir()} == {
        folder.name,
        "photos",
        "kernels-of-wheat",
        "0123456789abcdef",
    } | youngest


def test_cache_that_another_process_removes_meanwhile_is_no_obstacle(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_folder, "cache_root", lambda: tmp_path)
    # listed, but gone when looked at
    for i in range(cache_folder.MAX_CACHES + 1):
        (tmp_path / f"kernels-{i:016x}").symlink_to(tmp_path / "gone")
    assert cache_folder.cache_folder.__wrapped__() == tmp_path / f"kernels-{cache_folder.digest()}"


# ---- where it is kept ----------------------------------------------------------------------------


@pytest.fixture
def read_only(package):
    """The package where nobody can write: a file stands where its cache would be."""
    (package / "__pycache__").write_text("")
    yield package
    (package / "__pycache__").unlink()


@pytest.mark.process
def test_without_settings_the_package_keeps_its_own_code(package):
    answer, _ = run(package)
    try:
        assert Path(answer["folder"]).parent == package / "__pycache__"
        assert len(code_in(package / "__pycache__")) == 1
    finally:
        shutil.rmtree(package / "__pycache__")


@pytest.mark.process
def test_read_only_package_keeps_its_code_in_the_users_cache(read_only, tmp_path):
    answer, _ = run(read_only, XDG_CACHE_HOME=str(tmp_path))
    again, said = run(read_only, XDG_CACHE_HOME=str(tmp_path))
    assert Path(answer["folder"]).parent == tmp_path / "tabi"
    assert (again["seconds"], again["folder"], said) == (0.0, answer["folder"], "")


@pytest.mark.process
def test_where_nothing_can_be_written_it_compiles_every_time_and_says_so(read_only, tmp_path):
    (tmp_path / "file").write_text("")
    code = DOT + (
        "from tabi.apps import doctor\n"
        "from tabi.runs import warmup\n"
        "value = [value, doctor.text(doctor.examine()), warmup.run(show=False)]\n"
    )
    answer, said = run(read_only, code, XDG_CACHE_HOME=str(tmp_path / "file"))
    number, doctor, warmup = answer["value"]
    assert (number, answer["folder"]) == (32.0, None)
    assert said.count("\n") == 1
    assert "on every run" in said
    assert "no folder can be written" in doctor
    assert "nothing was compiled" in warmup
    assert all("TABI_CACHE_DIR" in text for text in (doctor, warmup))


def test_user_without_a_home_gets_no_folder_named_tilde(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TABI_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(cache_folder.os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(cache_folder, "PACKAGE", tmp_path / "missing" / "package")
    (tmp_path / "missing").write_text("")
    assert cache_folder.cache_root.__wrapped__() is None
    assert not (tmp_path / "~").exists()


def test_relative_folder_stays_where_it_was_when_the_process_moves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TABI_CACHE_DIR", "here")
    assert cache_folder.cache_root.__wrapped__() == tmp_path / "here"


# ---- several writers ----------------------------------------------------------------------------


def test_the_first_file_of_a_name_stays_unless_it_is_to_be_replaced(tmp_path):
    folder = tmp_path / "cache"
    assert cache_folder.keep(folder, "a.nbc", b"first")
    assert not cache_folder.keep(folder, "a.nbc", b"second")
    assert cache_folder.content(folder, "a.nbc") == b"first"
    assert cache_folder.keep(folder, "a.nbc", b"third", instead=True)
    assert cache_folder.content(folder, "a.nbc") == b"third"
    assert [path.name for path in folder.iterdir()] == ["a.nbc"]


def test_a_large_folder_loses_the_files_that_were_not_used_longest(tmp_path, monkeypatch):
    for k in range(10):
        (tmp_path / f"{k}.nbc").write_bytes(bytes(100))
        os.utime(tmp_path / f"{k}.nbc", (1e9 + k, 1e9 + k))
    # one that is read is used
    cache_folder.content(tmp_path, "0.nbc")
    monkeypatch.setattr(cache_folder, "PRUNE_ABOVE_BYTES", 1001)
    cache_folder._prune.cache_clear()
    cache_folder._prune(tmp_path)
    assert len(list(tmp_path.iterdir())) == 10
    monkeypatch.setattr(cache_folder, "PRUNE_ABOVE_BYTES", 1000)
    monkeypatch.setattr(cache_folder, "PRUNE_TO_BYTES", 401)
    cache_folder._prune.cache_clear()
    cache_folder._prune(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"0.nbc", "7.nbc", "8.nbc", "9.nbc"}


def test_one_that_makes_a_file_is_waited_for(tmp_path):
    order = []

    def slow():
        with cache_folder.alone(tmp_path, "a.nbc") as done:
            order.append(("slow", done))
            begun.set()
            time.sleep(0.2)
            cache_folder.keep(tmp_path, "a.nbc", b"made")

    begun = threading.Event()
    thread = threading.Thread(target=slow)
    thread.start()
    begun.wait()
    with cache_folder.alone(tmp_path, "a.nbc") as done:
        order.append(("quick", done))
    thread.join()
    assert order == [("slow", False), ("quick", True)]
    assert [path.name for path in tmp_path.iterdir()] == ["a.nbc"]


@pytest.mark.process
@pytest.mark.parametrize("text", ["killed", "", "no number", "another process"])
def test_one_that_died_meanwhile_is_not(tmp_path, text):
    mark, old = tmp_path / "a.nbc.busy", text != "killed"
    if text == "killed":
        child = subprocess.Popen([sys.executable, "-c", ""])
        child.wait()
        text = str(child.pid)
    mark.write_text(str(os.getppid()) if text == "another process" else text)
    if old:
        os.utime(mark, (1e9, 1e9))
    start = time.monotonic()
    with cache_folder.alone(tmp_path, "a.nbc") as done:
        assert not done
        assert mark.read_text() == str(os.getpid())
    assert time.monotonic() - start < 1.0
    assert not mark.exists()


def test_where_no_mark_can_be_made_nobody_waits(tmp_path):
    with cache_folder.alone(tmp_path / "missing", "a.nbc") as done:
        assert not done
