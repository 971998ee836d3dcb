"""Values put into the text of a scene file, with its comments and its layout kept.

A value is replaced where it is written. Where that cannot be, as it comes from an included file, or
is a copy of another by an anchor, or is not there yet, the scene is rewritten, without comments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tabi.scenes.scene import Scene, loads
from tabi.scenes.tree import SceneError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def rewritten(scene: Scene, target: Path) -> tuple[str, bool]:
    """The text of a scene with all of its settings, and whether its comments are kept.

    Args:
        scene: as it was loaded, with settings. target: where the text is to stand: files that it
            names are looked for from there.
    """
    if scene.file is not None and scene.file.is_file():
        text = replaced(scene.file.read_text(encoding="utf-8"), scene.settings)
        try:
            if text is not None and loads(text, target) == scene:
                return text, True
        except SceneError:
            pass
    return scene.to_yaml(), False


def replaced(text: str, settings: Sequence[str]) -> str | None:
    """A text with values put where they are written; None if one of them is not."""
    root = yaml.compose(text, Loader=_LOADER)
    uses = Counter(map(id, _all(root)))
    edits: dict[tuple[int, int], str] = {}
    for setting in settings:
        path, _, value = setting.partition("=")
        node = _at(root, [part.strip() for part in path.split(".")], uses)
        if node is None:
            return None
        edits[node.start_mark.index, node.end_mark.index] = value.strip()
    for (start, end), value in sorted(edits.items(), reverse=True):
        text = text[:start] + value + text[end:]
    return text


def _all(node: Any) -> Any:
    """Every node below, once for each place it is used at."""
    yield node
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield from _all(child)
    elif isinstance(node, yaml.MappingNode):
        for _, child in node.value:
            yield from _all(child)


def _at(node: Any, parts: Sequence[str], uses: Counter[int]) -> Any:
    """The single value at a path; None where it is not, or is used elsewhere too."""
    for part in parts:
        if isinstance(node, yaml.MappingNode):
            node = next((child for key, child in node.value if key.value == part), None)
        elif isinstance(node, yaml.SequenceNode):
            names = [_called(child) for child in node.value]
            at = names.index(part) if part in names else int(part) if part.isdecimal() else -1
            node = node.value[at] if 0 <= at < len(names) else None
        else:
            return None
    single = isinstance(node, yaml.ScalarNode) and not node.style
    return node if single and uses[id(node)] == 1 else None


def _called(node: Any) -> str | None:
    """The name of a thing in a list, as paths have it."""
    keys = dict(node.value) if isinstance(node, yaml.MappingNode) else {}
    names = {key.value: value.value for key, value in keys.items()}
    return next((names[key] for key in ("name", "robot") if isinstance(names.get(key), str)), None)
