"""Robots, one file each: dimensions, masses, motors, poses and where every number comes from."""

from tabi.robots.hrp2 import hrp2

__all__ = ["hrp2"]
