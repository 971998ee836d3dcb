"""Rows in the frames of their pads."""

import numpy as np
from contact.soft_problems import prepared, soft

from tabi.contact.soft import pad_frames
from tabi.spatial.transform import cross_matrix


def test_levers_and_turned_matrices():
    rng = np.random.default_rng(2)
    p, work, _ = soft(rng, rigid=0.0)
    prepared(p, work)
    Q = np.array(pad_frames.frame(p, 0, work)).reshape(3, 3)
    R = work.turn[work.row["pad_a"][0]].reshape(3, 3)
    assert np.allclose(Q, p.contact["frame"][0].reshape(3, 3) @ R)
    M = rng.normal(size=(3, 3))
    rotated = pad_frames.rotated(tuple(Q.ravel()), tuple(M.ravel()))
    assert np.allclose(np.reshape(rotated, (3, 3)), Q.T @ M @ Q)
    out, r = np.zeros((6, 9)), rng.normal(size=3)
    pad_frames.lever(tuple(R.ravel()), tuple(r), out, 3, -1.0)
    assert np.allclose(out[:, 3:6].T, -R.T @ np.hstack([-cross_matrix(r), np.eye(3)]))
