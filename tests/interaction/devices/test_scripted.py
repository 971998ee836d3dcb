"""A script is replayed as its polynomial says, its velocity is the derivative, and what a recorder
writes comes back.
"""

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.interaction.devices.scripted import Recorder, ScriptedDevice, ScriptedHand

RNG = np.random.default_rng(3)


def rows(n=9, turn=False):
    t = 2.0 + np.cumsum(RNG.uniform(0.05, 0.3, n))
    table = np.column_stack([t, RNG.normal(scale=0.05, size=(n, 3))])
    if turn:
        q = RNG.normal(size=(n, 4))
        table = np.column_stack([table, q / np.linalg.norm(q, axis=1, keepdims=True)])
    return table


def rotated(q, a):
    u = q[1:]
    return a + 2.0 * np.cross(u, np.cross(u, a) + q[0] * a)


def test_the_place_goes_through_each_row_and_starts_and_ends_at_rest():
    table = rows()
    hand = ScriptedHand(table)
    for row in table:
        np.testing.assert_allclose(hand.at(row[0] - table[0, 0]).position, row[1:], atol=1e-12)
    assert not hand.at(0.0).velocity.any()
    assert np.abs(hand.at(hand.duration - 1e-9).velocity).max() < 1e-6


def test_velocity_is_the_derivative_of_the_place():
    hand = ScriptedHand(rows())
    for t in RNG.uniform(0.01, hand.duration - 0.01, 50):
        e = 1e-6
        slope = (hand.at(t + e).position - hand.at(t - e).position) / (2 * e)
        np.testing.assert_allclose(hand.at(t).velocity, slope, atol=1e-7)


