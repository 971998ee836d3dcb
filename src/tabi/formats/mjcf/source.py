"""An MJCF file in MuJoCo's hands: compiled, or refused in one sentence that names file, line and
element.

MuJoCo says where it stumbled by a line number, or 0 when the place is in an included file, and lets
a NaN pass. So the XML is scanned beside it, includes and all: the scan knows every element's file
and line.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from lxml import etree

from tabi._errors import ModelError

# what MuJoCo complains about → what to do about it
ADVICE = (
    ("empty file|PARSING_TEXT|model type", "expected an XML file that starts with <mujoco>"),
    ("XML parse error", "expected well-formed XML: close every element and quote"),
    (
        "unrecognized element|unrecognized attribute",
        "expected a name of the MJCF schema: correct the spelling or remove it",
    ),
    ("invalid keyword", "expected one of the keywords of the MJCF schema"),
    ("repeated name", "give every element its own name"),
    (
        "larger than mjMINVAL",
        "expected a positive mass and inertia: give the body an <inertial> or geoms with a density",
    ),
    (
        "A [+] B >= C",
        (
            "expected principal moments of a real body: "
            "correct them, or set balanceinertia in <compiler>"
        ),
    ),
    (
        "opening file|not found or",
        "expected a file there: correct its path, or meshdir in <compiler>",
    ),
    ("not found|unknown", "expected the name of an element of this file"),
    (
        "bad format|problem reading|too much data|not enough|too large|size",
        "expected numbers of the kind and count MJCF asks for",
    ),
    ("zero quaternion|too small", "expected a direction or rotation of length one"),
)


def mujoco() -> ModuleType:
    """MuJoCo, imported when it is needed and not before."""
    try:
        import mujoco as module
    except ImportError:
        raise ModelError(
            "reading and writing MJCF needs MuJoCo, which is not installed; install it with: "
            'pip install "tabi[mjcf]"'
        ) from None
    if int(module.__version__.partition(".")[0]) < 4:
        raise ModelError(
            f"MuJoCo {module.__version__} is too old, expected 4.0 or newer; install it with: "
            f'pip install --upgrade "tabi[mjcf]"'
        )
    return module


@contextmanager
def mujoco_warnings(mj: ModuleType) -> Iterator[list[str]]:
    """Collect MuJoCo's warnings; without a handler it writes a log file into the working
    directory.
    """
    messages: list[str] = []
    former = mj.get_mju_user_warning()
    mj.set_mju_user_warning(messages.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield messages
        messages += [str(w.message) for w in caught]
    finally:
        mj.set_mju_user_warning(former)


@dataclass
class Source:
    """A compiled MJCF file.

    Attributes:
        mj: the module MuJoCo. spec, m: its MjSpec and MjModel.
        warnings: MuJoCo's messages while compiling.
    """

    path: Path
    mj: ModuleType
    spec: Any
    m: Any
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        tables = {
            "body": self.spec.bodies,
            "joint": self.spec.joints,
            "geom": self.spec.geoms,
            "site": self.spec.sites,
            "key": self.spec.keys,
        }
        self._lines = {
            kind: {e.id: _line(e.info) for e in elements} for kind, elements in tables.items()
        }

    def line(self, kind: str, number: int) -> int | None:
        """Line of a body, joint, geom, site or key in the file;
        None for what an included file holds.
        """
        return self._lines[kind].get(number)

    def kind(self, enum: str, value: Any) -> str:
        """The word for one of MuJoCo's numbered kinds: "hinge" for mjtJoint 3."""
        return getattr(self.mj, enum)(int(value)).name.partition("_")[2].lower()


def _line(info: str) -> int | None:
    """The line of "line 12"; None for elements of included files, which have line 0."""
    match = re.search(r"line (\d+)", info)
    return int(match[1]) or None if match else None


