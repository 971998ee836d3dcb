"""What several tests need: the reference data beside the checkout, and robots nobody here wrote;
and the guards of the markers.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import tiers

from tabi.robots.examples import example_folder

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Every test with the guard around it and its fixtures."""
    with tiers.guard(item):
        return (yield)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with long tests first, so that in the end no worker is left alone with one of them."""
    files: dict[Path, int] = {}
    for item in items:
        marked = any(item.get_closest_marker(name) for name in tiers.MARKERS)
        files[item.path] = files.get(item.path, 0) + marked
    items.sort(key=lambda item: files[item.path] == 0)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with reference robots and motions beside the checkout; not part of the repository."""
    if not (SHARED / "data").is_dir():
        pytest.skip("reference data not found in ../shared")
    return SHARED


@pytest.fixture(scope="session")
def example_robots() -> Path:
    """Folder of the package example-robot-data, loaded by path."""
    folder = example_folder()
    if folder is not None:
        return folder
    pytest.skip("package example-robot-data is not installed")
