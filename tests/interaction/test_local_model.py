"""What the device's loop knows: the same after the journey, led on for a bounded time."""

from dataclasses import fields

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.interaction.local_model import LENGTH, MAX_EXTRAPOLATION_S, LocalModel, Mode
from tabi.spatial.transform import about, from_quaternion


def some(rng: np.random.Generator) -> LocalModel:
    parts = {}
    for one in fields(LocalModel):
        value = getattr(LocalModel(), one.name)
        parts[one.name] = rng.normal(size=np.shape(value)) if np.ndim(value) else rng.normal()
    return LocalModel(**parts | {"mode": Mode.TOUCH, "clutched": True})


def test_every_part_survives_the_journey_between_processes():
    for seed in range(5):
        told = some(np.random.default_rng(seed))
        vector = told.to_vector()
        assert vector.shape == (LENGTH,)
        assert vector.dtype == np.float64
        found = LocalModel.from_vector(vector)
        for one in fields(LocalModel):
            assert np.array_equal(getattr(found, one.name), getattr(told, one.name)), one.name
        assert found.mode is Mode.TOUCH


@pytest.mark.parametrize("bad", [-1.0, 3.0, 0.5, np.nan, np.inf])
def test_a_mode_that_there_is_not_is_free(bad):
    vector = LocalModel(mode=Mode.ATTACH).to_vector()
    vector[0] = bad
    assert LocalModel.from_vector(vector).mode is Mode.FREE


def test_other_lengths_are_refused():
    with pytest.raises(ModelError, match=f"{LENGTH}"):
        LocalModel.from_vector(np.zeros(LENGTH - 1))


def test_the_point_goes_on_with_its_velocity_then_stands_still():
    velocity, spin = np.array([0.3, -0.2, 0.1]), np.array([1.0, 2.0, -3.0])
    start = about((1, 1, 0), 0.4).quaternion
    model = LocalModel(time=5.0, velocity=velocity, spin=spin, quaternion=start)
    for age, counted in (
        (-1.0, 0.0),
        (0.0, 0.0),
        (0.007, 0.007),
        (MAX_EXTRAPOLATION_S, MAX_EXTRAPOLATION_S),
        (3.0, MAX_EXTRAPOLATION_S),
    ):
        place, quaternion = model.at(5.0 + age)
        assert place == pytest.approx(counted * velocity, abs=1e-15)
        R = about(spin, counted * np.linalg.norm(spin)).R @ from_quaternion(start).R
        found = from_quaternion(quaternion).R
        assert found == pytest.approx(R, abs=1e-12)
