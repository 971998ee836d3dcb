"""Frames: the rows that pictures show, and the numbers they draw."""

import dataclasses

import numpy as np
import pytest

from tabi.recording.look import Piece
from tabi.recording.recorded import RecordingError
from tabi.recording.tracks import rotations
from tabi.reporting.frames import contact_rows, frames, quaternions, rows, thinned


def test_rows_are_thinned_to_a_rate_and_keep_the_end(run):
    assert len(run.time) == 201
    assert np.array_equal(rows(run), np.arange(201))
    some = rows(run, 60)
    # 500 Hz by 8 is 62.5 Hz; 200 is a multiple of 8
    assert np.array_equal(some, np.arange(0, 201, 8))
    assert rows(run, 150)[-1] == 200
    part = rows(run, None, 0.1, 0.2)
    assert run.time[part[[0, -1]]] == pytest.approx([0.1, 0.2])


def test_empty_stretch_of_time_is_refused(run):
    with pytest.raises(
        RecordingError,
        match=r"no row lies between 3 and 4 s; the recording goes from 0 to 0.4 s in 201 rows",
    ):
        rows(run, None, 3, 4)


def test_quaternions_are_those_of_the_rotations():
    rng = np.random.default_rng(2)
    q = rng.normal(size=(50, 4))
    # also half turns, where w is zero
    q[:3] = np.eye(4)[1:]
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    found = quaternions(rotations(q))
    assert np.abs((found * q).sum(axis=1)) == pytest.approx(np.ones(50), abs=1e-12)


def test_arrows_are_the_pressing_contacts_of_their_rows(run):
    selected = np.array([200, 3, 50])
    found = frames(run, selected)
    for k, row in enumerate(selected):
        contacts = run.contacts_at(row)
        pressing = contacts["status"] > 0
        point, force = found.arrows(k)
        assert np.array_equal(point, contacts["point"][pressing])
        assert np.array_equal(force, contacts["force"][pressing])
        assert len(contact_rows(run, np.array([row]))) == run.contact_count[row]
    # pressure of both feet lies on the ground, under the soles
    assert found.pressure[0, :, 2] == pytest.approx([0.0, 0.0], abs=1e-4)


@pytest.mark.slow
def test_thinning_leaves_a_ball_a_ball():
    angle = np.linspace(0, 2 * np.pi, 201)[:-1]
    height = np.linspace(-0.99, 0.99, 100)
    grid = np.array(
        [
            [np.sqrt(1 - z * z) * np.cos(a), np.sqrt(1 - z * z) * np.sin(a), z]
            for z in height
            for a in angle
        ],
        np.float32,
    )
    k, m = (x.ravel() for x in np.meshgrid(np.arange(99), np.arange(200), indexing="ij"))
    a, b = 200 * k + m, 200 * k + (m + 1) % 200
    triangles = np.concatenate(
        [np.stack([a, b, b + 200], axis=1), np.stack([a, b + 200, a + 200], axis=1)]
    ).astype(np.int32)
    (small,) = thinned([Piece(0, grid, triangles, (1, 1, 1, 1))], 3000)
    assert 300 < len(small.triangles) <= 3000
    # cells of about 2·√(4π/3000) of the radius, and corners in the middle of theirs
    assert np.linalg.norm(small.vertices, axis=1) == pytest.approx(
        np.ones(len(small.vertices)), abs=0.1
    )


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [(9.0, None, "9 and the end;"), (None, -1.0, "the start and -1 s;"), (2.0, 1.0, "2 and 1 s;")],
)
def test_times_without_a_row_are_named_as_they_were_asked_for(run, start, end, said):
    with pytest.raises(RecordingError, match=f"no row lies between {said}"):
        rows(run, None, start, end)


def test_arrows_are_the_forces_on_the_upper_body_whichever_the_contact_names_first(run):
    selected = np.array([len(run.time) - 1])
    turned = {name: -run.contacts[name] for name in ("normal", "force")}
    found = frames(run, selected)
    same = frames(dataclasses.replace(run, contacts=run.contacts | turned), selected)
    assert len(found.force) > 0
    assert (found.force[:, 2] > 0).all()
    assert np.array_equal(same.force, found.force)
