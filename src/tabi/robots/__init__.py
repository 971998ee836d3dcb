"""Robots, one file each: dimensions, masses, motors, poses and where every number comes from."""

from typing import Any

from tabi._errors import near
from tabi.robots.examples import example_file as example_file
from tabi.robots.hrp1s import hrp1s
from tabi.robots.hrp2 import hrp2

# those that are built in
__all__ = ["hrp1s", "hrp2"]


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"no robot {name!r} is built in, but {', '.join(__all__)}; tabi.load reads those of files"
        f"{near(name, __all__)}"
    )