def compiled(path: Path) -> Source:
    """Compile the file, or say in one sentence why not."""
    mj = mujoco()
    if not path.is_file():
        raise ModelError(f"{path} is not a file; expected the path of an MJCF file")
    scan = _Scan(path)
    scan.check()
    try:
        with mujoco_warnings(mj) as messages:
            spec = mj.MjSpec.from_file(str(path))
            spec.compiler.fusestatic = False
            spec.compiler.discardvisual = False
            m = spec.compile()
    except (ValueError, mj.FatalError, mj.UnexpectedError) as error:
        raise scan.sentence(str(error)) from None
    source = Source(path, mj, spec, m, messages)
    _check_numbers(source)
    return source


def _check_numbers(source: Source) -> None:
    """Refuse what MuJoCo lets pass: infinite numbers, and negative masses of bodies without joints,
    which it takes for zero.
    """
    m = source.m
    for body in source.spec.bodies:
        if body.explicitinertial and not (body.mass >= 0 and np.min(body.inertia) >= 0):
            what = (
                f"mass {body.mass:g} kg and moments of inertia {np.asarray(body.inertia).tolist()}"
            )
            raise ModelError(
                f"<body> {body.name!r} has {what}; expected numbers ≥ 0",
                source.path,
                _line(body.info),
            )
    for kind, count, fields in (
        (
            "body",
            m.nbody,
            ("body_pos", "body_quat", "body_mass", "body_ipos", "body_iquat", "body_inertia"),
        ),
        ("joint", m.njnt, ("jnt_pos", "jnt_axis", "jnt_range", "jnt_stiffness")),
        ("geom", m.ngeom, ("geom_pos", "geom_quat", "geom_size", "geom_friction")),
        ("site", m.nsite, ("site_pos", "site_quat")),
        ("key", m.nkey, ("key_qpos",)),
    ):
        for array in fields:
            bad = (
                np.flatnonzero(~np.isfinite(getattr(m, array).reshape(count, -1)).all(axis=1))
                if count
                else []
            )
            if len(bad):
                k = int(bad[0])
                what = (
                    f"<{kind}> {getattr(m, kind)(k).name!r} has a {array.partition('_')[2]} that "
                    f"is not finite; expected finite numbers"
                )
                raise ModelError(what, source.path, source.line(kind, k))


