"""The tiers of tests: no test starts a process without saying so, and every package keeps tests
that ``make test`` runs.
"""

import ast
import os
import subprocess
import sys
import tomllib
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
import tiers
from architecture.test_architecture import ROOT, TESTS

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MARKERS = [line.partition(":")[0] for line in SETTINGS["tool"]["pytest"]["ini_options"]["markers"]]
PACKAGES = sorted(path.parent.name for path in (ROOT / "src" / "tabi").glob("*/__init__.py"))


class Marked:
    """A test with these markers."""

    def __init__(self, *markers):
        self.markers = markers

    def get_closest_marker(self, name):
        return name in self.markers


@pytest.mark.parametrize(
    "start",
    [
        lambda: subprocess.run([sys.executable, "--version"], check=True),
        lambda: subprocess.Popen([sys.executable, "--version"]),
        lambda: os.popen("true"),
        lambda: os.system("true"),
        lambda: os.fork(),
        lambda: BaseProcess.start(None),
    ],
    ids=["run", "Popen", "popen", "system", "fork", "multiprocessing"],
)
def test_no_test_starts_a_process_without_its_marker(start):
    told = "this test starts a process: mark it with pytest.mark.process"
    with tiers.guard(Marked("slow")), pytest.raises(pytest.fail.Exception, match=told):
        start()


@pytest.mark.parametrize("marker", ["process", "browser"])
def test_with_its_marker_it_does(monkeypatch, marker):
    monkeypatch.setattr(os, "fork", lambda: 7)
    with tiers.guard(Marked(marker)):
        assert os.fork() == 7
    with tiers.guard(Marked()), pytest.raises(pytest.fail.Exception):
        os.fork()


def test_the_second_compiler_of_a_first_start_needs_none(monkeypatch):
    monkeypatch.setattr(os, "fork", lambda: 7)
    module = {"__name__": "tabi.simulation.background_compile", "os": os}
    with tiers.guard(Marked()):
        assert eval("os.fork()", module) == 7


def test_a_papers_experiment_needs_its_marker():
    with tiers.guard(Marked("papers")):
        tiers.needs("runs a paper's experiment", "papers")
    with tiers.guard(Marked("slow")), pytest.raises(pytest.fail.Exception, match="papers"):
        tiers.needs("runs a paper's experiment", "papers")


def test_make_test_leaves_out_what_is_marked_and_test_all_nothing():
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f'-m "not ({" or ".join(MARKERS)})"' in targets
    everything = targets.partition("test-all: ")[2].partition("\n\n")[0]
    assert "pytest" in everything
    assert " -m " not in everything.replace("python -m pytest", "")
    assert "make test-all" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def fast_tests(text: str) -> list[str]:
    """Tests of a file that no marker takes out of ``make test``."""
    tree = ast.parse(text)
    whole = [
        ast.unparse(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]

    def marked(words: list[str]) -> bool:
        return any(f"pytest.mark.{name}" in text for text in words for name in MARKERS)

    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and not marked(whole + [ast.unparse(one) for one in node.decorator_list])
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_has_fast_tests(package):
    folder = Path("tests") / package
    files = [text for path, text in TESTS.items() if folder in path.parents]
    # as many as a package has modules that are worth one
    assert len([name for text in files for name in fast_tests(text)]) > 5


@pytest.mark.parametrize("folder", ["analytic", "identities", "reference"])
def test_most_laws_of_physics_are_fast_tests(folder):
    files = [t for path, t in TESTS.items() if Path("tests") / folder in path.parents]
    everything = sum(text.count("\ndef test_") for text in files)
    assert sum(len(fast_tests(text)) for text in files) > 0.8 * everything > 0
