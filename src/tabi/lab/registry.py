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


class StudyEntry(NamedTuple):
    """Module of a study, and the summary of its command."""

    group: str
    name: str
    summary: str
    module: str
    kind: str

    def load(self) -> type[Study]:
        """Import the module and return the study."""
        return getattr(importlib.import_module(self.module), self.kind)


def studies_of(module: str, source: str) -> list[StudyEntry]:
    """Return the studies defined in a module's source; refuse those without name or summary."""
    result = []
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
        result.append(StudyEntry(GROUPS[base], name[1], summary, module, kind))
    return result


def registered(entries: Iterable[StudyEntry], group: str) -> dict[str, StudyEntry]:
    """Return the studies of a group by their names; refuse two with one name."""
    return by_name(f"tabi {group}", ((e.name, e.module, e) for e in entries if e.group == group))


@cache
def studies(group: str) -> dict[str, StudyEntry]:
    """Return the studies under a command, by their names."""
    result = []
    for path in sorted(FOLDER.rglob("*.py")):
        inner = path.relative_to(FOLDER).with_suffix("").parts
        result += studies_of(".".join(("tabi.lab", *inner)), path.read_text(encoding="utf-8"))
    return registered(result, group)
