"""Files of tosses: what is read, and what is said of those that are odd."""

import numpy as np
import pytest

from tabi import ModelError
from tabi.lab.validate.toss_files import COLUMNS, HALF_SIDE, read


def rows(samples=4):
    table = np.zeros((samples, COLUMNS))
    table[:, 2], table[:, 3], table[:, 7], table[:, 12] = 2.0, 1.0, 5.0, 3.0
    return table


def test_lengths_come_in_metres_and_tosses_in_the_order_of_their_numbers(tmp_path):
    np.savez(tmp_path / "a.npz", toss_10=rows(5), toss_9=rows(), other=np.zeros(3))
    first, second = read(tmp_path)
    assert (first.name, second.name, len(second.pose)) == ("toss_9", "toss_10", 5)
    assert first.pose[0] == pytest.approx([0, 0, 2 * HALF_SIDE, 1, 0, 0, 0])
    assert first.linear == pytest.approx([5 * HALF_SIDE, 0, 0])
    assert first.angular == pytest.approx([0, 0, 3])


def changed(at, value):
    table = rows()
    table[at] = value
    return table


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (np.zeros((4, 7)), r"toss_1 has shape \(4, 7\)"),
        (rows(2), "n ≥ 3"),
        (changed((2, 0), np.nan), "toss_1 has a number that is not finite in sample 2"),
        (changed((3, 3), 0.5), "toss_1 has a quaternion of length 0.5 in sample 3"),
        (np.full((4, COLUMNS), "x"), "toss_1 has shape"),
        (np.full((4, COLUMNS), None), "cannot be read as an .npz file of arrays"),
    ],
)
def test_an_odd_toss_is_named(tmp_path, table, said):
    np.savez(tmp_path / "a.npz", toss_0=rows(), toss_1=table)
    with pytest.raises(ModelError, match=said) as caught:
        read(tmp_path / "a.npz")
    assert caught.value.file == tmp_path / "a.npz"


def test_a_path_without_tosses_is_refused(tmp_path):
    with pytest.raises(ModelError, match="do not exist"):
        read(tmp_path / "missing.npz")
    with pytest.raises(ModelError, match=r"has no \.npz file"):
        read(tmp_path)
    (tmp_path / "a.npz").write_text("not an archive")
    with pytest.raises(ModelError, match="cannot be read"):
        read(tmp_path)
    np.savez(tmp_path / "a.npz", other=rows())
    with pytest.raises(ModelError, match="no array named toss_0"):
        read(tmp_path)
    np.savez(tmp_path / "a.npz", toss_0=rows())
    with pytest.raises(ModelError, match="1 toss was found; expected at least 2"):
        read(tmp_path)
    np.save(tmp_path / "b.npy", rows())
    with pytest.raises(ModelError, match="single array"):
        read(tmp_path / "b.npy")
