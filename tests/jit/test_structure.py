"""Structures: arrays that kernels get by one address, and read as Python does."""

import copy
import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

from tabi import _renamed
from tabi.jit import kernel
from tabi.jit.structure import Structure, each
from tabi.model import arrays

RECORD = np.dtype([("x", np.float64), ("k", np.int64), ("v", np.float64, 3)], align=True)


class Pair(NamedTuple):
    first: Any
    second: Any


class Inner(Structure):
    line: Any
    cube: Any


class Outer(Structure):
    inner: Inner
    table: Any
    grid: Any
    several: tuple[Any, ...]
    pair: Pair


def made():
    rng = np.random.default_rng(0)
    table = arrays.table(4, RECORD)
    table["x"], table["k"], table["v"] = rng.random(4), np.arange(4), rng.random((4, 3))
    # every second column: neither of its strides is the size of an item
    grid = rng.random((3, 8))[:, ::2]
    several = (np.arange(2), rng.random(5))
    inner = Inner(rng.random(6), rng.random((2, 3, 4)))
    return Outer(inner, table, grid, several, Pair(rng.random(2), rng.random(3)))


@kernel
def total(s, i, j, k):
    """A number from every field, and one written."""
    s.inner.line[0] += 1.0
    row = s.table[i]
    return (
        s.inner.line[i] + s.inner.cube[i, j, k] + row.x + row.k + row.v[j] + s.grid[j, k],
        s.several[0][i] + s.several[1][k] + s.pair.second[j],
        s.inner.cube.shape[1] + s.inner.cube.size + s.grid.shape[0] + s.table.shape[0],
    )


def test_kernels_read_what_python_reads():
    s = made()
    for i, j, k in np.ndindex(2, 3, 4):
        other = made()
        # rows of plain NumPy tables have no names
        other = other._replace(table=other.table.view(np.recarray))
        plain = getattr(total, "py_func", total)(other, i, j, k)
        before = s.inner.line[0]
        found = total(s, i, j, k)
        assert s.inner.line[0] == before + 1.0
        s.inner.line[0] = before
        assert found == pytest.approx(plain, abs=1e-15)


def test_a_structure_is_fixed_and_says_what_it_takes():
    s = made()
    with pytest.raises(AttributeError, match="Outer is fixed"):
        s.table = s.table.copy()
    with pytest.raises(TypeError, match="Inner takes line, cube"):
        Inner(s.table)
    with pytest.raises(TypeError, match="Inner takes line, cube"):
        Inner(s.table, corner=s.table)
    with pytest.raises(AttributeError, match="Inner has no 'lime'"):
        _ = s.inner.lime


def test_a_field_that_is_no_array_is_refused_when_a_kernel_asks():
    with pytest.raises(TypeError, match="arrays, structures and tuples"):
        Inner(np.zeros(1), (np.zeros(1), 3.0))._numba_type_  # noqa: B018


def test_others_under_some_names_copies_and_pickles_are_structures_of_their_own():
    s = made()
    longer = s._replace(inner=s.inner._replace(line=np.arange(10.0)))
    assert total(longer, 1, 2, 3)[0] - total(s, 1, 2, 3)[0] == pytest.approx(1 - s.inner.line[1])
    for other in (each(s, np.copy), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert isinstance(other, Outer)
        assert isinstance(other.pair, Pair)
        assert total(other, 1, 2, 3) == pytest.approx(total(s, 1, 2, 3))
        assert not np.shares_memory(other.inner.cube, s.inner.cube)


def test_types_are_told_by_fields_not_by_sizes():
    s = made()
    longer = s._replace(inner=s.inner._replace(line=np.arange(10.0)))
    whole = s._replace(inner=s.inner._replace(line=np.arange(10)))
    assert longer._numba_type_ is s._numba_type_
    assert whole._numba_type_ != s._numba_type_
    assert pickle.loads(pickle.dumps(s._numba_type_)) is s._numba_type_


def test_one_that_is_made_from_another_has_its_fields_first():
    class Longer(Inner):
        more: Any

    both = Longer(np.arange(3.0), cube=np.zeros((1, 1, 1)), more=np.arange(2.0))
    assert Longer._fields == ("line", "cube", "more")

    @kernel
    def total(s):
        return s.line[2] + s.more[1]

    assert total(both) == 3.0


class Renamed(Structure, renamed={"stroke": "line"}):
    line: Any


@kernel
def stroke_sum(s):
    return s.stroke[0] + s.line[1]


def test_fields_keep_their_old_names_in_python_and_in_kernels(monkeypatch):
    monkeypatch.setattr(_renamed, "_reported", set())
    with pytest.warns(FutureWarning, match="stroke in Renamed is now called line"):
        s = Renamed(stroke=np.array([1.0, 2.0]))
    assert s.stroke is s.line
    assert stroke_sum(s) == 3.0
    assert s._replace(stroke=np.ones(2)).line[1] == 1.0
    assert pickle.loads(pickle.dumps(s._numba_type_)) is s._numba_type_
    with pytest.raises(AttributeError, match="no 'strike'"):
        s.strike  # noqa: B018
