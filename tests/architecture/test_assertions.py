"""No test passes because none of its asserts was reached;
and for the rule, texts that break it and texts that keep it.
"""

import pytest
from architecture import assertions
from architecture.test_architecture import TESTS, check_rule

CHECKERS = ("check", "assert", "expect")


def known_checkers() -> set[str]:
    """Functions of all test files that are named for asserting, and surely do."""
    known: set[str] = set()
    # once more for those that call others
    for _ in range(2):
        for text in TESTS.values():
            found = assertions.always_asserting(text, known)
            known |= {name for name in found if name.startswith(CHECKERS)}
    return known


def test_every_test_has_an_assert_that_surely_runs():
    tests = {path: text for path, text in TESTS.items() if path.name.startswith("test_")}
    known = known_checkers()
    assert "check_rule" in known
    check_rule(lambda text: assertions.conditional_tests(text, known), tests)


def found_in(body: str) -> list[str]:
    lines = "\n".join("    " + line for line in body.splitlines())
    head = "FEW, NONE, COUNT = (1, 2), (), 3\n\ndef made(x):\n    assert x\n\n"
    source = f"{head}def test_x(some):\n{lines}"
    return assertions.conditional_tests(source, {"check_it"})


@pytest.mark.parametrize(
    "body",
    [
        "for x in some:\n    assert x",
        "for x in NONE:\n    assert x",
        "for x in some.values():\n    check_it(x)",
        "for x in FEW:\n    for y in x:\n        assert y",
        "for x in FEW:\n    if x > 1:\n        assert x",
        "for k in range(len(some)):\n    assert k",
        "for k in range(0):\n    assert k",
        "for k in range(3, 3):\n    assert k",
        "for x, y in zip(FEW, some):\n    assert x",
        "for x in [y for y in FEW if y]:\n    assert x",
        "for x in rng.normal(size=some):\n    assert x",
        "if some:\n    assert some",
        "if some:\n    assert some\nelse:\n    print(some)",
        "if not some:\n    return\nassert some",
        "while some:\n    assert some.pop()",
        "def inner():\n    assert some\ninner",
        "call(lambda: made(some))",
        "all([made(x) for x in some])",
        "assert True",
    ],
)
def test_asserts_that_may_never_run_are_found(body):
    assert found_in(body) == ["6: test_x has no assert that surely runs"]


@pytest.mark.parametrize(
    "body",
    [
        "assert len(some) == 3\nfor x in some:\n    assert x",
        "count = 0\nfor x in some:\n    count += 1\nassert count == 3",
        "for x in (1, 2):\n    assert x",
        "for x in (*some, 1):\n    assert x",
        "for x in {'a': 1}:\n    assert x",
        "for x in 'xyz':\n    assert x",
        "for x in FEW:\n    assert x",
        "mine = [1]\nfor i, x in enumerate(mine):\n    assert x",
        "for k in range(COUNT):\n    assert k",
        "for k in range(2 * COUNT - 1):\n    assert k",
        "for k in range(some, some + 2):\n    assert k",
        "for x in np.linspace(0, some):\n    assert x",
        "for x in rng.normal(size=(COUNT, 3)):\n    assert x",
        "for x, y in zip(FEW, some, strict=True):\n    assert x",
        "for x in FEW + some:\n    assert x",
        "for x in [2 * y for y in FEW]:\n    assert x",
        "n = 0\nwhile n < 3:\n    assert some\n    n += 1",
        "if some:\n    assert some\nelse:\n    assert not some",
        "if some:\n    assert some\n    return\nassert not some",
        "with some:\n    assert some",
        "with pytest.raises(ValueError):\n    some()",
        "try:\n    assert some\nfinally:\n    some()",
        "np.testing.assert_allclose(some, 1)",
        "x = made(some)",
        "check_it(some)",
    ],
)
def test_asserts_that_surely_run_are_accepted(body):
    assert found_in(body) == []
