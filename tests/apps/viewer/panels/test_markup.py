"""Words from elsewhere stay words in the page."""

from tabi.apps.viewer.panels.markup import literal, unbroken


def test_words_of_an_error_carry_no_markup_into_the_page():
    assert literal("no *foot* at <b>R_KNEE</b>") == r"no \*foot\* at \<b\>R\_KNEE\</b\>"
    assert literal("![a](http://b) {c}") == r"\!\[a\]\(http:\//b\) \{c\}"
    assert literal("µ ≥ 0 über 3 N") == "µ ≥ 0 über 3 N"
    assert len(literal("x" * 10**6)) == 1000


def test_a_number_with_its_unit_stays_on_one_line():
    assert unbroken("7.8e-11 N") == "7.8e\u201111\u00a0N"
