"""The short way to LLVM's code: items of arrays, loops and calls do what they do in Python."""

import numpy as np
import pytest

from tabi.jit import kernel

RECORD = np.dtype([("x", np.float64), ("k", np.int32)], align=True)


@kernel
def item(a, i):
    return a[i]


@kernel
def item2(a, i, j):
    return a[i, j]


@kernel
def item3(a, i, j, k):
    return a[i, j, k]


@kernel
def write2(a, i, j, value):
    a[i, j] = value


@kernel
def column(a, i):
    a[i].x += 2.0
    return a[i].x, a[i].k


@kernel
def counted(start, stop):
    """Sums over loops that count by ones, and one that does not."""
    plain, between, back = 0, 0, 0
    for i in range(stop):
        plain += i + 1
    for i in range(start, stop):
        between += i * i
    for i in range(stop, start, -2):
        back += i
    return plain, between, back


@kernel
def _second(a, i):
    return a[i], 2 * i


@kernel
def through_calls(a):
    """What inner kernels return, in a loop."""
    total = 0.0
    for i in range(a.shape[0]):
        value, twice = _second(a, i)
        total += value * twice
    return total


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.bool_])
def test_items_of_arrays_of_any_layout_at_any_number(dtype):
    whole = (100 * np.random.default_rng(1).random((4, 5, 6)) - 50).astype(dtype)
    for a in (whole, whole[::-1], whole[:, ::2], whole.transpose(2, 0, 1)):
        line, plane = a[:, 1, 2], a[1]
        for i in range(-a.shape[0], a.shape[0]):
            assert item(line, i) == line[i]
            assert item3(a, i, -1, 1) == a[i, -1, 1]
            assert item2(plane, 1, -2) == plane[1, -2]
    assert item(whole[:, 0, 0].copy(), np.uint64(3)) == whole[3, 0, 0]


def test_items_are_written_with_the_type_of_the_array():
    for a in (np.zeros((3, 4)), np.zeros((6, 8))[::2, ::2], np.zeros((3, 4), np.int32)):
        write2(a, 1, 2, 7.0)
        write2(a, -1, -1, 2)
        expected = np.zeros((3, 4), a.dtype)
        expected[1, 2], expected[2, 3] = 7, 2
        assert (a == expected).all()


def test_rows_of_tables_are_views():
    table = np.zeros(3, RECORD)
    table["k"] = (4, 5, 6)
    assert column(table, 1) == (2.0, 5)
    assert column(table, -1) == (2.0, 6)
    assert table["x"].tolist() == [0.0, 2.0, 2.0]


@pytest.mark.parametrize(("start", "stop"), [(0, 5), (-3, 4), (2, 2), (5, 2), (-2, -5), (0, 0)])
def test_loops_count_as_python_does(start, stop):
    expected = (
        sum(i + 1 for i in range(stop)),
        sum(i * i for i in range(start, stop)),
        sum(range(stop, start, -2)),
    )
    assert counted(start, stop) == expected


def test_what_kernels_return_to_kernels():
    a = np.arange(1.0, 6.0)
    assert through_calls(a) == (a * 2 * np.arange(5)).sum()
