"""Scenes: files that say what there is, what happens, and for how long.

``load`` reads one by its built-in name or from a YAML file, ``names`` lists what is built in;
a scene gives a world and a simulator. ``cart`` is a scene by code.
"""

from tabi.scenes.scene import Scene, load, loads
from tabi.scenes.sources import names
from tabi.scenes.tree import SceneError

__all__ = ["Scene", "SceneError", "load", "loads", "names"]
