"""A hundredth of the drops of ``tabi validate soles``."""

import pytest

from tabi.lab.validate import soft_drops


@pytest.mark.slow
def test_no_step_brings_energy_and_the_loss_is_of_first_order():
    found = soft_drops.SoftDrops(drops=10).run()
    assert found["gained"] == 0, found
    assert found["missed"] == 0
    # ten drops scatter more than a thousand
    assert 0.8 < found["slope"] < 1.2, found
    assert "first order is 1" in soft_drops.SoftDrops().text(found)
    assert found["friction_share"][0] > 0.001


def test_an_energy_that_rises_is_seen(monkeypatch):
    monkeypatch.setattr(soft_drops, "MAX_ENERGY_GAIN", -1.0)
    assert soft_drops.SoftDrops(drops=1).run()["gained"] > 0
