"""A scene and a recording of an earlier version open without a message, and are the same run."""

import lzma
import warnings
from pathlib import Path

import numpy as np
import pytest

import tabi
from tabi import scenes

EARLIER = Path(__file__).parent / "earlier"


@pytest.fixture
def run(tmp_path):
    file = tmp_path / "run.h5"
    file.write_bytes(lzma.decompress((EARLIER / "run.h5.xz").read_bytes()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return tabi.Recording.load(file)


def test_a_recording_of_an_earlier_version_opens(run):
    assert run.time == pytest.approx(1e-3 * np.arange(21))
    assert {"waist", "crate"} <= set(run.body_names)
    # the humanoid of 7 kg and the crate of 3 kg are carried at the end
    force = run.contacts_at(20)["force"].sum(axis=0)
    assert force.shape == (3,)
    assert force[2] > 3.0 * 9.0
    assert np.isfinite(run.q).all()


def test_a_scene_of_an_earlier_version_still_computes_its_recording(run):
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        scene = scenes.load(EARLIER / "scene.yaml")
        sim = scene.simulator()
    for _ in range(20):
        sim.step()
    assert run.q[-1] == pytest.approx(sim.q, abs=1e-9)
