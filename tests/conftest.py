"""What several tests need: the reference data beside the checkout, and robots nobody here wrote."""

import importlib.util
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with reference robots and motions beside the checkout; not part of the repository."""
    if not (SHARED / "data").is_dir():
        pytest.skip("reference data not found in ../shared")
    return SHARED


@pytest.fixture(scope="session")
def example_robots() -> Path:
    """Folder of the package example-robot-data, loaded by path."""
    spec = importlib.util.find_spec("cmeel")
    roots = (
        []
        if spec is None or spec.origin is None
        else [Path(spec.origin).parents[1] / "cmeel.prefix"]
    )
    for root in roots:
        folder = root / "share" / "example-robot-data" / "robots"
        if folder.is_dir():
            return folder
    pytest.skip("package example-robot-data is not installed")