class _Scan:
    """The elements of a file and of what it includes, with their places."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files: dict[Path, Any] = {}
        self._open(path)

    def _open(self, path: Path) -> None:
        parser = etree.XMLParser(
            recover=True,
            resolve_entities=False,
            no_network=True,
            huge_tree=True,
            remove_comments=True,
        )
        try:
            root = etree.fromstring(path.read_bytes(), parser)
        except (etree.XMLSyntaxError, OSError):
            return
        if root is None:
            return
        self.files[path] = root
        for element in root.iter("include"):
            # MuJoCo looks beside the main file
            file = self.path.parent / element.get("file", "")
            if file.is_file() and file not in self.files:
                self._open(file)

    def elements(self) -> Iterator[tuple[Path, Any]]:
        """Every element with its file."""
        for file, root in self.files.items():
            for element in root.iter():
                yield file, element

    def check(self) -> None:
        """Refuse another format, and the NaNs that MuJoCo would take."""
        root = self.files.get(self.path)
        if root is not None and root.tag == "robot":
            raise ModelError(
                "the file is a URDF (<robot>); expected MJCF, which starts with <mujoco>: "
                "load it as URDF",
                self.path,
                root.sourceline,
            )
        for file, element in self.elements():
            for key, value in element.attrib.items():
                tokens = value.split()
                if len(tokens) > 1 and any(t.lower() in ("nan", "+nan", "-nan") for t in tokens):
                    raise _not_a_number(file, element, key)
                if value.lower() in ("nan", "+nan", "-nan") and key not in (
                    "name",
                    "class",
                    "childclass",
                ):
                    raise _not_a_number(file, element, key)

    def sentence(self, text: str) -> ModelError:
        """MuJoCo's complaint as one sentence with the file, line and element it is about."""
        tag = _search(r"Element '([^']*)'|XMLElement name=(\w+)", text)
        name = _search(r"Element name '([^']*)'", text)
        line = None
        if number := _search(r"line (\d+)|Line number=(\d+)", text):
            line = int(number) or None
        cause = re.sub(r"^((XML )?Error: |ParseXML: )+", "", text.strip().splitlines()[0])
        if kind := _search(r"XML_ERROR_(\w+)", text):
            cause = f"broken XML ({kind.lower().replace('_', ' ')})"
            file, element = next((f for f in self.files if not _well_formed(f)), self.path), None
        else:
            file, element = self._place(tag, name, line, cause)
        for separator in {os.sep, "/"}:
            cause = cause.replace(f"{self.path.parent}{separator}", "")
        known = f"<{tag}>: " if tag else f"{name!r}: " if name else ""
        about = f"{_described(element)}: " if element is not None else known
        advice = next(
            (advice for pattern, advice in ADVICE if re.search(pattern, text)),
            "correct it and load again",
        )
        return ModelError(
            f"{about}{cause}; {advice}", file, line if element is None else element.sourceline
        )

    def _place(
        self, tag: str | None, name: str | None, line: int | None, cause: str
    ) -> tuple[Path, Any]:
        """File and element that MuJoCo means: by line in the main file, else by name, tag,
        the file it asks for or its words.
        """
        missing, words = _search(r"file '([^']*)'", cause) or "", set(re.findall(r"\w+", cause))
        candidates = [
            (f, e)
            for f, e in self.elements()
            if line is None or (f == self.path and e.sourceline == line)
        ]
        tests = (
            lambda e: bool(name) and e.get("name") == name,
            lambda e: tag is not None and e.tag == tag,
            lambda e: bool(missing) and Path(e.get("file", "")).name == Path(missing).name,
            lambda e: line is not None and e.tag in words,
            lambda e: line is not None and name is not None,
        )
        for test in tests:
            matches = [(f, e) for f, e in candidates if test(e)]
            if matches and line is not None:
                return matches[0]
            if matches:
                return self._without_line(matches, cause)
        return self.path, None

    def _without_line(self, elements: list[tuple[Path, Any]], cause: str) -> tuple[Path, Any]:
        """Elements of included files carry no line in MuJoCo: the one there that has what it
        quotes, if it is the only one.
        """
        elements = [(f, e) for f, e in elements if f != self.path] or elements
        quoted = set(re.findall(r"'([^']*)'", cause))
        elements = [
            (f, e) for f, e in elements if quoted & {*e.attrib, *e.attrib.values()}
        ] or elements
        same_file = len({f for f, _ in elements}) == 1
        return (
            (elements[0] if len(elements) == 1 else (elements[0][0], None))
            if same_file
            else (self.path, None)
        )


def _well_formed(file: Path) -> bool:
    try:
        etree.fromstring(
            file.read_bytes(),
            etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True),
        )
    except etree.XMLSyntaxError:
        return False
    return True


def _search(pattern: str, text: str) -> str | None:
    match = re.search(pattern, text)
    return next((g for g in match.groups() if g is not None), None) if match else None


def _described(element: Any) -> str:
    """<geom> 'shin', or <geom> of body 'leg' when it has no name."""
    if element.get("name"):
        return f"<{element.tag}> {element.get('name')!r}"
    owner = next((a for a in element.iterancestors("body") if a.get("name")), None)
    return f"<{element.tag}>" + (f" of body {owner.get('name')!r}" if owner is not None else "")


def _not_a_number(file: Path, element: Any, key: str) -> ModelError:
    return ModelError(
        f"{_described(element)} has {key}={element.get(key)!r}; expected finite numbers",
        file,
        element.sourceline,
    )
