"""Exported problems: files that are read back, certificates by hand, and a folder that goes on."""

import json

import h5py
import numpy as np
import pytest

from tabi import TabiError
from tabi.contact import files
from tabi.lab import family
from tabi.lab.family import export as family_export
from tabi.lab.family.export import KINDS, certificate_of, export, hardness, places

COUNT = 5


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("problems") / "set"
    return folder, export(folder, COUNT, seed=7)


def error_by_hand(W, q, mu, r):
    """Backward error in plain NumPy, contact after contact, normal first."""
    u, worst = W @ r + q, 0.0
    for k, m in enumerate(mu):
        rows = slice(3 * k, 3 * k + 3)
        rho = 3 / np.trace(W[rows, rows])
        moved = r[rows] - rho * (u[rows] + [m * np.hypot(*u[rows][1:]), 0.0, 0.0])
        n, t = moved[0], moved[1:]
        size = np.hypot(*t)
        if size <= m * n:
            projected = moved
        elif m * size <= -n:
            projected = np.zeros(3)
        else:
            n = (n + m * size) / (1 + m * m)
            projected = np.array([n, *(m * n * t / size)])
        worst = max(worst, np.linalg.norm(r[rows] - projected) / rho)
    return worst


@pytest.mark.slow
def test_a_file_is_read_back_and_its_solution_is_certified_anew(exported):
    folder, index = exported
    assert len(index["problems"]) == COUNT
    for record in index["problems"]:
        path = folder / record["file"]
        with h5py.File(path) as file:
            group = file["fclib_local"]
            n = group["W/n"][0]
            columns = (group["W/x"][:], group["W/i"][:], group["W/p"][:])
            q, mu = group["vectors/q"][:], group["vectors/mu"][:]
            u, r = file["solution/u"][:], file["solution/r"][:]
        W = np.zeros((n, n))
        for j in range(n):
            rows = slice(columns[2][j], columns[2][j + 1])
            W[columns[1][rows], j] = columns[0][rows]
        assert u == pytest.approx(W @ r + q, abs=1e-12)
        error = error_by_hand(W, q, mu, r)
        assert error <= 1e-8 * np.abs(q).max()
        assert certificate_of(path).residual == pytest.approx(error, abs=1e-13)
        assert record["certificate"]["residual"] == pytest.approx(error, abs=1e-13)
        assert (record["contacts"], record["friction"]) == (len(mu), [mu.min(), mu.max()])
        back = files.read(path)
        assert back.contact_count == record["contacts"]


@pytest.mark.slow
def test_a_problem_is_the_case_that_its_name_says(exported):
    folder, index = exported
    record = index["problems"][0]
    case = family.case(record["family"], record["index"], seed=7)
    assert case.name == record["name"]
    assert np.array_equal(files.read(folder / record["file"]).blocks.q, case.problem().blocks.q)


@pytest.mark.slow
def test_the_index_and_the_page_name_every_file(exported):
    folder, index = exported
    told = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert told["problems"] == index["problems"]
    assert told["complete"]
    for record in index["problems"]:
        assert record["file"] in page
        assert (folder / record["file"]).is_file()


def test_kinds_come_in_their_shares_and_more_problems_begin_with_the_same(tmp_path):
    many = list(places(tmp_path, 10 * sum(KINDS.values()), 0))
    for kind, share in KINDS.items():
        own = [p.index for p in many if p.kind == kind]
        assert own == list(range(10 * share))
    assert list(places(tmp_path, 7, 0)) == many[:7]


@pytest.mark.slow
def test_what_is_right_is_kept_and_what_is_not_is_made_again(exported, monkeypatch):
    folder, index = exported
    times = {r["file"]: (folder / r["file"]).stat().st_mtime_ns for r in index["problems"]}
    first, second, third = (folder / r["file"] for r in index["problems"][:3])
    # broken, missing, and a solution that is no solution under a digest that fits
    first.write_bytes(b"not hdf5")
    second.unlink()
    with h5py.File(third, "a") as file:
        file["solution/r"][...] += 1.0
    record = json.loads(third.with_suffix(".json").read_text(encoding="utf-8"))
    record["sha256"] = family_export.digest(third)
    third.with_suffix(".json").write_text(json.dumps(record), encoding="utf-8")
    again = export(folder, COUNT, seed=7)
    assert again["reused"] == COUNT - 3
    for r in again["problems"]:
        same = (folder / r["file"]).stat().st_mtime_ns == times[r["file"]]
        assert same == (folder / r["file"] not in (first, second, third))
        assert certificate_of(folder / r["file"]).relative <= 1e-8
    monkeypatch.setattr(family_export, "make", lambda place: pytest.fail(f"{place.name} was made"))
    assert export(folder, COUNT, seed=7)["reused"] == COUNT


@pytest.mark.slow
def test_the_hardest_stay_and_a_rerun_knows_the_others(tmp_path, monkeypatch):
    folder = tmp_path / "hard"
    all_of_them = export(folder, 4)["problems"]
    found = export(folder, 4, hardest=2)
    left = sorted(map(hardness, all_of_them), reverse=True)[:2]
    assert sorted(map(hardness, found["problems"]), reverse=True) == left
    assert sorted(p.name for p in folder.glob("*.hdf5")) == sorted(
        r["file"] for r in found["problems"]
    )
    assert len(found["left_out"]) == 2
    monkeypatch.setattr(family_export, "make", lambda place: pytest.fail(f"{place.name} was made"))
    assert export(folder, 4, hardest=2)["problems"] == found["problems"]
    monkeypatch.undo()
    more = export(folder, 4, hardest=3)
    assert len(list(folder.glob("*.hdf5"))) == len(more["problems"]) == 3
    for record in more["problems"]:
        assert record["sha256"] == family_export.digest(folder / record["file"])


def test_an_export_that_is_stopped_keeps_what_it_has_and_goes_on(tmp_path):
    folder = tmp_path / "part"
    found = export(folder, 4, look=lambda done, name: done == 2)
    assert found["interrupted"]
    assert len(found["problems"]) == 2
    assert "interrupted" in (folder / "README.md").read_text(encoding="utf-8")
    again = export(folder, 4)
    assert (again["reused"], len(again["problems"]), again["complete"]) == (2, 4, True)


@pytest.mark.slow
def test_folders_and_numbers_that_cannot_be_are_refused(tmp_path, exported):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "README.md").write_text("my own", encoding="utf-8")
    for folder, options, words in (
        (mine, {}, "there are files, and no index.json of such problems"),
        (mine / "README.md", {}, "it is a file; expected a folder"),
        (tmp_path / "a" / "b", {}, "there is no folder"),
        (exported[0], {"seed": 8}, "holds problems of seed 7, and --seed is 8"),
        (tmp_path / "n", {"count": 0}, "--count is 0"),
        (tmp_path / "n", {"count": 3, "hardest": 4}, "--hardest is 4, of 3 problems"),
        (tmp_path / "n", {"seed": -1}, "--seed is -1"),
    ):
        with pytest.raises(TabiError, match=words):
            export(folder, **options)
    assert (mine / "README.md").read_text(encoding="utf-8") == "my own"
    (mine / "index.json").write_text('{"format": "tabi family", "seed": 0, "problems": [1]}')
    with pytest.raises(TabiError, match=r"no index.json of such problems"):
        export(mine)
