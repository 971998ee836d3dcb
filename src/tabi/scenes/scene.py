"""A scene: a file that was read, with the world and the simulator it describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from tabi._errors import ModelError, near
from tabi.scenes import sources
from tabi.scenes.checks import faults
from tabi.scenes.keys import names as key_names
from tabi.scenes.keys.contents import CameraKeys, Contents
from tabi.scenes.keys.things import Compound
from tabi.scenes.reader import Reader, type_of
from tabi.scenes.tree import Node, Place, SceneError, parse

if TYPE_CHECKING:
    from tabi.interaction.session import HapticSession
    from tabi.model.world import World
    from tabi.simulation.simulator import Simulator


@dataclass(frozen=True)
class Scene:
    """Contents of a scene file; two scenes with the same contents are equal,
    whatever their files are called.

    Attributes:
        contents: all of it, typed.
        name: of a built-in scene, or its file's.
        file: where it came from; None for a text.
        settings: those of the command line.

    Examples:
        >>> scene = tabi.scenes.load("push")
        >>> scene.name
        'push'
    """

    contents: Contents
    name: str = field(default="scene", compare=False)
    file: Path | None = field(default=None, compare=False)
    settings: tuple[str, ...] = field(default=(), compare=False)
    _reader: Reader = field(default_factory=Reader, compare=False, repr=False)

    @property
    def title(self) -> str:
        """One line about it."""
        return self.contents.title

    @property
    def duration(self) -> float:
        """Duration of a run [s]."""
        return self.contents.duration_s

    @property
    def camera(self) -> CameraKeys | None:
        """Camera of the scene; None if the file has none."""
        return self.contents.camera

    @property
    def script(self) -> str | None:
        """Kind of the haptic device that replays the frames of the scene; None without frames."""
        hand = self.contents.hand
        return "scripted" if hand is not None and hand.plays else None

    def world(self) -> World:
        """Build the world as it starts; every call makes a new one."""
        from tabi.scenes.builder import Builder

        return Builder(self.contents, self._reader).world

    def simulator(self, plays: bool = True) -> Simulator:
        """Make a simulator of the scene, with motions of robots, pushes at their times and initial
        velocities.

        Args:
            plays: whether a hand that plays its frames in every run does so; one that is put in by
                ``hand`` takes its place.
        """
        from tabi.interaction.presence import presence_of
        from tabi.scenes.builder import Builder
        from tabi.simulation import background_compile

        # controllers compile too, before there is a simulation
        background_compile.start()
        sim = Builder(self.contents, self._reader).simulator()
        presence_of(sim).expected = self.contents.hand is not None
        if plays and self.script:
            self.hand(sim, self.script)
        return sim

    def hand(self, sim: Simulator, device: str) -> HapticSession:
        """Put the hand of a person into a simulation of the scene.

        Args:
            device: "scripted" is the scene's own script; see ``tabi.interaction.devices``.
        """
        from tabi.scenes import hands

        keys = self.contents.hand
        try:
            return hands.take(sim, keys, device)
        except ModelError as fault:
            # the name of any other device is no matter of the file
            if keys is None or device != "scripted":
                raise
            raise key_names.fault(self._reader, self.contents, ("hand",), str(fault)) from None

    def to_yaml(self) -> str:
        """Return the text of an equal scene file, without includes, defaults and comments, and with
        full paths of robot files.
        """
        style: dict[str, Any] = {
            "sort_keys": False,
            "allow_unicode": True,
            "default_flow_style": None,
            "width": 120,
        }
        return yaml.dump(
            plain(self.contents), Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), **style
        )


def load(scene: str | Path, overrides: Iterable[str] = ()) -> Scene:
    """Read a scene by its built-in name or from a file.

    Args:
        scene: a name from ``names()``, or the path of a YAML file.
        overrides: settings as on the command line, ``"ground.friction=0.2"``.

    Examples:
        >>> scene = tabi.scenes.load("push", ["ground.friction=0.5"])
    """
    if not isinstance(scene, (str, Path)):
        raise SceneError(f"the scene is {scene!r}; expected a name or the path of a file")
    if isinstance(overrides, str):
        overrides = [overrides]
    elif isinstance(overrides, Mapping):
        overrides = [f"{key}={value}" for key, value in overrides.items()]
    path = sources.find(scene)
    return _scene(sources.tree(path), path, tuple(overrides))


def loads(
    text: str | bytes, file: str | Path = "scene.yaml", overrides: Iterable[str] = ()
) -> Scene:
    """Read a scene from a text. Errors name ``file``, and included files and robot files are
    searched beside it.

    Examples:
        >>> scene = tabi.scenes.loads("{title: One robot, robots: [{robot: hrp2}]}")
    """
    path = Path(file)
    return _scene(
        sources.include(parse(text, str(file)), path, [path.resolve()], [0]), path, tuple(overrides)
    )


def _scene(root: Node, path: Path, settings: tuple[str, ...]) -> Scene:
    reader = Reader()
    contents: Contents = reader.read(sources.override(root, settings), Contents)
    for at, message in faults(contents):
        raise reader.fault(at, f"{reader.name(at) or 'the scene'} {message}")
    contents = _with_meshes(_with_robot_files(contents, reader, path), reader, path)
    return Scene(contents, path.stem, path, settings, reader)


def _with_robot_files(contents: Contents, reader: Reader, path: Path) -> Contents:
    """Make paths of robots absolute; files name them relative to their own folder."""
    from tabi import robots

    robots_: list[Any] = []
    for i, robot in enumerate(contents.robots):
        at = ("robots", i, "robot")
        if robot.grippers and robot.robot != "hrp2":
            raise reader.fault(
                ("robots", i, "grippers"),
                f"grippers are hrp2's; {robot.robot} has the hands that it comes with",
            )
        if robot.robot not in robots.__all__:
            file = _beside(robot.robot, reader, at, path)
            if file is None:
                built = ", ".join(robots.__all__)
                hint = near(robot.robot, [*robots.__all__, *_neighbours(path)])
                raise reader.fault(
                    at,
                    f"{reader.name(at)} is {robot.robot!r}, "
                    f"which is neither built in ({built}) nor a file beside the scene{hint}",
                )
            robot = msgspec.structs.replace(robot, robot=str(file))
        elif robot.feet or robot.base or robot.gains:
            key = "feet" if robot.feet else "base" if robot.base else "gains"
            raise reader.fault(
                ("robots", i, key),
                f"{robot.robot} is built in, with its feet, base and gains; "
                f"{key} is for robots from files",
            )
        robots_.append(robot)
    return msgspec.structs.replace(contents, robots=tuple(robots_))


def _neighbours(path: Path) -> list[str]:
    """Names of the robots' files beside a scene."""
    try:
        return [file.name for file in path.parent.iterdir() if file.suffix in sources.ROBOTS]
    except OSError:
        return []


