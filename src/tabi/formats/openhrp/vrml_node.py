"""A node of a VRML file: fields as they were written, asked for by what they should be.

Every answer is checked, so that a wrong value becomes one sentence with the node, its file and its
line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tabi._errors import ModelError

MAX_NUMBER = 3.5e38  # VRML's numbers are single precision


@dataclass
class Field:
    """Values of a field (numbers, strings, booleans, None, nodes) and the line of its name."""

    values: list
    line: int


@dataclass(eq=False, repr=False)
class VrmlNode:
    """A node: its type, DEF name, fields, where it stands, and the PROTO that declares its type, if
    the file has one.
    """

    kind: str
    file: Path
    line: int
    name: str = ""
    owner: VrmlNode | None = None
    proto: VrmlNode | None = None
    fields: dict[str, Field] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.name:
            return f"{self.kind} {self.name!r}"
        owner = self.owner
        while owner and not owner.name:
            owner = owner.owner
        return f"{self.kind} in {owner}" if owner else f"a {self.kind}"

    def error(self, message: str, line: int | None = None) -> ModelError:
        """An error about this node: '<node> <message>'."""
        return ModelError(f"{self} {message}", self.file, line or self.line)

    def line_of(self, name: str) -> int:
        """Line of a field, or of the node where the field is not written."""
        return self.fields[name].line if name in self.fields else self.line

    def get(self, name: str) -> Field | None:
        """The field as written, or its default in the PROTO."""
        if name in self.fields or self.proto is None or self.proto.kind == "EXTERNPROTO":
            return self.fields.get(name)
        return self.proto.fields.get(name)

    def numbers(self, name: str, count: int | None, default: tuple[float, ...] = ()) -> list[float]:
        """The finite numbers of a field, ``count`` of them if given."""
        number_field = self.get(name)
        if number_field is None:
            return list(default)
        values = number_field.values
        good = all(type(v) is float and abs(v) < MAX_NUMBER for v in values)
        if not good or (count is not None and len(values) != count):
            several = "finite numbers" if count is None else f"{count} finite numbers"
            wanted = "one finite number" if count == 1 else several
            raise self.error(f"has {name} {shown(values)}; expected {wanted}", number_field.line)
        return values

    def number(self, name: str, default: float) -> float:
        """The one finite number of a field."""
        return self.numbers(name, 1, (default,))[0]

    def text(self, name: str, default: str = "") -> str:
        """The string of a field."""
        values = self.get(name)
        if values is None:
            return default
        if len(values.values) != 1 or not isinstance(values.values[0], str):
            raise self.error(
                f'has {name} {shown(values.values)}; expected one string in quotes, like "name"',
                values.line,
            )
        return values.values[0]

    def nodes(self, name: str) -> list[VrmlNode]:
        """The nodes of a field; NULL is none."""
        field = self.get(name)
        values = [] if field is None else [v for v in field.values if v is not None]
        if not all(isinstance(v, VrmlNode) for v in values):
            raise self.error(
                f"has {name} {shown(values)}; expected nodes, like Shape {{ … }}",
                field.line if field else None,
            )
        return values


def shown(values: list) -> str:
    """Values as an error message quotes them."""
    words = [
        f"{v:g}" if type(v) is float else v.kind if isinstance(v, VrmlNode) else repr(v)
        for v in values[:10]
    ]
    return (
        " ".join(words) + (f" … ({len(values)} values)" if len(values) > 10 else "")
    ) or "without a value"
