"""From a file to one tree: what it includes comes first, its own keys after,
what the command line says last.

An included scene is a beginning that is added to. Keys inside of keys are joined key by key. Lists
of things are joined one after the other, and a thing with the name of an earlier one is joined with
that one. Anything else replaces what was there.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tabi._errors import near
from tabi.scenes.tree import Entries, Items, Node, Place, SceneError, Text, brief, parse, read

LIBRARY = Path(__file__).parent / "library"
SUFFIXES = (".yaml", ".yml")
ROBOTS = (".urdf", ".xml", ".mjcf", ".wrl", ".body")
# files one inside of the other, and all together
MAX_INCLUDE_DEPTH, MAX_FILES = 8, 32


def names() -> list[str]:
    """Names of the built-in scenes.

    Examples:
        >>> "walk" in tabi.scenes.names()
        True
    """
    return sorted(path.stem for path in LIBRARY.glob("*.yaml"))


def find(name: str | Path) -> Path:
    """The file of a scene, by its path or as a built-in name."""
    text = str(name)
    path = LIBRARY / f"{text}.yaml"
    if text in names():
        return path
    if not text:
        raise SceneError(
            "the scene has no name; expected the path of a scene file, "
            f"or one of {', '.join(names())}"
        )
    file = Path(text)
    if not file.suffix and not file.exists():
        raise SceneError(
            f"scene {text!r} is neither built in nor a "
            f"file{_nearest(text) or '; built in are ' + ', '.join(names())}"
        )
    if file.is_dir():
        raise SceneError("it is a folder; expected a scene file (.yaml)", Place(text))
    if file.suffix.lower() in ROBOTS:
        raise SceneError(
            f"it is a robot and no scene; show it by tabi demo {text}, or name it in a scene file "
            "(.yaml) under robots",
            Place(text),
        )
    if file.suffix.lower() not in SUFFIXES:
        raise SceneError(
            f"suffix {file.suffix!r} is not known; expected a scene file (.yaml)", Place(text)
        )
    if not file.exists():
        raise SceneError(
            "there is no such file; expected a scene file, "
            f"or a built-in scene{_nearest(file.stem)}",
            Place(text),
        )
    if not file.is_file():
        raise SceneError("it is no plain file; expected a scene file (.yaml)", Place(text))
    return file


def _nearest(word: str) -> str:
    return near(word, names())


def tree(path: Path) -> Node:
    """The tree of a file with all that it includes."""
    return include(read(path), path, [path.resolve()], [0])


def include(root: Node, path: Path, trail: list[Path], count: list[int]) -> Node:
    """Take out ``include`` and put what it names underneath.

    Args:
        root: tree of the file ``path``. trail: the files that led here.
            count: of all files, shared.
    """
    if not isinstance(root, Entries) or "include" not in root.values:
        return root
    included, base = root.values.pop("include"), None
    for node in included.values if isinstance(included, Items) else [included]:
        if not isinstance(node, Text) or not node.value or "\0" in node.value:
            raise SceneError(
                "include is no path; expected a file beside this one, a built-in scene, "
                "or a list of such",
                included.place,
                "include",
            )
        other = _other(node, path)
        if other.resolve() in trail:
            raise SceneError(
                f"include {brief(node.value, 80)!r} leads back to where it began; take it out",
                node.place,
                "include",
            )
        count[0] += 1
        if len(trail) >= MAX_INCLUDE_DEPTH or count[0] > MAX_FILES:
            what = (
                f"more than {MAX_INCLUDE_DEPTH} files inside of each other, or {MAX_FILES} in all"
            )
            raise SceneError(f"{what}, are included; no scene needs that", node.place, "include")
        part = include(read(other), other, [*trail, other.resolve()], count)
        base = part if base is None else join(base, part)
    return root if base is None else join(base, root)


def _other(node: Text, path: Path) -> Path:
    if node.value in names():
        return LIBRARY / f"{node.value}.yaml"
    relative = Path(node.value)
    if relative.is_absolute() or relative.suffix.lower() not in SUFFIXES:
        what = (
            "is absolute"
            if relative.is_absolute()
            else f"is neither a .yaml file nor built in{_nearest(node.value)}"
        )
        raise SceneError(
            f"include {brief(node.value, 80)!r} {what}; "
            "expected a path from the folder of this file",
            node.place,
            "include",
        )
    other = path.parent / relative
    try:
        there = other.is_file()
    except OSError:
        there = False
    if not there:
        raise SceneError(
            f"include {brief(node.value, 80)!r} is not there; expected a file at {other}",
            node.place,
            "include",
        )
    return other


def join(base: Node, over: Node) -> Node:
    """One tree over another."""
    if isinstance(base, Entries) and isinstance(over, Entries):
        values = dict(base.values)
        for key, node in over.values.items():
            values[key] = join(values[key], node) if key in values else node
        return Entries(values, over.place, base.keys | over.keys)
    if (
        isinstance(base, Items)
        and isinstance(over, Items)
        and all(isinstance(v, Entries) for v in (*base.values, *over.values))
    ):
        values = list(base.values)
        for node in over.values:
            name = called(node)
            same = [k for k, other in enumerate(values) if name and called(other) == name]
            if same:
                values[same[0]] = join(values[same[0]], node)
            else:
                values.append(node)
        return Items(values, over.place)
    return over


def called(node: Node) -> str | None:
    """Return the name of a thing in a list."""
    names_ = (
        [node.values.get(key) for key in ("name", "robot")] if isinstance(node, Entries) else []
    )
    return next((t.value for t in names_ if isinstance(t, Text)), None)


def override(root: Node, settings: Iterable[str]) -> Node:
    """Set values by paths: ``ground.friction=0.2``, ``objects.crate.mass_kg=3``,
    ``robots.0.motion={kind: squat}``.
    """
    settings = list(settings)
    root = _unshared(root) if settings else root
    for setting in settings:
        path, equals, text = setting.partition("=")
        parts = [part.strip() for part in path.split(".")]
        label = f"--set {brief(setting, 80)}"
        if not equals or not all(parts):
            raise SceneError(f"{label} is not KEY=VALUE; for example --set ground.friction=0.2")
        if not text.strip():
            raise SceneError(f"{label} has no value; expected {path}=VALUE, with null for nothing")
        value = parse(text, label)
        _relabel(value, Place(label))
        _put(root, parts, value, Place(label))
    return root


def _unshared(node: Node) -> Node:
    """Copy a node so that nothing is shared by aliases, and one of two can be changed."""
    if isinstance(node, Items):
        return Items([_unshared(child) for child in node.values], node.place)
    if isinstance(node, Entries):
        return Entries(
            {key: _unshared(child) for key, child in node.values.items()},
            node.place,
            dict(node.keys),
        )
    return Text(node.value, node.plain, node.place)


def _relabel(node: Node, place: Place) -> None:
    """Set the place of a node from the command line, which has no line to name."""
    node.place = place
    if isinstance(node, Items):
        for child in node.values:
            _relabel(child, place)
    elif isinstance(node, Entries):
        node.keys = dict.fromkeys(node.keys, place)
        for child in node.values.values():
            _relabel(child, place)


def _put(root: Node, parts: list[str], value: Node, place: Place) -> None:
    node: Any = root
    for k, part in enumerate(parts):
        path, last = ".".join(parts[: k + 1]), k == len(parts) - 1
        if isinstance(node, Items):
            at = _index(node, part, path, place)
            node.values[at] = value if last else node.values[at]
            node = node.values[at]
        elif isinstance(node, Entries):
            empty = isinstance(had := node.values.get(part), Text) and had.plain and not had.value
            if last or had is None or empty:
                # what is not there yet begins here, and is checked as all the rest
                node.values[part], node.keys[part] = value if last else Entries({}, place), place
            node = node.values[part]
        else:
            above = ".".join(parts[:k]) or "the scene"
            raise SceneError(f"{above} is a single value and has no {part!r} inside", place, above)


def _index(node: Items, part: str, path: str, place: Place) -> int:
    known = [called(child) or str(i) for i, child in enumerate(node.values)]
    if part in known:
        return known.index(part)
    if part.isdecimal() and len(part) < 9 and int(part) < len(known):
        return int(part)
    raise SceneError(
        f"{path} is not "
        f"there{near(part, known) or '; there are ' + (', '.join(known[:12]) or 'none')}",
        place,
        path,
    )
