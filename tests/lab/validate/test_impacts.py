"""Impacts with friction bring no energy; and the experiment would see it if they did."""

from tabi.lab.validate import impacts


def test_none_of_a_few_hundred_random_impacts_brings_energy():
    found = impacts.Impacts(impacts=300).run()
    assert found["impacts"] >= 300
    assert found["within"]
    assert found["worst_change"] <= impacts.MAX_ENERGY_GAIN
    # restitution had to be lowered somewhere, and friction took its part
    assert found["lowered"] > 0
    assert "none gains energy" in impacts.Impacts().text(found)


def test_an_interrupt_keeps_what_was_done(monkeypatch):
    throw, done = impacts._throw, []

    def twice(*arguments):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(throw(*arguments))

    monkeypatch.setattr(impacts, "_throw", twice)
    found = impacts.Impacts().run()
    assert found["interrupted"]
    assert found["throws"] == 2
    assert "interrupted" in impacts.Impacts().text(found)


def test_a_gain_is_counted_and_said():
    found = impacts.Impacts(impacts=1).run() | {"gained": 3}
    assert "3 GAIN ENERGY" in impacts.Impacts().text(found)
