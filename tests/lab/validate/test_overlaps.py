"""Random starts inside of each other hold what is asked, and the watch over them can fail."""

from tabi.lab.validate import overlaps


def test_a_hundredth_of_the_starts_holds():
    found = overlaps.Overlaps(starts=12).run()
    assert found["starts"] == 12
    assert set(found["kinds"].values()) == {2}
    assert [key for key in overlaps.FAULTS if found[key]] == []
    assert not found["missed"]
    assert found["lift"] > 0.5
    assert found["within"]
    assert "12 starts inside of each other (2 free, 2 floating" in overlaps.Overlaps().text(found)


def test_energy_joints_and_silence_are_found(monkeypatch):
    monkeypatch.setattr(overlaps, "MAX_ENERGY_GAIN", -1.0)
    monkeypatch.setattr(overlaps, "MAX_BEYOND_LIMIT", -1.0)
    monkeypatch.setattr(overlaps, "DRIFT", -1.0)
    monkeypatch.setattr(overlaps, "OverlapWarning", DeprecationWarning)
    found = overlaps.run(1, 3)
    for key in ("gained", "beyond", "jumped"):
        assert len(found[key]) == 3
    assert found["silent"]
