"""Pressure, sink and tilt of soft pads from what their nodes do."""

import numpy as np
import pytest
from simulation.soft import block

from tabi.recording import pad_tracks


def grid(nx=5, ny=4, length=0.2, width=0.1):
    """Nodes and triangles of a flat rectangle, the middle at the origin."""
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, nx), np.linspace(-0.5, 0.5, ny), indexing="ij")
    nodes = np.column_stack([length * x.ravel(), width * y.ravel(), np.full(x.size, -0.02)])
    i, j = np.meshgrid(np.arange(nx - 1), np.arange(ny - 1), indexing="ij")
    a = (i * ny + j).ravel()
    low, high = np.stack([a, a + ny + 1, a + ny], 1), np.stack([a, a + 1, a + ny + 1], 1)
    return nodes, np.concatenate([low, high])


def test_shares_of_nodes_are_all_of_the_face():
    nodes, triangles = grid()
    areas = pad_tracks.areas(nodes, triangles)
    assert areas.sum() == pytest.approx(0.2 * 0.1, rel=1e-12)
    # a corner with one triangle has a third of it, an inner node six thirds
    cell = (0.2 / 4) * (0.1 / 3)
    assert areas.min() == pytest.approx(cell / 6)
    assert areas.max() == pytest.approx(cell)


def test_a_plane_is_found_as_it_is_whatever_presses():
    nodes, _ = grid()
    rng = np.random.default_rng(3)
    force = np.zeros((6, len(nodes), 3))
    force[:, :, 2] = rng.uniform(0, 5, (6, len(nodes)))
    sink, slopes = rng.uniform(0, 1e-3, 6), rng.uniform(-0.02, 0.02, (6, 2))
    centre = pad_tracks.centres(nodes, force)
    by_hand = [np.average(nodes[:, :2], axis=0, weights=one[:, 2]) for one in force]
    assert centre == pytest.approx(np.array(by_hand))
    away = nodes[:, :2] - centre[:, None]
    U = np.zeros_like(force)
    U[:, :, 2] = sink[:, None] + (away * slopes[:, None]).sum(axis=2)
    found = pad_tracks.planes(nodes, U, force)
    assert found == pytest.approx(np.column_stack([sink, slopes]), abs=1e-12)
    # a foot whose front (x > 0) is pressed in more goes nose down: a turn about +y
    assert pad_tracks.tilts(found) == pytest.approx(np.column_stack([-slopes[:, 1], slopes[:, 0]]))
    # one row is a row
    assert pad_tracks.planes(nodes, U[2], force[2]) == pytest.approx(found[2])


def test_one_node_sinks_without_a_tilt_and_none_tells_nothing():
    nodes, _ = grid()
    force, U = np.zeros((2, len(nodes), 3)), np.zeros((2, len(nodes), 3))
    force[0, 7, 2], U[0, 7, 2] = 3.0, 1e-3
    found = pad_tracks.planes(nodes, U, force)
    assert found == pytest.approx(np.array([[1e-3, 0, 0], [0, 0, 0]]), abs=1e-12)
    centre = pad_tracks.centres(nodes, force)
    assert centre[0] == pytest.approx(nodes[7, :2])
    assert np.isnan(centre[1]).all()


@pytest.mark.parametrize("uneven", [False, True])
def test_forces_are_those_of_springs_and_dampers(uneven):
    from dataclasses import replace

    _, box = block(viscosity=0.01)
    pad = box.shapes[-1].geometry
    n, rng = 3 * len(pad.nodes), np.random.default_rng(1)
    K = np.linalg.inv(pad.compliance)
    D = 0.01 * K
    if uneven:
        B = rng.normal(size=(n, n))
        D = B @ B.T
        pad = replace(pad, viscosity=0.0, damping=D)
    U, V = rng.normal(size=(2, 4, n))
    found = pad_tracks.forces(pad, U.reshape(4, -1, 3), V.reshape(4, -1, 3))
    for k in range(4):
        force = K @ U[k] + D @ V[k]
        assert found[k].ravel() == pytest.approx(force, abs=1e-9 * abs(force).max())
