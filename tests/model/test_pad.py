"""Pads: what is refused."""

import numpy as np
import pytest

from tabi import ModelError
from tabi.model.pad import Pad

NODES = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.5]], float)
TRIANGLES = np.array([[0, 2, 1]])


def test_support_points_and_stiffness():
    pad = Pad(NODES, TRIANGLES, 2.0 * np.eye(9))
    assert pad.support(np.array([0, 0, 1.0])) == 0.5
    assert pad.points() is NODES
    assert np.allclose(pad.stiffness, 0.5 * np.eye(9))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nodes": NODES[:2]}, "at least three"),
        ({"nodes": NODES * np.nan}, "finite"),
        ({"triangles": np.array([[0, 1, 3]])}, "three numbers of its 3 nodes"),
        ({"compliance": np.eye(6)}, "compliance"),
        ({"damping": np.eye(6)}, "damping"),
        ({"viscosity": -1.0}, "viscosity"),
    ],
)
def test_what_is_no_pad_is_refused(change, words):
    given = {"nodes": NODES, "triangles": TRIANGLES, "compliance": np.eye(9)}
    with pytest.raises(ModelError, match=words):
        Pad(**given | change)
