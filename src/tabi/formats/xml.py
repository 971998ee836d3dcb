"""An XML file of a robot being read: attributes and numbers with errors that name the line,
and a tally of what is not read.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from tabi._errors import ModelError

Element = Any  # an lxml element
Array = NDArray[np.float64]
INFINITY = float("inf")
# first bytes of UTF-8 and UTF-16 with a mark, of text all the same
BEGINNINGS = (b"\xef", b"\xfe", b"\xff")


def parse(path: Path) -> Element:
    """The root element of an XML file, with the names of a default namespace made plain;
    entities and the network stay off.
    """
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as problem:
        reason = (
            "it is a directory"
            if os.path.isdir(path)
            else getattr(problem, "strerror", None) or problem
        )
        raise ModelError(
            f"robot file cannot be opened ({reason}); expected the path of a file", path
        ) from None
    if not data.strip():
        raise ModelError("file is empty; expected a <robot> element", path)
    first = data.lstrip()[:1]
    if first not in (b"<", *BEGINNINGS) and any(byte < 9 for byte in data[:64]):
        raise ModelError(
            f"file is not XML, it begins with {data[:8]!r}; expected a <robot> element", path
        )
    try:
        root = etree.fromstring(
            data,
            etree.XMLParser(
                resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
            ),
        )
    except etree.XMLSyntaxError as problem:
        raise ModelError(
            f"file is not well-formed XML: {' '.join(str(problem.msg).split())}; fix it there",
            path,
            problem.lineno,
        ) from None
    for element in root.iter(etree.Element):
        if element.prefix is None:
            element.tag = etree.QName(element).localname
    return root


class XmlFile:
    """One file being read.

    Args:
        known: tag → (children, attributes) that are read; whatever else the file holds is counted
            as ignored.
        many: tags that may stand several times in one element.
    """

    def __init__(
        self,
        path: Path,
        root: Element,
        known: dict[str, tuple[list[str], list[str]]],
        many: set[str],
    ) -> None:
        self.path, self.root = path, root
        self._known, self._many = known, many
        self.ignored: Counter[str] = Counter()
        self._gathered: dict[str, list[str]] = {}

    def error(self, place: Element | int | None, message: str) -> ModelError:
        """An error at an element or a line."""
        return ModelError(
            message,
            self.path,
            place if place is None or isinstance(place, int) else place.sourceline,
        )

    def text(self, element: Element, attribute: str, owner: str) -> str:
        """An attribute that has to be there."""
        value = element.get(attribute)
        if not value:
            raise self.error(
                element,
                f'{owner} has a <{element.tag}> without {attribute}; expected {attribute}="…"',
            )
        return value

    def numbers(
        self,
        element: Element,
        attribute: str,
        owner: str,
        count: int,
        default: float | None = None,
        infinite: bool = False,
    ) -> Array:
        """Numbers of an attribute, or ``default`` for each where it is not there;
        finite unless ``infinite``.
        """
        if default is not None and element.get(attribute) is None:
            return np.full(count, default)
        text = self.text(element, attribute, owner)
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            values = np.array([])
        # Python would take 1_0 for ten; squares of what passes stay finite
        largest = INFINITY if infinite else 1e100
        if len(values) != count or "_" in text or not (np.abs(values) <= largest).all():
            expected = "a finite number" if count == 1 else f"{count} finite numbers"
            raise self.error(
                element, f"{owner} has {attribute}={text!r} in <{element.tag}>; expected {expected}"
            )
        return values

    def number(
        self,
        element: Element,
        attribute: str,
        owner: str,
        default: float | None = None,
        lowest: float = -INFINITY,
        infinite: bool = False,
    ) -> float:
        """One number of an attribute, not below ``lowest``."""
        value = float(self.numbers(element, attribute, owner, 1, default, infinite)[0])
        if value < lowest:
            raise self.error(
                element,
                f"{owner} has {attribute}={value:g} in <{element.tag}>; "
                f"expected a number ≥ {lowest:g}",
            )
        return value

    def named_once(self, tag: str) -> dict[str, int | None]:
        """Line of every child of the root with that tag, by its name."""
        lines: dict[str, int | None] = {}
        for element in self.root.iterchildren(tag):
            name = element.get("name")
            if not name:
                raise self.error(element, f'<{tag}> without a name; expected name="…"')
            if name in lines:
                raise self.error(
                    element,
                    f"{tag} {name!r} occurs twice, first on line {lines[name]}; "
                    f"give every {tag} its own name",
                )
            lines[name] = element.sourceline
        return lines

    # ---- notes ------------------------------------------------------------------------------

    def gather(self, what: str, name: str, kind: str = "links") -> None:
        """Note something of several links or joints in one line."""
        names = self._gathered.setdefault(f"{kind} {what}", [])
        if name not in names:
            names.append(name)

    def count_ignored(self, element: Element) -> None:
        """Count what is not read in and below an element."""
        seen: set[str] = set()
        children, attributes = self._known[element.tag]
        self.ignored.update(
            f"attribute {a} of <{element.tag}>"
            for a in element.attrib
            if a not in attributes and not a.startswith("{")
        )
        for child in element.iterchildren(etree.Element):
            if child.prefix == "xacro":
                raise self.error(
                    child,
                    f"element <xacro:{etree.QName(child).localname}> is not expanded; "
                    f"run xacro on the file first",
                )
            if child.tag not in children:
                place = "" if element is self.root else f" in <{element.tag}>"
                self.ignored[f"<{etree.QName(child).localname}>{place}"] += 1
            elif child.tag in seen and child.tag not in self._many:
                self.ignored[f"second <{child.tag}> in <{element.tag}>"] += 1
            elif child.tag in self._known:
                self.count_ignored(child)
            seen.add(child.tag)

    def summary(self) -> list[str]:
        """Lines that list what was gathered and ignored."""
        lines = []
        for what, names in self._gathered.items():
            rest = f" and {len(names) - 6} more" if len(names) > 6 else ""
            lines.append(f"{what} ({len(names)}): {', '.join(map(repr, names[:6]))}{rest}")
        if self.ignored:
            lines.append(
                "ignored: "
                + ", ".join(f"{count} × {what}" for what, count in sorted(self.ignored.items()))
            )
        return lines