def test_a_straight_way_at_constant_speed_is_replayed_exactly_between_inner_rows():
    t = np.sort(RNG.uniform(0.0, 1.0, 8))
    way = np.array([0.2, 0.3, -0.1])
    hand = ScriptedHand(np.column_stack([t, np.outer(t, way)]))
    for now in np.linspace(t[1], t[-2], 20):
        found = hand.at(now - t[0])
        np.testing.assert_allclose(found.position, now * way, atol=1e-12)
        np.testing.assert_allclose(found.velocity, way, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_between_rows_on_a_line_the_hand_goes_beyond_neither_however_uneven_their_times(seed):
    rng = np.random.default_rng(seed)
    t, along = np.cumsum(10.0 ** rng.uniform(-3, 1, 12)), rng.normal(scale=0.05, size=12)
    line = rng.normal(size=3)
    hand = ScriptedHand(np.column_stack([t, np.outer(along, line)]))
    for k in range(11):
        times = np.linspace(t[k], t[k + 1], 50) - t[0]
        path = np.array([hand.at(now).position for now in times]) @ line / (line @ line)
        low, high = sorted(along[k : k + 2])
        assert path.min() > low - 1e-12
        assert path.max() < high + 1e-12


def test_around_a_right_angle_the_hand_goes_beyond_no_row_and_round_a_gentle_bend_without_a_stop():
    # 50 mm ahead in 0.1 s, then 50 mm aside in 2 s: on a parabola it would be thrown far ahead
    hand = ScriptedHand([(0, 0, 0, 0), (0.1, 0.05, 0, 0), (2.1, 0.05, 0.05, 0), (2.2, 0, 0.05, 0)])
    path = np.array([hand.at(t).position for t in np.linspace(0, 2.2, 400)])
    assert path.min() > -1e-12
    assert path.max() < 0.05 + 1e-12
    bend = ScriptedHand([(0, 0, 0, 0), (1, 0.1, 0, 0), (2, 0.2, 0.05, 0)])
    assert np.linalg.norm(bend.at(1.0).velocity) > 0.08


def test_a_path_that_is_turned_is_the_turned_path():
    table, angle = rows(), 0.7
    R = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    hand = ScriptedHand(table)
    turned = ScriptedHand(np.column_stack([table[:, 0], table[:, 1:] @ R.T]))
    for t in np.linspace(0.0, hand.duration, 50):
        np.testing.assert_allclose(turned.at(t).position, R @ hand.at(t).position, atol=1e-14)
        np.testing.assert_allclose(turned.at(t).velocity, R @ hand.at(t).velocity, atol=1e-13)


def test_orientation_turns_at_the_rate_that_is_told():
    hand = ScriptedHand(rows(5, turn=True))
    arm = np.array([0.3, -0.2, 0.7])
    for t in RNG.uniform(0.01, hand.duration - 0.01, 20):
        e = 1e-6
        found = hand.at(t)
        ends = [rotated(hand.at(t + d).quaternion, arm) for d in (-e, e)]
        moved = np.cross(found.spin, rotated(found.quaternion, arm))
        np.testing.assert_allclose((ends[1] - ends[0]) / (2 * e), moved, atol=1e-4)


def test_after_the_last_row_it_stays_or_starts_over():
    table = rows()
    stays, repeats = ScriptedHand(table), ScriptedHand(table, after="repeat")
    late = stays.duration + 0.1
    np.testing.assert_array_equal(stays.at(late).position, table[-1, 1:])
    assert not stays.at(late).velocity.any()
    np.testing.assert_allclose(repeats.at(late).position, repeats.at(0.1).position, atol=1e-12)


def test_the_clock_is_the_callers():
    now = [5.0]
    hand = ScriptedHand(rows())
    device = ScriptedDevice(hand, clock=lambda: now[0])
    now[0] = 5.3
    read = device.read()
    assert read.time == 5.3
    np.testing.assert_array_equal(read.position, hand.at(5.3 - 5.0).position)
    device.write(np.ones(3), np.ones(3))
    device.close()
    assert not device.force.any()


def test_what_is_recorded_comes_back(tmp_path):
    now, path = [0.0], tmp_path / "a.hand.csv"
    hand = ScriptedHand(rows(6, turn=True), [(k % 2 == 0, True) for k in range(6)])
    recorder = Recorder(ScriptedDevice(hand, clock=lambda: now[0]), path)
    read = []
    for k in range(60):
        now[0] = 0.01 * k
        read += [recorder.read(), recorder.read()]
    recorder.close()
    recorder.close()
    again = ScriptedHand.load(path)
    assert len(read) == 2 * 60
    for one in read[::2]:
        back = again.at(one.time)
        np.testing.assert_array_equal(back.position, one.position)
        np.testing.assert_allclose(abs(back.quaternion @ one.quaternion), 1.0)
        assert back.buttons == one.buttons


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1: its columns are none"),
        ("time,x,y,z\n", "line 1: its columns are time,x,y,z"),
        ("time_s,x_m,y_m,z_m\n", "no row of a hand"),
        ("time_s,x_m,y_m,z_m\n0,0,0\n", "line 2: 3 columns; expected 4"),
        ("time_s,x_m,y_m,z_m\n0,0,0,0\n1,0,up,0\n", "line 3: y_m is 'up'; expected a number"),
        ("time_s,x_m,y_m,z_m\n0,0,0,0\n\n0,0,0,0\n", "line 4: the time is 0 s after 0 s"),
        ("time_s,x_m,y_m,z_m\n0,nan,0,0\n", "line 2: x_m is nan"),
        ("time_s,x_m,y_m,z_m\n0,0,0,1e9\n", "line 2: z_m is 1e9"),
        ("time_s,x_m,y_m,z_m,buttons\n0,0,0,0,02\n", "line 2: buttons is '02'"),
        ("time_s,x_m,y_m,z_m,qw,qx,qy,qz\n0,0,0,0,1,1,0,0\n", "line 2: .* has length 1.414"),
    ],
)
def test_a_bad_row_is_told_by_file_and_line(tmp_path, text, told):
    path = tmp_path / "bad.hand.csv"
    path.write_text(text)
    with pytest.raises(ModelError, match=told) as error:
        ScriptedHand.load(path)
    assert "bad.hand.csv" in str(error.value)


def test_a_file_that_is_not_there_or_no_text(tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        ScriptedHand.load(tmp_path / "none.csv")
    (tmp_path / "b.csv").write_bytes(b"time_s,x_m,y_m,z_m\n\xff\xfe,0,0,0\n")
    with pytest.raises(ModelError, match="cannot be read"):
        ScriptedHand.load(tmp_path / "b.csv")


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (np.zeros((0, 4)), "shape"),
        (np.zeros((3, 5)), "shape"),
        ([[0, 0, 0, np.nan]], "not finite"),
        ([[0, 0, 0, 0], [0, 0, 0, 0]], "increasing times"),
    ],
)
def test_a_bad_array_is_refused(table, told):
    with pytest.raises(ModelError, match=told):
        ScriptedHand(table)
