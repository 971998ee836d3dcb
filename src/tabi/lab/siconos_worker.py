"""Worker for ``siconos``, run by the system Python:
friction problems solved by Siconos, one request and one answer a line.

Only numpy and siconos are used. A request is {"file", "solver", "dense", "tolerance",
"iterations"}; the file (.npz) holds W as triplets row, column, value, and q and mu, normal first.
The answer is {"info", "iterations", "seconds", "impulse"}, with the seconds of the driver alone,
from zero impulses, the least of a few repetitions where it is short.
"""

import json
import os
import sys
import time

import numpy as np

# repeated while a run is shorter than this altogether [s], and at most so often
MIN_TOTAL_TIME_S, REPETITIONS = 0.1, 20


def load(sn, file, dense):
    """The friction problem of a file, and the arrays it leans on."""
    with np.load(file) as data:
        row, column, value, q, mu = (data[name] for name in ("row", "column", "value", "q", "mu"))
    n = len(q)
    if dense:
        matrix = np.zeros((n, n), order="F")
        matrix[row, column] = value
    else:
        # Siconos's own triplets, which it compresses itself: no need of scipy
        matrix = sn.NM_create(sn.NM_SPARSE, n, n)
        sn.NM_triplet_alloc(matrix, len(value))
        for i, j, x in zip(row.tolist(), column.tolist(), value.tolist(), strict=True):
            sn.NM_entry(matrix, i, j, x)
    problem = sn.FrictionContactProblem(3, matrix, q, mu)
    return problem, (matrix, q, mu)


def solve(sn, problem, solver, tolerance, iterations, repetitions=REPETITIONS):
    """The answer to a request, as plain data."""
    size = 3 * problem.numberOfContacts
    best = spent = 0.0
    for turn in range(repetitions):
        impulse, velocity = np.zeros(size), np.zeros(size)
        options = sn.SolverOptions(getattr(sn, "SICONOS_FRICTION_3D_" + solver))
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = iterations
        options.dparam[sn.SICONOS_DPARAM_TOL] = tolerance
        start = time.perf_counter()
        info = sn.fc3d_driver(problem, impulse, velocity, options)
        seconds = time.perf_counter() - start
        best = min(best, seconds) if turn else seconds
        spent += seconds
        if spent >= MIN_TOTAL_TIME_S:
            break
    done = int(options.iparam[sn.SICONOS_IPARAM_ITER_DONE])
    return {"info": int(info), "iterations": done, "seconds": best, "impulse": impulse.tolist()}


def main():
    """Answer requests until there are no more."""
    # Siconos prints as it likes: the answers get a way out of their own
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import siconos.numerics as sn

    sn.numerics_set_verbose(0)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    problem_key, problem, references = None, None, None
    for line in sys.stdin:
        request = json.loads(line)
        key = (request["file"], request["dense"])
        try:
            if key != problem_key:
                problem, references = load(sn, *key)
                problem_key = key
                # once around, so that the matrix is compressed before the clock runs
                solve(sn, problem, "NSGS", 1.0, 1, repetitions=1)
            answer = solve(
                sn, problem, request["solver"], request["tolerance"], request["iterations"]
            )
        except Exception as fault:
            answer = {"fault": f"{type(fault).__name__}: {fault}"}
        print(json.dumps(answer), file=answers, flush=True)
    del references


if __name__ == "__main__":
    main()
