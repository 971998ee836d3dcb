"""Live plots: what they show is what was seen, over the last seconds."""

import numpy as np
import pytest
from recording.test_pad_tracks import grid

from tabi.apps.viewer.gate import open_server
from tabi.apps.viewer.panels.plots import MIN_RESIDUAL_M_S, SAMPLE_PERIOD_S, SPAN_S, Plots, around
from tabi.apps.viewer.soft_pad import SoftNow
from tabi.apps.viewer.view import View
from tabi.reporting.soles import Soles


@pytest.fixture
def plots():
    server, _ = open_server("127.0.0.1", 0)
    yield Plots(server, ["left", "right"])
    server.stop()


def moment(time: float, residual: float = 1e-9) -> View:
    none = np.zeros((0, 3))
    pressure = np.array([[0.01, -0.02], [np.nan, np.nan]])
    loads = np.array([100.0 + time, 0.0])
    return View(
        time,
        none,
        none,
        none,
        none,
        none,
        none,
        none,
        [],
        none,
        pressure,
        loads,
        none,
        none,
        [],
        100.0,
        residual,
        0.0,
        0,
        Soles(none, none, np.array([7, 2]), np.array([0.01, 0.0]), []),
    )


def test_plots_show_loads_pressure_in_millimetres_and_the_certificate_in_decades(plots):
    for k in range(5):
        plots.take(moment(0.1 * k))
    plots.draw()
    loads, states, pressure, certificate = (plot.data for plot in plots.plots)
    assert np.allclose(loads[0], 0.1 * np.arange(5))
    assert np.allclose(loads[1], 100.0 + loads[0])
    # a face that slides, an edge that does not
    assert [set(row) for row in states[1:]] == [{3.0}, {1.0}, {2.0}, {0.0}]
    assert np.allclose(pressure[1], 10.0)
    assert np.allclose(pressure[2], -20.0)
    assert np.isnan(pressure[3]).all()
    assert np.allclose(certificate[1], -9.0)


def test_plots_forget_what_is_older_than_their_span_and_skip_what_is_too_close(plots):
    for k in range(3000):
        plots.take(moment(0.01 * k))
    plots.draw()
    time = plots.plots[0].data[0]
    assert len(time) <= round(SPAN_S / SAMPLE_PERIOD_S)
    assert np.diff(time).min() >= SAMPLE_PERIOD_S - 1e-9
    assert time[-1] - time[0] <= 1.3 * SPAN_S


def test_plots_start_anew_after_a_reset_and_an_exact_certificate_is_drawn(plots):
    for time in (1.0, 2.0, 0.0, 0.1):
        plots.take(moment(time, residual=0.0))
    plots.draw()
    assert plots.plots[0].data[0].tolist() == [0.0, 0.1]
    assert np.allclose(plots.plots[3].data[1], np.log10(MIN_RESIDUAL_M_S))


def test_world_without_feet_has_the_certificate_only():
    server, _ = open_server("127.0.0.1", 0)
    try:
        assert [plot.visible for plot in Plots(server, []).plots] == [False] * 3 + [True]
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([284.49, 284.4901, 0.0], (0.0, 500.0)),
        ([5.5, -4.7], (-5.0, 10.0)),
        ([np.nan], (0.0, 1.0)),
        ([1e-9], (0.0, 1.0)),
        ([-30.0], (-50.0, 0.0)),
    ],
)
def test_axis_ends_at_round_numbers_around_zero_so_that_noise_stays_small(values, ends):
    assert around(np.array([values])) == ends


def test_axis_is_told_to_the_page_only_when_it_changes(plots):
    for k in range(3):
        plots.take(moment(0.1 * k))
        plots.draw()
    # loads of 100.1 and 100.2 N and nothing
    first = plots.plots[0].scales
    assert first["y"]["range"] == (0.0, 200.0)
    plots.take(moment(0.3))
    plots.draw()
    assert plots.plots[0].scales is first


def test_soft_soles_have_plots_of_pressure_sink_and_tilt():
    server, _ = open_server("127.0.0.1", 0)
    nodes, _ = grid()
    try:
        plots = Plots(server, ["left", "right"], ["left", "right"])
        assert len(plots.plots) == 7

        def read(view):
            U, force = np.zeros((2, *nodes.shape)), np.zeros((2, *nodes.shape))
            U[:, :, 2], force[:, :, 2] = 1e-3 + 0.02 * nodes[:, 0], view.time
            pressure = np.array([1e3, 2e3])[:, None] * view.time * np.ones(len(nodes))
            return [SoftNow(U[k], force[k], pressure[k], nodes) for k in range(2)]

        for time in (1.0, 2.0, 3.0):
            plots.take(moment(time), read)
        plots.draw()
        pressure, sink, tilt = (plot.data[1:] for plot in plots.plots[4:])
        assert np.allclose(pressure, [[1, 2, 3], [2, 4, 6]])
        assert np.allclose(sink, 1.0)
        # front pressed in more: a turn about y, of both
        assert np.allclose(tilt, [[0] * 3, [20] * 3] * 2, atol=1e-9)
        # a view of another world is left out
        plots.take(moment(4.0), lambda view: [])
        plots.draw()
        assert plots.plots[0].data[0].tolist() == [1.0, 2.0, 3.0]
    finally:
        server.stop()
