"""The door: what is not a contact problem is named."""

import h5py
import numpy as np
import pytest
from contact.problems import random_problem
from scipy import sparse

from tabi import contact
from tabi.contact import files
from tabi.contact.problem import Problem, ProblemError

W, Q, MU = random_problem(np.random.default_rng(0), contacts=2)


def with_entry(x, index, value):
    x = np.array(x, float)
    x[index] = value
    return x


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"W": W[:5]}, ["W has shape (5, 6)", "square"]),
        ({"W": W[:3, :3]}, ["W has shape (3, 3)", "expected (6, 6)"]),
        ({"W": np.zeros(6)}, ["W has shape (6,)"]),
        ({"W": with_entry(W, (0, 1), np.nan)}, ["W[0, 1] is nan"]),
        (
            {"W": sparse.csr_matrix(with_entry(W, (2, 2), np.inf))},
            ["W has an entry that is not finite"],
        ),
        (
            {"W": with_entry(W, (3, 3), 0.0)},
            ["W of contact 1 has 0 on its diagonal (first tangent)"],
        ),
        ({"W": with_entry(W, (2, 2), -1.0)}, ["W of contact 0 has -1 on its diagonal (normal)"]),
        ({"W": np.zeros((6, 6))}, ["W of contact 0 has 0 on its diagonal"]),
        ({"W": "matrix"}, ["W is str; expected numbers"]),
        ({"q": Q[:5]}, ["q has 5 numbers; expected three for each contact"]),
        ({"q": with_entry(Q, 4, np.nan)}, ["q[4] is nan"]),
        ({"q": with_entry(Q, 0, -np.inf)}, ["q[0] is -inf"]),
        ({"mu": [0.5]}, ["mu has 1 numbers; expected 2"]),
        ({"mu": [0.5, -0.1]}, ["mu[1] is -0.1"]),
        ({"mu": [np.nan, 0.5]}, ["mu[0] is nan"]),
        ({"order": "nnt"}, ["order is 'nnt'", "'ttn' or 'ntt'"]),
        ({"order": None}, ["order is None"]),
        ({"solver": "newtn"}, ["solver is 'newtn'", "'auto'"]),
        ({"solver": "gauss seidel"}, ["did you mean 'gauss-seidel'?"]),
        ({"tolerance": 0.0}, ["tolerance is 0.0"]),
        ({"tolerance": np.nan}, ["tolerance is nan"]),
        ({"sweeps": 0}, ["sweeps is 0"]),
        ({"initial": np.zeros(5)}, ["initial has 5 numbers; expected 6"]),
        ({"initial": np.full(6, np.nan)}, ["initial[0] is nan"]),
    ],
)
def test_what_is_not_a_problem_is_refused_by_name(arguments, words):
    with pytest.raises(ProblemError) as caught:
        contact.solve(**{"W": W, "q": Q, "mu": MU, "order": "ttn"} | arguments)
    for word in words:
        assert word in str(caught.value)


def test_the_order_is_never_guessed():
    with pytest.raises(TypeError, match="order"):
        contact.solve(W, Q, MU)


@pytest.mark.parametrize("suffix", [".hdf5", ".npz"])
def test_a_problem_survives_its_file(tmp_path, suffix):
    path = tmp_path / f"problem{suffix}"
    files.write(path, W, Q, MU, title="two contacts")
    back = files.read(path)
    again = Problem(W, Q, MU, order="ntt")
    assert back.contact_count == again.contact_count == 2
    for one, two in zip(back.blocks, again.blocks, strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("nz", ["rows", "triplets"])
def test_fclibs_other_sparse_forms_are_read(tmp_path, nz):
    path = tmp_path / "problem.hdf5"
    files.write(path, W, Q, MU)
    with h5py.File(path, "a") as file:
        group = file["fclib_local/W"]
        for name in ("p", "i", "x", "nz"):
            del group[name]
        rows, triplets = sparse.csr_matrix(W), sparse.coo_matrix(W)
        if nz == "rows":
            group["p"] = rows.indptr
            group["i"] = rows.indices
            group["x"] = rows.data
            group["nz"] = [-2]
        else:
            group["p"] = triplets.col
            group["i"] = triplets.row
            group["x"] = triplets.data
            group["nz"] = [triplets.nnz]
    assert np.array_equal(
        files.read(path).blocks.value, Problem(W, Q, MU, order="ntt").blocks.value
    )


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.mat", b"", ["a.mat", "format '.mat' is not known", ".hdf5"]),
        ("missing.npz", None, ["missing.npz", "no such file"]),
        ("a.npz", b"not a zip", ["a.npz", "cannot be read"]),
        ("a.hdf5", b"not hdf5", ["a.hdf5", "cannot be read"]),
        ("a.hdf5", b"", ["a.hdf5", "cannot be read"]),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ProblemError) as caught:
        files.read(tmp_path / name)
    for word in words:
        assert word in str(caught.value)


def test_a_file_without_a_problem_says_what_is_missing(tmp_path):
    np.savez(tmp_path / "a.npz", q=Q, mu=MU)
    with pytest.raises(ProblemError, match=r"a\.npz: .*W.*expected a friction problem"):
        files.read(tmp_path / "a.npz")
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        file["fclib_global"] = 1
    with pytest.raises(ProblemError, match=r"no group 'fclib_local'.*fclib_global"):
        files.read(tmp_path / "a.hdf5")
    np.savez(tmp_path / "b.npz", W=W, q=Q, mu=-MU)
    with pytest.raises(ProblemError, match=r"b\.npz: mu\[0\] is -"):
        files.read(tmp_path / "b.npz")


def test_every_problem_of_the_reference_set_is_solved(shared):
    paths = sorted((shared / "data" / "fclib").glob("*.npz"))
    assert paths
    for path in paths:
        s = contact.solve_problem(files.read(path))
        print(
            f"{path.stem:36} {len(s.impulse) // 3:4} contacts  {s.residual:.1e}  {s.iterations:4} "
            f"iterations  {s.solver}"
        )
        assert s.converged, path.name


def test_a_solution_survives_its_file_and_has_to_fit(tmp_path):
    path, size = tmp_path / "a.hdf5", len(Q)
    u, r = np.arange(float(size)), -np.arange(float(size))
    files.write(path, W, Q, MU, solution=(u, r))
    back = files.read_solution(path)
    assert back is not None
    assert np.array_equal(back, (u, r))
    files.write(path, W, Q, MU)
    assert files.read_solution(path) is None
    with pytest.raises(ProblemError, match=f"solution has {size} and 1 numbers; expected {size}"):
        files.write(path, W, Q, MU, solution=(u, [1.0]))
    with pytest.raises(ProblemError, match="no place for a solution"):
        files.write(tmp_path / "a.npz", W, Q, MU, solution=(u, r))
    (tmp_path / "bad.hdf5").write_bytes(b"no")
    with pytest.raises(ProblemError, match="solution cannot be read"):
        files.read_solution(tmp_path / "bad.hdf5")
