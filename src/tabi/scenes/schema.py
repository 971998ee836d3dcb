"""Keys of scene files, for editors (a JSON schema) and for people (tables),
made from the types that files are read with.
"""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import msgspec
from msgspec import inspect

from tabi.scenes.keys import contents, robots, things
from tabi.scenes.keys import hands as hand_keys
from tabi.scenes.keys import sensors as sensor_keys
from tabi.scenes.keys import soft as soft_keys
from tabi.scenes.keys import walks as walk_keys
from tabi.scenes.keys.types import Keys
from tabi.scenes.motions import MOTIONS
from tabi.scenes.motions.hold import Hold
from tabi.scenes.motions.keyframes import Keyframe
from tabi.scenes.motions.steered_walk import SteerKeys
from tabi.scenes.reader import bounds, is_word, type_of

FILE = "scene.schema.json"
INCLUDE = (
    "scenes that this one adds to: a path from the folder of this file, a built-in name, "
    "or a list of such"
)
# bounds of numbers beyond this one are not worth a place in a table
MAX_SHOWN_BOUND = 1e4
# what a table shows: its name, and the kinds of things in it
TABLES: dict[str, tuple[Any, ...]] = {
    "scene": (contents.Contents,),
    "ground": (things.Ground,),
    "materials": (things.Surface,),
    "pairs": (things.Pair,),
    "fixed": get_args(things.AnyFixed),
    "objects": get_args(things.AnyObject),
    "parts": get_args(things.AnyPart),
    "bonds": (things.BondKeys,),
    "pushes": (things.PushKeys,),
    "patches": (things.PatchKeys,),
    "force_plates": (sensor_keys.PlateKeys,),
    "robots": (robots.RobotKeys,),
    "feet": (robots.FootKeys,),
    "gains": (robots.Gains,),
    "bush": (robots.BushKeys,),
    "soles": (soft_keys.SoleKeys,),
    "pads": (soft_keys.PadKeys,),
    "layers": (soft_keys.LayerKeys,),
    "tread": (soft_keys.TreadKeys,),
    "motors": (robots.MotorKeys,),
    "sensors": (sensor_keys.SensorKeys,),
    "motion": MOTIONS,
    "frames": (Keyframe,),
    "path": walk_keys.PathPiece.__args__,
    "places": (walk_keys.Stone,),
    "steer": (SteerKeys,),
    "gait": (walk_keys.GaitKeys,),
    "stabiliser": (walk_keys.StabiliserKeys,),
    "complies": (hand_keys.ComplyKeys,),
    "notices": (hand_keys.NoticeKeys,),
    "hand": (hand_keys.HandKeys,),
    "hand_frames": (hand_keys.HandFrame,),
    "simulation": (contents.Simulation,),
    "contact": (contents.SelectionKeys, contents.PenaltyKeys),
    "record": (contents.RecordKeys,),
    "camera": (contents.CameraKeys,),
}


def attributes(kind: Any) -> dict[str, str]:
    """Return a line about every key, from the docstrings of a type and those it is made from."""
    texts: dict[str, str] = {}
    for cls in reversed(kind.__mro__):
        _, _, listed = (cls.__doc__ or "").partition("Attributes:")
        if issubclass(cls, Keys):
            # what is indented further belongs to the line above
            for _, key, text in re.findall(r"^( +)(\w+): (.+(?:\n\1 +.+)*)$", listed, re.MULTILINE):
                texts[key] = " ".join(text.split())
    return texts


def schema() -> dict[str, Any]:
    """Return the JSON schema of scene files."""
    made = msgspec.json.schema(contents.Contents)
    kinds = {cls.__name__: cls for table in TABLES.values() for cls in table}
    for name, kind_schema in made["$defs"].items():
        about = attributes(kinds[name])
        kind_schema["description"] = (kinds[name].__doc__ or "").partition("\n")[0]
        kind_schema.pop("title", None)
        for key, value in kind_schema.get("properties", {}).items():
            value.setdefault("description", about.get(key, "what kind of thing this is"))
    root = made["$defs"]["Contents"]
    # a file that includes others may leave to them what has to be there
    root.pop("required")
    path = {"type": "string", "minLength": 1}
    root["properties"] = {
        "include": {"anyOf": [path, {"type": "array", "items": path}], "description": INCLUDE},
        **root["properties"],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scene of tabi",
        **_short(made),
    }


