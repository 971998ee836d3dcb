"""Robots, one file each: dimensions, masses, motors, poses and where every number comes from."""

from typing import Any

from tabi._errors import near
from tabi.robots.cb import cb
from tabi.robots.examples import example_file as example_file
from tabi.robots.hoap2 import hoap2
from tabi.robots.hrp1s import hrp1s
from tabi.robots.hrp2 import hrp2

# those that are built in
__all__ = ["cb", "hoap2", "hrp1s", "hrp2"]


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"no robot {name!r} is built in, but {', '.join(__all__)}; tabi.load reads those of files"
        f"{near(name, __all__)}"
    )
