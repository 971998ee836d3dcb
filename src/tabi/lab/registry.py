"""The studies of this package, found by their files: name and help of each are read as text, so
that a list of all of them imports none.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tabi._errors import ModelError
from tabi._registered import by_name
from tabi.lab.study import Study

# how the file of a study says that it is one
CLASS = re.compile(
    r"^class (?P<class>\w+)\((?:\w+, )*(?P<base>Validator|Benchmark)\b(?P<rest>[^)]*)\):\n"
    r'(?:    """(?P<words>.*?)(?:\n\s*\n|"""))?',
    re.MULTILINE | re.DOTALL,
)
NAME = re.compile(r'name="([^"]+)"')
GROUPS = {"Validator": "validate", "Benchmark": "bench"}
FOLDER = Path(__file__).parent


class FoundStudy(NamedTuple):
    """Where a study is, and what its command says of it."""

    group: str
    name: str
    summary: str
    module: str
    kind: str

    def load(self) -> type[Study]:
        """The study itself; its module is imported."""
        return getattr(importlib.import_module(self.module), self.kind)


def studies_of(module: str, source: str) -> list[FoundStudy]:
    """Studies that the source of a module defines; one that lacks name or summary is refused."""
    found = []
    for match in CLASS.finditer(source):
        kind, base = match["class"], match["base"]
        if "abstract=True" in match["rest"]:
            continue
        words, name = f"study {kind} in {module}", NAME.search(match["rest"])
        if name is None:
            raise ModelError(f'{words} has no name; expected class {kind}({base}, name="name")')
        if not (match["words"] or "").strip():
            raise ModelError(f"{words} has no summary; expected a docstring, its command's help")
        summary = " ".join(match["words"].split())
        found.append(FoundStudy(GROUPS[base], name[1], summary, module, kind))
    return found


def registered(found: Iterable[FoundStudy], group: str) -> dict[str, FoundStudy]:
    """The studies of a group by their names; one with the name of another is refused."""
    own = ((one.name, one.module, one) for one in found if one.group == group)
    return by_name(f"tabi {group}", own)


@cache
def studies(group: str) -> dict[str, FoundStudy]:
    """The studies under a command, by their names."""
    found = []
    for path in sorted(FOLDER.rglob("*.py")):
        inner = path.relative_to(FOLDER).with_suffix("").parts
        found += studies_of(".".join(("tabi.lab", *inner)), path.read_text(encoding="utf-8"))
    return registered(found, group)
