"""``tabi validate family``: counts are those of the problems, with and without a budget."""

import pytest

from tabi.lab.validate import family_check


@pytest.mark.slow
def test_what_a_budget_leaves_unsolved_is_counted_and_named(monkeypatch):
    monkeypatch.setattr(family_check, "DEFAULT", 1)
    result = family_check.FamilyCheck(problems=12).run()
    count = result["problems"]
    assert result["solved"] == count >= 12
    assert result["within"]
    lost = result["over_budget"]
    assert len(lost) == count - result["solved_within_budget"] > 0
    shown = family_check.FamilyCheck().text(result)
    assert f"{count} of {count} problems solved" in shown
    assert all(f"over budget: {name}" in shown for name in lost)


def test_an_unsolved_problem_fails_and_an_interrupt_is_told(monkeypatch):
    calls = iter([True, True, False, False])

    def answer(case, budget):
        found = next(calls, None)
        if found is None:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(family_check, "solved", answer)
    result = family_check.FamilyCheck(problems=12).run()
    assert (result["problems"], result["solved"], result["solved_within_budget"]) == (2, 1, 1)
    assert not result["within"]
    assert "interrupted" in family_check.FamilyCheck().text(result)