def _short(node: Any) -> Any:
    """Shorten three numbers of one kind to a list of three."""
    if isinstance(node, dict):
        node = {key: _short(value) for key, value in node.items()}
        each = node.get("prefixItems")
        if each and all(number == each[0] for number in each):
            del node["prefixItems"]
            node["items"] = each[0]
        return node
    return [_short(value) for value in node] if isinstance(node, list | tuple) else node


def text() -> str:
    """The JSON schema as the file that comes with the package."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


# ---- tables -------------------------------------------------------------------------------------


def table(name: str) -> str:
    """The keys of one kind of things as a table in Markdown."""
    kinds = TABLES[name]
    infos = [type_of(kind) for kind in kinds]
    # a key that means the same for several kinds has one row
    owners: dict[tuple[str, ...], list[str]] = {}
    for kind, info in zip(kinds, infos, strict=True):
        about = attributes(kind)
        for f in sorted(info.fields, key=lambda f: not f.required):
            owners.setdefault((f.name, about[f.name], expected(f.type), default(f)), []).append(
                str(info.tag)
            )
    rows = ["| key | | expected | default |", "|:--|:--|:--|:--|"]
    if name == "scene":
        rows.append(f"| `include` | {INCLUDE} | text, or a list | |")
    if len(kinds) > 1:
        rows.append(
            f"| `{infos[0].tag_field}` | what it is | "
            f"{', '.join(f'`{info.tag}`' for info in infos)} | required |"
        )
    for (key, *cells), owner_names in owners.items():
        only = "" if len(owner_names) == len(kinds) else f" ({', '.join(owner_names)})"
        rows.append(f"| `{key}`{only} | {' | '.join(cells)} |")
    return "\n".join(rows)


def expected(kind: Any) -> str:
    """Describe the type of a value for a cell of a table."""
    if isinstance(kind, inspect.UnionType):
        kinds = [k for k in kind.types if not isinstance(k, inspect.NoneType)]
        words = [k for k in kinds if is_word(k)]
        if words and len(kinds) > 1:
            rest = [k for k in kinds if isinstance(k, inspect.VarTupleType)]
            return f"{expected(words[0])}, or {expected(rest[0]) if rest else 'keys, see below'}"
        return expected(kinds[0]) if len(kinds) == 1 else "keys, see below"
    if isinstance(kind, inspect.LiteralType):
        return ", ".join(f"`{value}`" for value in kind.values)
    if isinstance(kind, inspect.FloatType | inspect.IntType):
        whole = "whole " if isinstance(kind, inspect.IntType) else ""
        return f"{whole}number{bounds(kind, MAX_SHOWN_BOUND)}"
    if isinstance(kind, inspect.StrType):
        return "name" if kind.pattern else "text"
    if isinstance(kind, inspect.TupleType):
        return f"list of {len(kind.item_types)} {plural(kind.item_types[0])}"
    if isinstance(kind, inspect.VarTupleType):
        low, high = kind.min_length or 0, kind.max_length
        count = f" of {low} to {high}" if low and high else f" of {low} or more" if low else ""
        return (
            f"list{count}"
            if expected(kind.item_type).startswith("keys")
            else f"list{count or ' of'} {plural(kind.item_type)}"
        )
    if isinstance(kind, inspect.DictType):
        return (
            "names and their keys"
            if "keys" in expected(kind.value_type)
            else f"names and their {plural(kind.value_type)}"
        )
    return "true, false" if isinstance(kind, inspect.BoolType) else "keys, see below"


def plural(kind: Any) -> str:
    """Several values, for a cell of a table."""
    return re.sub(r"^(whole number|number|text|name|list)", r"\1s", expected(kind))


def default(f: Any) -> str:
    """Format the default of a key for a cell of a table."""
    if f.required:
        return "required"
    value = f.default if f.default is not msgspec.NODEFAULT else f.default_factory()
    if isinstance(value, Hold):
        return "`{kind: hold}`"
    if value in ((), {}, None, "") or isinstance(value, msgspec.Struct):
        return ""
    if isinstance(value, tuple) and isinstance(value[0], msgspec.Struct):
        return f"`[{{{value[0].__struct_config__.tag_field}: {value[0].__struct_config__.tag}}}]`"
    return f"`{json.dumps(value)}`"
