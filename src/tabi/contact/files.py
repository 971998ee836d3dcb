"""Contact problems in files: FCLib's HDF5 form, and the same as a NumPy archive.

FCLib keeps a local problem in the group ``fclib_local``: ``spacedim`` 3, a sparse matrix ``W``
(m, n, nz, p, i, x; nz is −1 for compressed columns, −2 for compressed rows, else the number of
triplets), and ``vectors`` q and mu. The archive (.npz) has W_data, W_indices, W_indptr
(compressed rows) and size n, or a dense W; q; mu. Both are normal first. A solution, if there is
one, is the group ``solution`` with velocities u and impulses r, beside ``fclib_local``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tabi.contact.problem import Problem, ProblemError

Floats = NDArray[np.float64]


def read(path: str | Path) -> Problem:
    """Read a problem from an .hdf5 file (FCLib) or an .npz file.

    Example: docs/contact.md
    """
    path = Path(path)
    readers = {".npz": _read_npz, ".hdf5": _read_hdf5, ".h5": _read_hdf5}
    if path.suffix.lower() not in readers:
        raise ProblemError(
            f"{path}: the format {path.suffix or 'without suffix'!r} is not known; "
            f"expected {', '.join(readers)}"
        )
    if not path.is_file():
        raise ProblemError(f"{path}: there is no such file")
    try:
        W, q, mu = readers[path.suffix.lower()](path)
    except ProblemError:
        raise
    except KeyError as missing:
        raise ProblemError(
            f"{path}: {str(missing.args[0]) if missing.args else 'an entry'}; "
            "expected a friction problem W, q, mu"
        ) from None
    except (OSError, ValueError, TypeError, EOFError) as problem:
        raise ProblemError(f"{path}: it cannot be read as a friction problem: {problem}") from None
    try:
        return Problem(W, q, mu, order="ntt")
    except ProblemError as fault:
        raise ProblemError(f"{path}: {fault}") from None


def _read_npz(path: Path) -> tuple[Any, Any, Any]:
    with np.load(path, allow_pickle=False) as data:
        if "W_data" in data:
            n = int(data["n"])
            W: Any = scipy.sparse.csr_matrix(
                (data["W_data"], data["W_indices"], data["W_indptr"]), (n, n)
            )
        else:
            W = data["W"]
        return W, data["q"], data["mu"]


def _read_hdf5(path: Path) -> tuple[Any, Any, Any]:
    import h5py

    with h5py.File(path, "r") as file:
        if "fclib_local" not in file:
            raise ProblemError(
                f"{path}: it has no group 'fclib_local'; only local problems (W, q, mu) are read, "
                f"it has {', '.join(file) or 'nothing'}"
            )
        group: Any = file["fclib_local"]
        if int(np.asarray(group["spacedim"]).ravel()[0]) != 3:
            raise ProblemError(f"{path}: its contacts are not in three dimensions")
        W, vectors = group["W"], group["vectors"]
        m, n, nz = (int(np.asarray(W[name]).ravel()[0]) for name in ("m", "n", "nz"))
        p, i, x = (np.asarray(W[name]).ravel() for name in ("p", "i", "x"))
        if nz == -1:
            matrix = scipy.sparse.csc_matrix((x, i, p), (m, n))
        elif nz == -2:
            matrix = scipy.sparse.csr_matrix((x, i, p), (m, n))
        else:
            matrix = scipy.sparse.coo_matrix((x[:nz], (i[:nz], p[:nz])), (m, n))
        return matrix, np.asarray(vectors["q"]).ravel(), np.asarray(vectors["mu"]).ravel()


def read_solution(path: str | Path) -> tuple[Floats, Floats] | None:
    """Return velocities u and impulses r of the solution in an .hdf5 file, normal first; None if
    the file has none.

    Example: docs/contact.md
    """
    import h5py

    try:
        with h5py.File(path, "r") as file:
            if "solution" not in file:
                return None
            group: Any = file["solution"]
            u, r = (np.asarray(group[name], float).ravel() for name in ("u", "r"))
    except KeyError as missing:
        raise ProblemError(f"{path}: its solution lacks u or r: {missing.args[0]}") from None
    except (OSError, ValueError, TypeError) as problem:
        raise ProblemError(f"{path}: its solution cannot be read: {problem}") from None
    if u.shape != r.shape:
        raise ProblemError(f"{path}: its solution has {len(u)} velocities and {len(r)} impulses")
    return u, r


def check_output(path: str | Path) -> None:
    """Refuse a file that cannot be written, before the work for it is done."""
    path = Path(path)
    if path.suffix.lower() not in (".npz", ".hdf5", ".h5"):
        raise ProblemError(
            f"{path}: the format {path.suffix or 'without suffix'!r} is not known; "
            "expected .hdf5 or .npz"
        )
    folder = path.absolute().parent
    if (
        path.is_dir()
        or not folder.is_dir()
        or not os.access(path if path.exists() else folder, os.W_OK)
    ):
        raise ProblemError(
            f"{path}: it cannot be written; choose a name in a folder that exists and is yours"
        )


def write(
    path: str | Path,
    W: Any,
    q: Any,
    mu: Any,
    title: str = "",
    description: str = "",
    solution: tuple[Any, Any] | None = None,
) -> None:
    """Write a problem, normal first, in FCLib's form (.hdf5) or as an archive (.npz);
    a bad one is refused before.

    Args:
        solution: velocities u [m/s] and impulses r [N·s], normal first; in .hdf5 alone.

    Examples:
        >>> tabi.contact.files.write("box.npz", np.eye(3), [0.0, 0.0, -1.0], [0.5])
        >>> tabi.contact.files.read("box.npz").contact_count
        1
    """
    path = Path(path)
    Problem(W, q, mu, order="ntt")
    if solution is not None and any(np.shape(x) != np.shape(q) for x in solution):
        sizes = " and ".join(str(np.size(x)) for x in solution)
        raise ProblemError(f"the solution has {sizes} numbers; expected {np.size(q)} each")
    if solution is not None and path.suffix.lower() == ".npz":
        raise ProblemError(f"{path}: an archive has no place for a solution; expected .hdf5")
    rows: Any = scipy.sparse.csr_matrix(W)
    if path.suffix.lower() == ".npz":
        np.savez_compressed(
            path,
            W_data=rows.data,
            W_indices=rows.indices,
            W_indptr=rows.indptr,
            n=rows.shape[0],
            q=q,
            mu=mu,
            kind="fclib_local",
        )
        return
    if path.suffix.lower() not in (".hdf5", ".h5"):
        raise ProblemError(
            f"{path}: the format {path.suffix or 'without suffix'!r} is not known; "
            "expected .hdf5 or .npz"
        )
    _write_hdf5(path, rows.tocsc(), (q, mu), (title, description), solution)


def _write_hdf5(
    path: Path,
    columns: Any,
    vectors: tuple[Any, Any],
    words: tuple[str, str],
    solution: tuple[Any, Any] | None,
) -> None:
    """FCLib's form of W by columns, q and mu, title and description."""
    import h5py

    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = np.array([3], np.int32)
        matrix = group.create_group("W")
        sizes = {"m": columns.shape[0], "n": columns.shape[1], "nz": -1, "nzmax": columns.nnz}
        for name, value in sizes.items():
            matrix[name] = np.array([value], np.int32)
        matrix["p"] = columns.indptr.astype(np.int32)
        matrix["i"] = columns.indices.astype(np.int32)
        matrix["x"] = columns.data.astype(float)
        vectors_group = group.create_group("vectors")
        vectors_group["q"], vectors_group["mu"] = (np.asarray(x, float) for x in vectors)
        info = group.create_group("info")
        info["title"], info["description"], info["math_info"] = *words, ""
        if solution is not None:
            solution_group = file.create_group("solution")
            solution_group["u"], solution_group["r"] = (np.asarray(x, float) for x in solution)
