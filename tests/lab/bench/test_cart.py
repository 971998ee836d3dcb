"""The bench of the cart, short."""

import json

import pytest

from tabi.lab.bench import cart


@pytest.fixture(scope="module")
def found():
    return cart.CartBench(duration_s=0.4, blocks=3).run()


@pytest.mark.slow
def test_held_all_68_points_are_there_and_no_step_misses(found):
    held = found["hold"]
    assert held["contacts"] == sum(held["points"].values()) == 68
    assert held["missed"] == 0
    assert held["worst_residual"] <= 1e-8
    assert not held["fallen"]


@pytest.mark.slow
def test_pushed_the_cart_goes_forwards_with_its_load(found):
    push = found["push"]
    assert push["cart_moved_m"] > 0.01
    assert push["load_slid_m"] < 1e-3
    assert push["missed"] == 0


@pytest.mark.slow
def test_figures_are_json_and_text_has_them(found):
    assert json.loads(json.dumps(found)) == found
    page = cart.CartBench().text(found)
    assert "68 points" in page
    assert "push:" in page