def _with_meshes(contents: Contents, reader: Reader, path: Path) -> Contents:
    """Paths of meshes, likewise."""

    def whole(thing: Any, at: tuple[str | int, ...]) -> Any:
        if isinstance(thing, Compound):
            return msgspec.structs.replace(
                thing,
                parts=tuple(whole(part, (*at, "parts", k)) for k, part in enumerate(thing.parts)),
            )
        if thing.__struct_config__.tag != "mesh":
            return thing
        file = _beside(thing.file, reader, (*at, "file"), path)
        if file is None or not file.is_file():
            raise reader.fault(
                (*at, "file"),
                f"{reader.name((*at, 'file'))} is {thing.file!r}, "
                "which is no file beside the scene",
            )
        return msgspec.structs.replace(thing, file=str(file))

    things_ = {
        key: tuple(whole(thing, (key, i)) for i, thing in enumerate(getattr(contents, key)))
        for key in ("fixed", "objects")
    }
    return msgspec.structs.replace(contents, **things_)


def _beside(name: str, reader: Reader, at: tuple[str | int, ...], path: Path) -> Path | None:
    """The file that a scene names at some key, looked for from the folder of the scene's file,
    or of where one types; None if it is not there.
    """
    place = reader.place(at) or Place(str(path))
    folder = Path() if place.file.startswith("--set ") else Path(place.file).parent
    try:
        file = (folder / name).resolve()
        return file if file.exists() else None
    except (OSError, ValueError):
        return None


def plain(value: Any) -> Any:
    """Contents as dictionaries and lists, without what is the default."""
    if isinstance(value, msgspec.Struct):
        config = value.__struct_config__
        entries = {config.tag_field: config.tag} if config.tag_field else {}
        for f in type_of(type(value)).fields:
            default = (
                f.default_factory() if f.default_factory is not msgspec.NODEFAULT else f.default
            )
            if (stored := getattr(value, f.name)) != default:
                entries[f.name] = plain(stored)
        return entries
    if isinstance(value, dict):
        return {key: plain(x) for key, x in value.items()}
    return [plain(x) for x in value] if isinstance(value, tuple) else value
