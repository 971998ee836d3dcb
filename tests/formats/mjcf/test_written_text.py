"""MuJoCo's text with all digits of its numbers."""

import pytest

from tabi.formats.mjcf.written_text import exact_text

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")


def test_numbers_are_written_to_the_last_digit():
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="third", pos=[1 / 3, 0.0, -2 / 3])
    body.add_geom(name="ball", size=[0.1 + 1e-12, 0.0, 0.0])
    spec.compile()
    text = exact_text(spec)
    assert f'pos="{1 / 3!r} 0.0 {-2 / 3!r}"' in text
    assert repr(0.1 + 1e-12) in text
    assert repr(1 / 3) not in spec.to_xml()
    assert mujoco.MjModel.from_xml_string(text).body("third").pos.tolist() == [1 / 3, 0.0, -2 / 3]
