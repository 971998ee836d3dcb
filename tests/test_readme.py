"""What the README and the examples show runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def python(*arguments: str, folder: Path) -> str:
    """What a fresh interpreter prints, in a folder where it may leave files."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_script_of_the_readme_runs_and_keeps_its_momentum(tmp_path):
    (script,) = BLOCKS
    printed = python("-c", script, folder=tmp_path)
    knee, lost = re.fullmatch(r"knee at (\S+) rad; momentum lost: \[(.*)\]\s*", printed, re.DOTALL).groups()  # type: ignore[union-attr]
    # a kick of 2 rad/s bends the knee
    assert 0.1 < float(knee) < 10.0
    # no gravity and nothing to touch: momentum is kept; a kick of 2 rad/s on a shank of 0.1 kg·m² is of the order of 1 N·m·s
    assert len(lost.split()) == 3
    assert all(abs(float(part)) < 1e-12 for part in lost.split())


def test_links_and_pictures_of_the_readme_are_there():
    targets = [target for target in re.findall(r"\]\(([^)#]+)", README) if "://" not in target]
    assert len(targets) > 3
    assert [target for target in targets if not (ROOT / target).exists()] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example_runs(example, tmp_path):
    assert isinstance(python(str(example), folder=tmp_path), str)
