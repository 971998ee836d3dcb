"""What the repository says of itself agrees, and a clone is small."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import tabi

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PICTURES = sorted(path for path in (ROOT / "docs" / "pictures").rglob("*") if path.is_file())


def test_the_citation_names_the_version_and_the_place_of_the_package():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == tabi.__version__
    assert cited["license"] == PROJECT["license"]
    assert cited["repository-code"] == PROJECT["urls"]["Source"]
    assert [one["name"] for one in cited["authors"]] == [one["name"] for one in PROJECT["authors"]]


def test_the_changelog_begins_with_what_is_unreleased_and_dates_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads[0] == "[Unreleased]"
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert f"[{tabi.__version__}] - {cited['date-released']}" in heads
    kinds = re.findall(r"^### (.*)$", text, re.MULTILINE)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    # every link to a comparison is of this repository
    assert len(re.findall(rf"^\[.*\]: {PROJECT['urls']['Source']}/", text, re.MULTILINE)) == len(
        heads
    )


@pytest.mark.process
def test_a_clone_is_below_thirteen_megabytes():
    if not (ROOT / ".git").exists():
        pytest.skip("no clone")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    files = [ROOT / name for name in listed.split("\0") if name]
    assert sum(path.stat().st_size for path in files if path.is_file()) < 13e6
    assert not [path for path in files if ".cache" in path.parts]


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_small(path):
    """docs/generate/saving.py writes them; a film may be as long as all of them together."""
    films = ("recording.webp", "steering.webp", "walking.webp")
    assert path.suffix in (".png", ".svg", ".webp")
    assert path.stat().st_size < (250_000 if path.name in films else 100_000)


def test_workflows_try_the_versions_of_python_that_the_package_names():
    named = sorted(
        one.rpartition(" ")[2]
        for one in PROJECT["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", one)
    )
    for name, job in (("ci", "fast"), ("wheels", "kernels")):
        text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
        matrix = yaml.safe_load(text)["jobs"][job]["strategy"]["matrix"]
        assert matrix["python"] == named
        assert [system.partition("-")[0] for system in matrix["system"]] == [
            "ubuntu",
            "macos",
            "windows",
        ]
