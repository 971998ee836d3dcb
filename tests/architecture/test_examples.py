"""Public functions and classes have an example in their docstrings, or a link to a page with one.

An example is one of

    Examples:
        >>> sim = tabi.Simulator(world)

    Example: ``tabi.Sphere(0.1)``
    Example: docs/walking.md
    Example: ``sim.linearise`` in docs/your_controller.md

The names that examples share are in docs/api/index.md. The tests marked ``docs`` run the examples;
a page with a link has to have the name, or the words of the link, among its code.
"""

import dataclasses
import doctest
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabi

ROOT = Path(__file__).resolve().parents[2]
API = sorted((ROOT / "docs" / "api").glob("*.md"))
PACKAGES = ("tabi", "tabi.contact", "tabi.control", "tabi.robots", "tabi.scenes", "tabi.soles")
PACKAGES += ("tabi.walking",)
INLINE = re.compile(r"\bExample:\s+``([^`]+)``(?!\s+in\s+docs/)")
LINK = re.compile(r"\bExample:\s+(?:``([^`]+)``\s+in\s+)?(docs/\w+\.md)")
MARKDOWN_CODE = re.compile(r"^```\w*\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)


def listed() -> Iterator[Any]:
    """Objects that the API pages list, and public names of the packages."""
    for page in API:
        blocks = re.findall(
            r"^::: (\S+)((?:\n {4}.*)*)", page.read_text(encoding="utf-8"), re.MULTILINE
        )
        for path, options in blocks:
            thing = pkgutil.resolve_name(path)
            members = re.search(r"members: \[([^]]*)\]", options)
            if members:
                yield from (getattr(thing, name.strip()) for name in members[1].split(","))
            elif inspect.ismodule(thing):
                parts = vars(thing).items()
                yield from (
                    part
                    for name, part in parts
                    if name[0] != "_" and getattr(part, "__module__", "") == path
                )
            else:
                yield thing
    for package in map(pkgutil.resolve_name, PACKAGES):
        yield from (getattr(package, name) for name in package.__all__)


def public() -> dict[str, Any]:
    """Public functions and classes by full name. Errors and warnings are left out: tabi raises
    them, and users only read them.
    """
    return {
        f"{thing.__module__}.{thing.__qualname__}": thing
        for thing in listed()
        if inspect.isroutine(thing)
        or (inspect.isclass(thing) and not issubclass(thing, BaseException))
    }


PUBLIC = public()


def fault(name: str, docstring: str) -> str | None:
    """Return what is wrong with the example of a docstring; None if it is right."""
    link = LINK.search(docstring)
    if link is None:
        has_example = INLINE.search(docstring) or doctest.DocTestParser().get_examples(docstring)
        return None if has_example else "has no example"
    words, page = link[1] or name, ROOT / link[2]
    if not page.exists():
        return f"links {link[2]}, which does not exist"
    code = "\n".join(a or b for a, b in MARKDOWN_CODE.findall(page.read_text(encoding="utf-8")))
    return None if words in code else f"links {link[2]}, which has no code with {words}"


def test_every_public_function_and_class_has_an_example():
    assert len(PUBLIC) > 150
    faults = [
        f"{path} {text}"
        for path, thing in PUBLIC.items()
        if (text := fault(thing.__name__, inspect.getdoc(thing) or "")) is not None
    ]
    assert not faults, "\n" + "\n".join(faults)


@pytest.mark.parametrize(
    "docstring",
    [
        "Return a ball.\n\nExamples:\n    >>> tabi.Sphere(0.1)\n",
        "A ball. Example: ``tabi.Sphere(0.1)``.",
        "A walk. Example: docs/walking.md.",
        "A step. Example: ``sim.linearise`` in docs/your_controller.md.",
    ],
)
def test_examples_and_links_are_found(docstring):
    assert fault("Walker", docstring) is None


def test_a_missing_example_and_a_wrong_link_are_found():
    assert fault("f", "Return a ball.") == "has no example"
    assert fault("f", "Example: docs/nowhere.md") == "links docs/nowhere.md, which does not exist"
    assert fault("no_such", "Example: docs/walking.md") == (
        "links docs/walking.md, which has no code with no_such"
    )


# ---- run -----------------------------------------------------------------------------------------


def namespace(thing: Any) -> dict[str, Any]:
    """Names that examples share: those of docs/api/index.md, and a few arguments."""
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    corners = np.vstack([np.zeros(3), np.eye(3)])
    return {
        "tabi": tabi,
        "np": np,
        "dataclasses": dataclasses,
        "Path": Path,
        "world": world,
        "robot": robot,
        "sim": sim,
        "problem": tabi.contact.Problem(np.eye(3), [0.0, 0.0, -1.0], 0.5, order="ttn"),
        "vertices": corners,
        "triangles": np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
        thing.__name__: thing,
    }


RUN = [
    path
    for path, thing in PUBLIC.items()
    if "Examples:" in (text := thing.__doc__ or "") or INLINE.search(text)
]


@pytest.mark.docs
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", RUN)
def test_the_example_of_a_docstring_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "formats.mjcf" in path:
        pytest.importorskip("mujoco")
    thing = PUBLIC[path]
    names, text = namespace(thing), inspect.getdoc(thing) or ""
    if "walker." in text:
        names["walker"] = tabi.walking.SteeredWalker(names["robot"])
    for code in INLINE.findall(text):
        exec(" ".join(code.split()), names)
    test = doctest.DocTestParser().get_doctest(text, names, path, None, None)
    out: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=out.append)
    assert result.failed == 0, "".join(out)
