"""Figures of a recording: the numbers in their panels, their labels, and that they are drawn."""

from dataclasses import replace

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.recording import pad_tracks
from tabi.recording.foot_words import NOT_RECORDED, STATES
from tabi.reporting import curves, figures

G = 9.81


def named(run, name, **options):
    return curves.panels(run, [name], **options)


def test_vertical_forces_of_the_feet_are_the_weight_while_the_robot_stands(run):
    up, level = named(run, "forces", start=0.05, end=0.1)
    assert [curve.label for curve in up.curves] == ["right foot", "left foot", "together"]
    mass = run.world.body["mass"][run.world.robot == 0].sum()
    # settling on its soles it sways by a few newtons
    assert up.curves[2].y == pytest.approx(np.full(26, mass * G), rel=0.02)
    assert up.curves[0].y + up.curves[1].y == pytest.approx(up.curves[2].y)
    assert (up.x_label, up.y_label) == ("time [s]", "force [N]")
    assert len(level.curves) == 4


def test_centre_of_pressure_is_drawn_in_the_outline_of_its_foot(run):
    panels = named(run, "cop")
    assert [panel.title for panel in panels] == [
        "Centre of pressure, right foot",
        "Centre of pressure, left foot",
    ]
    for k, panel in enumerate(panels):
        curve, low, high = panel.curves[0], panel.outline.min(axis=0), panel.outline.max(axis=0)
        # a rectangle, in millimetres; forces that only press act inside of it
        assert panel.outline == pytest.approx(1e3 * run.world.feet.outlines[k])
        assert (curve.x >= low[0] - 1e-6).all()
        assert (curve.x <= high[0] + 1e-6).all()
        assert (curve.y >= low[1] - 1e-6).all()
        assert (curve.y <= high[1] + 1e-6).all()
        # nothing is borne before the first step
        assert len(curve.x) == len(run.time) - 1
        assert panel.x_label.endswith("[mm]")


def test_states_of_feet_are_steps_with_a_cross_at_every_change(run):
    (panel,) = named(run, "feet")
    assert panel.ticks == ("none", "vertex", "edge", "face")
    steps = [curve for curve in panel.curves if curve.style == "steps"]
    crosses = [curve for curve in panel.curves if curve.style == "crosses"]
    assert [curve.label for curve in steps] == ["right foot", "left foot"]
    for curve, cross, name in zip(steps, crosses, ("right", "left"), strict=True):
        own = [event for event in run.foot_events if event.foot == name]
        assert cross.x.tolist() == [event.time for event in own]
        words = [event.after.split(",")[0] for event in own]
        assert [panel.ticks[round(level)] for level in cross.y] == words
        # rows every 2 ms, and the first change between two of them
        assert (curve.x[:3].tolist(), np.round(curve.y[:3]).tolist()) == (
            [0, 1e-3, 2e-3],
            [0, 3, 3],
        )
    # feet in the same state are not drawn over each other
    assert (np.abs(steps[0].y[:2] - steps[1].y[:2]) > 0.1).all()


def test_sliding_is_a_band_and_what_is_not_told_is_no_panel(run):
    states = run.feet["state"].copy()
    states[100:, 0] = STATES.index("face, slide")
    slid = replace(run, feet=run.feet | {"state": states}, foot_events=())
    (band,) = (curve for curve in named(slid, "feet")[0].curves if curve.style == "band")
    assert band.label == "right foot slides"
    assert np.flatnonzero(np.isfinite(band.y)).tolist() == list(range(100, len(run.time)))
    old = replace(
        run, feet=run.feet | {"state": np.full_like(states, NOT_RECORDED)}, foot_events=()
    )
    assert "feet" not in {panel.name for panel in curves.panels(old)}
    with pytest.raises(ModelError, match="nothing to plot of feet"):
        named(old, "feet")


def test_balance_shows_zmp_and_centre_of_mass_in_millimetres(run):
    x, y = named(run, "zmp")
    assert x.curves[0].y[1:] == pytest.approx(1e3 * run.robots["zmp"][1:, 0, 0])
    assert y.curves[1].y == pytest.approx(1e3 * run.robots["centre_of_mass"][:, 0, 1])


def test_joints_are_in_degrees_with_targets_and_efforts(run):
    position, effort = named(run, "joints", joints=["RLEG_KNEE_P"], start=0.1, end=0.2)
    k = run.world.joint_of.index("RLEG_KNEE_P")
    rows = (run.time >= 0.1) & (run.time <= 0.2)
    assert position.curves[0].y == pytest.approx(np.degrees(run.q[rows][:, run.world.dof["q"][k]]))
    # the target is the half-sitting knee, 50°
    assert position.curves[1].y == pytest.approx(np.full(rows.sum(), 50.0))
    assert position.y_label == "position [°]"
    assert effort.curves[0].y == pytest.approx(run.motors["effort"][rows, k])
    assert effort.y_label == "effort [N·m]"
    assert len(named(run, "joints")[1].curves) == curves.MAX_JOINTS


