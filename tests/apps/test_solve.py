"""``tabi solve`` on files."""

import json

import numpy as np
import pytest
from contact.problems import random_problem
from typer.testing import CliRunner

from tabi import TabiError
from tabi.apps.cli import app
from tabi.contact import files


@pytest.fixture
def problem(tmp_path):
    path = tmp_path / "stack.hdf5"
    files.write(path, *random_problem(np.random.default_rng(2)))
    return path


def test_a_problem_is_solved_and_certified(problem):
    answer = CliRunner().invoke(app, ["solve", str(problem)])
    assert answer.exit_code == 0
    assert "stack.hdf5: 6 contacts, solved by" in answer.output
    assert "backward error" in answer.output


def test_machines_get_json(problem):
    answer = CliRunner().invoke(app, ["solve", str(problem), "--json", "--tolerance", "1e-10"])
    result = json.loads(answer.output)
    assert result["converged"] is True
    assert result["contacts"] == 6
    assert result["residual"] <= 1e-10
    assert set(result) >= {"iterations", "seconds", "solver", "certificate"}


def test_what_is_not_solved_ends_with_exit_code_one(tmp_path):
    W = np.kron(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.eye(3))
    q = np.array([-1.0, 0, 0, -1.0, 0, 0])
    files.write(tmp_path / "squeezed.npz", W, q, np.array([0.5, 0.5]))
    answer = CliRunner().invoke(app, ["solve", str(tmp_path / "squeezed.npz")])
    assert answer.exit_code == 1
    assert "NOT SOLVED" in answer.output


def test_a_bad_file_is_one_sentence(tmp_path):
    with pytest.raises(TabiError, match="no such file"):
        CliRunner().invoke(app, ["solve", str(tmp_path / "nothing.npz")], catch_exceptions=False)
