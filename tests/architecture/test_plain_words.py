"""Names and prose in words that a roboticist would search for, and for every rule a text that
breaks it.
"""

from pathlib import Path

import pytest
from architecture import plain_words
from architecture.test_architecture import EVERYTHING, SOURCES

RULES = (
    plain_words.names,
    plain_words.constants,
    plain_words.docstrings,
    plain_words.prose,
)
# packages of tabi that are not rewritten yet
NOT_YET: set[str] = set()
REWRITTEN = {
    path: text
    for path, text in SOURCES.items()
    if path.parts[:2] == ("src", "tabi") and path.parts[2] not in NOT_YET
}


def faults_of(files: dict[Path, str]) -> list[str]:
    """All faults of some files, 'path:line: what'."""
    return [
        f"{path}:{fault}"
        for path, text in files.items()
        for fault in (
            *plain_words.module_names(str(path)),
            *(fault for rule in RULES for fault in rule(text)),
        )
    ]


def test_sources_use_plain_words():
    assert len(REWRITTEN) >= 5
    faults = faults_of(REWRITTEN)
    assert not faults, "\n" + "\n".join(faults)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (plain_words.names, "told = 1\n"),
        (plain_words.names, "def f(own): pass\n"),
        (plain_words.names, "def tell_motors(): pass\n"),
        (plain_words.names, "class C:\n    felt: float\n"),
        (plain_words.names, "for one in x: pass\n"),
        (plain_words.constants, "LONGEST = 0.5\n"),
        (plain_words.constants, "MOST, X = 3, 7.0\n"),
        (plain_words.constants, "_SHY = 10**2\n"),
        (plain_words.docstrings, 'def f():\n    """Of the sensor and more."""\n'),
        (plain_words.docstrings, 'def f():\n    """Two words."""\n'),
        (plain_words.docstrings, 'class C:\n    """That walks on two feet."""\n'),
        (plain_words.prose, "# what it was told\n"),
        (plain_words.prose, 'print("step 3: 10 unless given")\n'),
        (plain_words.prose, 'raise E(f"{x} is no number")\n'),
    ],
)
def test_a_text_that_breaks_a_rule_is_found(rule, text):
    assert len(rule(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "STICKS, SLIDES = 0, 1\n",
        "MAX_STEP_TIME_S = 0.5\n",
        'def f():\n    """c = a × b"""\n',
        'def f():\n    """Return the wrench at the origin [N, N·m]."""\n',
        'row["told"] = 1\n',
        "class File:\n    def seek(self): pass\n    def tell(self): pass\n",
    ],
)
def test_plain_text_passes(text):
    assert faults_of({Path("f.py"): text}) == []


def test_modules_with_riddling_names_are_found():
    assert plain_words.module_names("src/tabi/control/felt.py")
    assert not plain_words.module_names("src/tabi/control/filters.py")


PAGES = {path: text for path, text in EVERYTHING.items() if path.suffix == ".md"}
# written by a script from the schema of scene files
WITHOUT_RULES = {Path("docs/scenes.md")}


def test_pages_use_plain_words_and_are_wrapped():
    assert Path("docs/glossary.md") in PAGES
    faults = [
        f"{path}:{fault}"
        for path, text in PAGES.items()
        if path not in WITHOUT_RULES
        for fault in plain_words.markdown(text)
    ]
    assert not faults, "\n" + "\n".join(faults)


def test_scenes_describe_themselves_in_plain_words():
    library = {p: t for p, t in EVERYTHING.items() if p.parts[-2:-1] == ("library",)}
    assert len(library) > 40
    faults = [f"{p}: {fault}" for p, text in library.items() for fault in plain_words.words(text)]
    assert not faults, "\n" + "\n".join(faults)


def test_a_page_that_breaks_a_rule_is_found():
    assert len(plain_words.markdown("The sensor tells its force.\n")) == 1
    assert len(plain_words.markdown("word " * 25)) == 1
    plain = "```\n# told\n```\n| " + "cell | " * 30 + "\n[name](" + 100 * "x" + ")\n"
    assert plain_words.markdown(plain) == []


TERMS = (
    "timeout", "default", "sensor reading", "command", "invalid", "torque limit", "contact force",
    "island", "callback", "headless",
)  # fmt: skip


@pytest.mark.parametrize("term", TERMS)
def test_terms_that_users_look_up_are_in_the_pages_and_in_the_code(term):
    assert any(term in text.lower() for path, text in PAGES.items() if path.parts[0] == "docs")
    assert any(term in text.lower() for text in SOURCES.values())
