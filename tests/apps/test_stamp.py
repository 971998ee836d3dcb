"""Measured files tell their revision and day, and are young enough to be believed."""

import datetime
import json
import re
from pathlib import Path

import pytest

import tabi
from tabi.apps import stamp

MEASURED = Path(__file__).resolve().parents[2] / "docs" / "measured"
FILES = sorted(MEASURED.glob("*.json"))
# days that figures on the pages may be old: in half a year compilers, solvers and engines that
# they compare with have a new version each
OLDEST = 180
COMMIT = re.compile(r"[0-9a-f]{7,40}|v\d+\.\d+.*")


def test_there_are_measured_files():
    assert {"laws.json", "solver.json", "humanoids.json"} < {path.name for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_measured_file_has_its_revision_and_is_not_too_old(path):
    found = json.loads(path.read_text(encoding="utf-8"))
    assert COMMIT.fullmatch(found.get("revision", "")), "measure again: it has no revision"
    day = datetime.date.fromisoformat(found["measured"])
    age = (datetime.datetime.now(datetime.UTC).date() - day).days
    assert age <= OLDEST, f"measured {age} days ago, at most {OLDEST}: measure again"


def test_a_result_is_stamped_and_otherwise_as_it_was():
    found = stamp.stamped({"steps": 3})
    assert list(found) == ["revision", "measured", "steps"]
    assert COMMIT.fullmatch(found["revision"])
    datetime.date.fromisoformat(found["measured"])
    assert json.loads(stamp.stamped_json({"steps": 3})) == found


def checkout(folder: Path) -> Path:
    """A package in a repository; returns its folder of git."""
    (folder / "src" / "tabi").mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    (folder / ".git").mkdir()
    return folder / ".git"


ONE, TWO = "1" * 40, "2" * 40


def test_the_commit_is_read_from_a_branch_packed_or_not_and_from_a_bare_head(tmp_path):
    git, package = checkout(tmp_path), tmp_path / "src" / "tabi"
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "packed-refs").write_text(f"# pack-refs\n{ONE} refs/heads/main\n")
    assert stamp.revision(package) == ONE[:7]
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "refs" / "heads" / "main").write_text(f"{TWO}\n")
    assert stamp.revision(package) == TWO[:7]
    (git / "HEAD").write_text(f"{ONE}\n")
    assert stamp.revision(package) == ONE[:7]


def test_the_commit_of_a_second_working_tree_is_its_own(tmp_path):
    git = checkout(tmp_path / "first")
    (git / "HEAD").write_text(f"{ONE}\n")
    own = git / "worktrees" / "second"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/other\n")
    (own / "commondir").write_text("../..\n")
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "refs" / "heads" / "other").write_text(f"{TWO}\n")
    second = checkout(tmp_path / "second")
    second.rmdir()
    second.write_text(f"gitdir: {own}\n")
    assert stamp.revision(tmp_path / "second" / "src" / "tabi") == TWO[:7]


def test_without_a_repository_the_version_is_told(tmp_path):
    assert stamp.revision(tmp_path / "src" / "tabi") == f"v{tabi.__version__}"
    (checkout(tmp_path) / "HEAD").write_text("ref: refs/heads/none\n")
    assert stamp.revision(tmp_path / "src" / "tabi") == f"v{tabi.__version__}"
