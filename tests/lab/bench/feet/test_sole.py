"""The bench of soft soles: that it walks on them, certified, whatever the clock says."""

import json

import pytest

from tabi.lab.bench.feet import sole


@pytest.fixture(scope="module")
def found():
    return sole.SoleBench(steps=2, sizes=(60,)).run()


@pytest.mark.slow
def test_the_walk_is_whole_and_certified(found):
    walk = found["walks"]["60"]
    assert 55 <= walk["nodes_per_sole"] <= 65
    assert walk["missed"] == 0
    assert walk["worst_residual"] <= 1e-8
    assert not walk["fallen"]
    assert found["condensation"]["nodes"] > 1500


@pytest.mark.slow
def test_figures_are_printed(found):
    assert json.loads(json.dumps(found)) == found
    said = sole.SoleBench().text(found)
    assert "every step certified" in said
    assert "rigid feet beside it" in said
    assert "from the cache" in said
