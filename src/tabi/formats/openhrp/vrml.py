"""VRML 2.0 / 97 text → nodes with their fields and line numbers.

A file is a list of nodes ``[DEF name] Type { field value … }``. A value is a run of numbers, a
string, TRUE, FALSE, NULL, a node, ``USE name`` (the very node defined before), or a list of these
in brackets; commas are white space. ``PROTO Type [ declarations ] { body }`` declares fields with
defaults: kept; what the body draws is skipped. So are ROUTE and Script. ``Inline { url "file" }``
gets the nodes of that file as its ``children``.

The parser keeps its own stack, so depth of nesting costs no recursion. Types of fields are not
needed to find where a value ends; callers that read numbers or text from a node state what they
expect.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabi._errors import ModelError
from tabi.formats.openhrp.vrml_node import Field, VrmlNode
from tabi.formats.openhrp.vrml_tokens import Token, tokens

INLINE_DEPTH = 16


def read(path: Path) -> list[VrmlNode]:
    """The nodes of a file; those of Inline files are its children."""
    return _read(path, (), {})


def _read(path: Path, chain: tuple[Path, ...], seen: dict[Path, list[VrmlNode]]) -> list[VrmlNode]:
    try:
        # comments come in any Japanese encoding; what matters is ASCII
        text = path.read_bytes().decode("utf-8-sig", errors="replace")
        full = path.resolve()
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise ModelError(
            f"the model file cannot be read ({reason}); give the path of a VRML file (.wrl)", path
        ) from None
    if full not in seen:
        seen[full] = _Parser(text, path, (*chain, full), seen).run()
    return seen[full]


def parse(text: str, file: Path) -> list[VrmlNode]:
    """The nodes of a text; ``file`` is what errors name and what Inline paths start from."""
    return _Parser(text, file, (file.resolve(),), {}).run()


@dataclass
class _List:
    """An open bracket: what it gathers, the field it belongs to, its line."""

    values: list
    owner: VrmlNode | None
    name: str
    line: int


class _Parser:
    def __init__(
        self, text: str, file: Path, chain: tuple[Path, ...], seen: dict[Path, list[VrmlNode]]
    ) -> None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if not text.strip():
            raise ModelError("the file is empty; expected a VRML 2.0 model", file)
        if not re.match(r"#VRML\s+V2\.0\b", text):
            raise ModelError(
                f"the file begins with {text[:20].splitlines()[0]!r}; expected '#VRML V2.0 utf8'",
                file,
                1,
            )
        self.file, self.chain, self.seen = file, chain, seen
        self.tokens = tokens(text)
        self.pending: Token | None = None
        self.names: dict[str, VrmlNode] = {}
        self.protos: dict[str, VrmlNode] = {}
        self.stack: list[VrmlNode | _List] = []
        self.long_string: int | None = None

    def run(self) -> list[VrmlNode]:
        """All nodes of the file."""
        top = _List([], None, "", 0)
        self.stack.append(top)
        while self.stack:
            token, place = self.next(), self.stack[-1]
            if isinstance(place, _List):
                self.in_list(place, token)
            elif place.kind in ("PROTO", "EXTERNPROTO"):
                self.in_interface(place, token)
            else:
                self.in_node(place, token)
        return top.values

    def next(self) -> Token:
        """Return the next token of the file."""
        token, self.pending = self.pending or next(self.tokens), None
        if token[0] == "string" and "\n" in str(token[1]) and self.long_string is None:
            self.long_string = token[2]
        if token[0] == "open":
            raise self.fail(
                'a string begins here and never ends; expected its closing quote "', token[2]
            )
        return token

    def fail(self, message: str, line: int) -> ModelError:
        """A syntax error; a string over several lines before it is the likelier culprit."""
        if self.long_string is not None and self.long_string < line:
            message = (
                f"a string begins here and runs over several lines; "
                f'is its closing quote " missing? (then: {message})'
            )
            return ModelError(message, self.file, self.long_string)
        return ModelError(message, self.file, line)

    def word(self, what: str, also: str = "") -> tuple[str, int]:
        """The next token, which has to be a word."""
        kind, value, line = self.next()
        if kind not in ("word", also):
            raise self.fail(f"found {_quote(kind, value)}; expected {what}", line)
        return str(value), line

    # ---- places -----------------------------------------------------------------------------

    def in_list(self, place: _List, token: Token) -> None:
        kind, value, line = token
        top = len(self.stack) == 1
        if kind == ("end" if top else "]"):
            self.stack.pop()
        elif kind in ("]", "}", "end"):
            if top:
                raise self.fail(
                    f"found {kind!r} that closes nothing; "
                    f"remove it, or look for one too many above",
                    line,
                )
            where = f"the list {place.name} of {place.owner}, opened in line {place.line}"
            at = place.line if kind == "end" else line
            raise self.fail(
                f"{where}, is not closed; expected ']', found {_quote(kind, value)}", at
            )
        elif top and kind != "word":
            raise self.fail(
                f"found {_quote(kind, value)}; expected a node, like Transform {{ … }}", line
            )
        else:
            self.value(place.values, place.owner, place.name, token)

    def in_node(self, node: VrmlNode, token: Token) -> None:
        kind, value, line = token
        if kind == "}":
            self.close(node)
        elif kind == "word" and not self.statement(token):
            if str(value) in node.fields:
                raise self.fail(f"{node} has the field {value!r} twice; keep one", line)
            self.field(node, str(value), line)
        elif kind in ("number", "bad", "string"):
            before = next(reversed(node.fields), None)
            wanted = (
                f"a field's name or '}}' after its field {before!r}" if before else "a field's name"
            )
            raise self.fail(f"{node} has {_quote(kind, value)}; expected {wanted}", line)
        elif kind != "word":
            at = node.line if kind == "end" else line
            raise self.fail(
                f"{node}, opened in line {node.line}, is not closed; "
                f"expected '}}', found {_quote(kind, value)}",
                at,
            )

    def in_interface(self, proto: VrmlNode, token: Token) -> None:
        kind, value, line = token
        if kind == "]":
            self.stack.pop()
            if proto.kind == "PROTO":
                self.skip_braces(proto)
            else:
                self.field(proto, "url", line)
        elif kind == "word" and value in ("field", "exposedField", "eventIn", "eventOut"):
            self.word("the type of a field")
            name, line = self.word("the name of a field")
            if proto.kind == "PROTO" and "event" not in str(value):
                self.field(proto, name, line)
            else:
                proto.fields[name] = Field([], line)
        else:
            raise self.fail(
                f"{proto} has {_quote(kind, value)}; expected 'exposedField', 'field', 'eventIn', "
                f"'eventOut' or ']'",
                line,
            )

    # ---- pieces -----------------------------------------------------------------------------

    def field(self, node: VrmlNode, name: str, line: int) -> None:
        values = (node_field := Field([], line)).values
        node.fields[name] = node_field
        token = self.next()
        if token[0] == "[":
            self.stack.append(_List(values, node, name, token[2]))
            return
        self.value(values, node, name, token)
        while token[0] == "number":
            # a comment splits a run of numbers in two
            token = self.pending = self.next()
            if token[0] == "number":
                self.pending = None
                values += token[1]

    def value(self, values: list, owner: VrmlNode | None, name: str, token: Token) -> None:
        kind, value, line = token
        if kind == "number":
            values += value
        elif kind == "string":
            values.append(value)
        elif kind != "word":
            raise self.fail(
                f"{owner} has {name} {_quote(kind, value)}; expected a number, a string or a node",
                line,
            )
        elif value in ("TRUE", "FALSE", "NULL"):
            values.append({"TRUE": True, "FALSE": False, "NULL": None}[str(value)])
        elif value == "USE":
            values.append(self.used(*self.word("the name of a node", also="bad")))
        elif value == "DEF":
            label, _ = self.word("the name of a node", also="bad")
            self.open(values, owner, name, *self.word("the type of a node"), label)
        elif not self.statement(token):
            self.open(values, owner, name, str(value), line)

    def open(
        self, values: list, owner: VrmlNode | None, name: str, kind: str, line: int, label: str = ""
    ) -> None:
        opening, text, at = self.next()
        if opening != "{":
            where = f"{owner} has {name} {kind!r}" if owner else f"found {kind!r}"
            raise self.fail(
                f"{where} followed by {_quote(opening, text)}; expected a value, or a node with "
                f"its '{{'",
                line,
            )
        node = VrmlNode(kind, self.file, line, label, owner, self.protos.get(kind))
        values.append(node)
        if label:
            self.names[label] = node
        if kind == "Script":
            self.pending = (opening, text, at)
            self.skip_braces(node)
        else:
            self.stack.append(node)

    def used(self, name: str, line: int) -> VrmlNode:
        if name not in self.names:
            near = difflib.get_close_matches(name, self.names, n=3, cutoff=0.4)
            hint = f"; names near it: {', '.join(map(repr, near))}" if near else ""
            raise self.fail(
                f"USE {name} comes before any DEF {name}; define the node first{hint}", line
            )
        if self.names[name] in self.stack:
            raise self.fail(
                f"USE {name} stands inside the node {name!r} itself; a node cannot contain itself",
                line,
            )
        return self.names[name]

    def statement(self, token: Token) -> bool:
        """PROTO, EXTERNPROTO and ROUTE, which may stand wherever a node or a field may."""
        kind, line = token[1], token[2]
        if kind == "ROUTE":
            for what in ("a node's event", "TO", "a node's event"):
                self.word(what)
        elif kind in ("PROTO", "EXTERNPROTO"):
            name, _ = self.word("the name of a PROTO")
            proto = self.protos[name] = VrmlNode(str(kind), self.file, line, name)
            opening, value, at = self.next()
            if opening != "[":
                raise self.fail(
                    f"{proto} is followed by {_quote(opening, value)}; expected '[' and its fields",
                    at,
                )
            self.stack.append(proto)
        else:
            return False
        return True

    def skip_braces(self, node: VrmlNode) -> None:
        depth = 0
        while True:
            kind, value, _ = self.next()
            depth += (kind == "{") - (kind == "}")
            if kind == "end" or (depth == 0 and kind != "}"):
                raise self.fail(
                    f"{node}, opened in line {node.line}, found {_quote(kind, value)}; "
                    f"expected a body in braces",
                    node.line,
                )
            if depth == 0:
                return

    def close(self, node: VrmlNode) -> None:
        self.stack.pop()
        if node.kind != "Inline":
            return
        urls = [str(u) for u in field.values] if (field := node.get("url")) else []
        folder = self.file.parent
        path = next((folder / u for u in urls if _is_file(folder / u)), None)
        if path is None:
            raise node.error(
                f"names {', '.join(map(repr, urls)) or 'no file'}; "
                f"no such file in {folder}, put it there or fix its url"
            )
        if path.resolve() in self.chain:
            raise node.error(
                f"names {path.name!r}, which is being read already; a file cannot contain itself"
            )
        if len(self.chain) >= INLINE_DEPTH:
            raise node.error(
                f"stands {INLINE_DEPTH} files deep; expected at most {INLINE_DEPTH} Inline files "
                f"within each other"
            )
        node.fields["children"] = Field(list(_read(path, self.chain, self.seen)), node.line)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _quote(kind: str, value: Any) -> str:
    if kind == "end":
        return "the end of the file"
    if kind == "number":
        return f"the number {value[0]:g}"
    return f"the string {value!r}" if kind == "string" else repr(value)