def test_energy_sums_up_and_certificate_has_its_tolerance(run):
    (energy,) = named(run, "energy")
    kinetic, lift, total = (curve.y for curve in energy.curves)
    assert total == pytest.approx(kinetic + lift)
    assert lift[0] == 0.0
    error, *_ = named(run, "certificate")
    assert error.log
    assert error.curves[1].y.tolist() == [1e-8, 1e-8]
    assert np.nanmax(error.curves[0].y) <= 1e-8


def test_unknown_names_are_answered_with_near_ones(run):
    with pytest.raises(
        ModelError, match="'forcs' not found in a recording; figures near that name: 'forces'"
    ):
        named(run, "forcs")
    with pytest.raises(ModelError, match=r"'RLEG_KNE' not found in the recording.*RLEG_KNEE_P"):
        named(run, "joints", joints=["RLEG_KNE"])


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg"])
def test_figures_are_drawn_in_every_format(run, tmp_path, suffix):
    path = tmp_path / f"figure{suffix}"
    figures.draw(path, curves.panels(run, ["forces", "cop"]), "a title with a $ in it")
    head = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}[suffix]
    assert path.read_bytes().startswith(head)


def test_every_panel_has_axes_with_units(run):
    panels = curves.panels(run)
    figure = figures.picture(panels)
    axes = [ax for ax in figure.axes if ax.get_title(loc="left")]
    assert len(axes) == len(panels)
    # the words at the ticks of states need none
    worded = [bool(panel.ticks) for panel in panels if panel.outline is None]
    planes = len(panels) - len(worded)
    assert [not ax.get_ylabel() for ax in axes] == [False] * planes + worded
    assert all("[" in ax.get_ylabel() for ax in axes if ax.get_ylabel())
    assert axes[-1].get_xlabel() == "time [s]"


def test_noise_does_not_fill_the_axes_of_balance(run, monkeypatch, tmp_path):
    (panel,) = [p for p in curves.panels(run, ["zmp"]) if p.title.startswith("Balance along y")]
    assert panel.least == 1.0
    t = np.linspace(0, 1, 50)
    limits = []
    monkeypatch.setattr(figures, "_dress", lambda ax, panel: limits.append(ax.get_ylim()))
    for size in (1e-8, 5.0):
        noise = [curves.Curve("noise", t, 20 + size * np.sin(50 * t))]
        figures.draw(tmp_path / "a.png", [replace(panel, curves=noise)], "noise")
    assert limits[0] == pytest.approx((19.5, 20.5))
    assert limits[1][1] - limits[1][0] > 9.0


def test_pressure_under_soft_soles_is_a_map_at_its_highest_and_on_average(soft):
    pad = soft.pads["pad of box"]
    highest, mean, *curves_ = named(soft, "soles")
    row = int(pad.pressure.max(axis=1).argmax())
    for panel, force in (
        (highest, pad.force[row, :, 2].sum()),
        (mean, pad.force[:, :, 2].sum(axis=1).mean()),
    ):
        points, triangles, values = panel.face
        assert panel.scale.endswith("[kPa]")
        assert f"{soft.time[row]:.3f} s" in panel.title or "mean" in panel.title
        # kPa times mm² are mN; nodes that pull a little under viscosity are drawn as nothing
        flat = np.column_stack([points, np.zeros(len(points))])
        carried = 1e-3 * pad_tracks.areas(flat, triangles) @ values
        assert carried == pytest.approx(force, rel=1e-3)
    pressure, sink, tilt = curves_
    assert pressure.curves[0].y == pytest.approx(1e-3 * pad.pressure.max(axis=1))
    assert sink.curves[0].y == pytest.approx(1e3 * pad.sink)
    assert [curve.y.tolist() for curve in tilt.curves] == (1e3 * pad.tilt).T.tolist()
    # p t / E between free sides and none: (1 − ν)/((1 + ν)(1 − 2ν)) times as stiff, and coarse
    # elements a tenth more at most
    free = 1e3 * pad.force[-1, :, 2].sum() / 0.008 * 0.01 / 1e6
    held = free * 1.4 * 0.2 / 0.6
    assert 0.9 * held < sink.curves[0].y[-1] < free


@pytest.mark.slow
def test_maps_stand_side_by_side_with_one_scale_each(soft, tmp_path):
    found = figures.picture(named(soft, "soles"))
    # two maps, two scales, three panels of curves
    assert len(found.axes) == 7
    figures.draw(tmp_path / "soles.png", named(soft, "soles"))
    assert (tmp_path / "soles.png").stat().st_size > 10_000
    triangles = np.array([[0, 1, 2], [0, 2, 3]])
    assert figures.rim(triangles).tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]


def test_a_run_without_soft_soles_has_no_panel_of_them(run):
    assert not [panel for panel in curves.panels(run) if panel.name == "soles"]
    with pytest.raises(ModelError, match="no soft soles"):
        named(run, "soles")
