"""Kernels are told apart by all that their code depends on, alike in every process."""

import dis
import subprocess
import sys
import threading
from types import ModuleType

import pytest

from tabi.jit import decorator, identity, kernel
from tabi.spatial.vector import dot

LAW = """
from tabi.jit import kernel
from tabi.spatial.vector import dot

GAIN = 3.0
SIZES = (1.0, 2.0)


@kernel{options}
def inner(x):
    return x + 1.0


@kernel
def law(x, y=1.0):
    return inner(x) + GAIN * SIZES[1] * y + other.FACTOR * dot((x, x, x), (y, y, y))
"""


def function(text: str = LAW, options: str = "", factor: float = 2.0):
    """The plain function ``law`` of a user's file with this text."""
    other = ModuleType("other")
    other.FACTOR = factor
    names = {"__name__": "users_law", "other": other}
    exec(compile(text.replace("{options}", options), "law.py", "exec"), names)
    return names["law"].py_func


def test_the_same_text_has_the_same_tag_wherever_it_stands():
    tag = identity.tag(function())
    assert len(tag) == 16
    assert identity.tag(function()) == tag
    assert identity.tag(function("\n# a comment\n" + LAW)) == tag
    assert identity.tag(function(LAW + "\nUNUSED = 1.0\n")) == tag


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("inner(x) + GAIN", "inner(x) - GAIN"),
        ("SIZES[1]", "SIZES[0]"),
        ("GAIN = 3.0", "GAIN = 4.0"),
        ("GAIN = 3.0", "GAIN = 3"),
        ("SIZES = (1.0, 2.0)", "SIZES = (1.0, 2.5)"),
        ("y=1.0", "y=2.0"),
        ("x + 1.0", "x + 2.0"),
        ("import dot", "import cross as dot"),
    ],
)
def test_a_change_of_anything_that_the_code_depends_on_changes_the_tag(old, new):
    assert LAW.count(old) == 1
    assert identity.tag(function(LAW.replace(old, new))) != identity.tag(function())


def test_globals_are_read_from_bytecode_as_python_shows_it():
    instructions = {"LOAD_ATTR", "LOAD_METHOD"}
    # there are hundreds, with every package of the simulator loaded
    assert len(decorator.KERNELS) > 7
    for function in decorator.KERNELS[::7]:
        for code in identity._codes(function.__code__):
            chains, chain = set(), ()
            for one in dis.get_instructions(code):
                if one.opname in instructions and chain:
                    chain = (*chain, one.argval)
                    continue
                chains.add(chain)
                chain = (one.argval,) if one.opname == "LOAD_GLOBAL" else ()
            assert identity.global_names(code) == chains - {()}, function


def test_every_kernel_of_the_package_can_be_told():
    import tabi.simulation.simulator

    assert tabi.simulation.simulator
    # other tests in this process may have made some without a digest, on purpose
    kernels = [
        function for function in decorator.KERNELS if function.__module__.startswith("tabi.")
    ]
    assert len(kernels) > 300
    told = {identity.own_digest(function) for function in kernels}
    assert len(told) > 300


def test_what_a_kernel_does_is_told_by_its_own_digest_and_not_by_those_of_its_callers():
    law, other = function(), function(LAW.replace("x + 1.0", "x + 2.0"))
    assert identity.whole(law) != identity.whole(other)
    (inner,) = (k for label, k in identity.named(law).items() if label[1] == "inner")
    (changed,) = (k for label, k in identity.named(other).items() if label[1] == "inner")
    assert identity.own_digest(inner.py_func) != identity.own_digest(changed.py_func)
    assert set(identity.reached(law)) > {identity.label(inner.py_func)}

    # of the package: named by where it stands
    def caller():
        return dot

    caller.__module__ = "tabi.somewhere"
    first = identity.own_digest(caller)
    content = dot.py_func.__code__
    try:
        dot.py_func.__code__ = (lambda a, b: 0.0).__code__
        assert identity.own_digest(caller) == first
    finally:
        dot.py_func.__code__ = content


def test_options_of_kernels_and_what_modules_hold_are_parts_of_the_tag():
    tag = identity.tag(function())
    assert identity.tag(function(options="(exact=True)")) != tag
    assert identity.tag(function(options="(inline=True)")) != tag
    assert identity.tag(function(factor=2.5)) != tag


def test_two_functions_that_name_different_things_of_one_module_are_both_told():
    text = LAW.replace("x + 1.0", "x + other.STEP")

    def with_step(step):
        law = function(text)
        law.__globals__["other"].STEP = step
        return law

    assert identity.tag(with_step(1.0)) != identity.tag(with_step(2.0))


def test_closures_are_told_by_their_values_and_functions_may_name_themselves():
    def times(factor):
        def scaled(x):
            return factor * x if x > 0.0 else scaled(-x)

        return scaled

    tags = [identity.tag(times(factor)) for factor in (2.0, 2.0, 3.0, (3.0,), "3.0")]
    assert tags[0] == tags[1]
    assert len(set(tags)) == 4


def test_what_cannot_be_told_has_no_tag():
    lock = threading.Lock()

    def locked(x):
        return lock

    assert identity.tag(locked) == ""
    with pytest.raises(ValueError, match="has no digest"):
        identity.own_digest(locked)


def test_kernels_made_twice_from_the_same_values_work_side_by_side():
    def times(factor):
        @kernel
        def scaled(x):
            return factor * x

        return scaled

    first, second, third = times(2.0), times(2.0), times(3.0)

    @kernel
    def total(x):
        return first(x) + 10.0 * second(x) + 100.0 * third(x)

    assert (first(1.0), second(1.0), third(1.0), total(1.0)) == (2.0, 2.0, 3.0, 322.0)


@pytest.mark.process
def test_tags_are_the_same_in_every_process():
    code = (
        "from tabi.jit import identity; from tabi.contact import ladder as l; "
        "print([d(f.py_func) for f in (l.solve, l.solve_bodies)"
        " for d in (identity.tag, identity.own_digest, identity.whole)])"
    )
    first, second = (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    )
    assert first == second
    assert len(set(eval(first))) == 6
