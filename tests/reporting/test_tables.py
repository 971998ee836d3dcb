"""Tables and MCAP, read back by the readers that others use."""

import csv
import json
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest

from tabi.recording.recorded import STATUS, RecordingError
from tabi.reporting import mcap_file, tables
from tabi.reporting.frames import HUMANOID_ARROW_SCALE, foot_events, frames, rows


def test_csv_has_every_number_to_the_last_digit(run, tmp_path):
    written = tables.write_csv(run, tmp_path / "run.csv", rows(run))
    assert [path.name for path in written] == [
        "run.csv",
        "run.contacts.csv",
        "run.feet.csv",
    ]
    with written[0].open(newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(run.time)
    assert [float(row["time_s"]) for row in table] == run.time.tolist()
    knee = run.world.dof["q"][run.world.joint_of.index("RLEG_KNEE_P")]
    assert [float(row["q_RLEG_KNEE_P"]) for row in table] == run.q[:, knee].tolist()
    assert [float(row["q_hrp2_z"]) for row in table] == run.q[:, 2].tolist()
    assert [float(row["v_crate_wz"]) for row in table] == run.v[:, -1].tolist()
    assert [float(row["foot_left_force_z_n"]) for row in table] == run.feet["wrench"][
        :, run.world.feet.names.index("left"), 2
    ].tolist()
    # without a load there is no pressure
    assert table[0]["foot_left_cop_x_m"] == ""
    with written[1].open(newline="") as file:
        points = list(csv.DictReader(file))
    assert len(points) == run.contact_count.sum()
    assert [float(row["force_z_n"]) for row in points] == run.contacts["force"][:, 2].tolist()
    assert {row["status"] for row in points} <= set(STATUS)
    assert {row["body_a"] for row in points} | {row["body_b"] for row in points} == {
        "left_foot",
        "right_foot",
        "crate",
        "world",
    }


def test_csv_tells_states_of_feet_and_every_change(run, tmp_path):
    written = tables.write_csv(run, tmp_path / "run.csv", rows(run, 50))
    with written[0].open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["foot_left_state"] for row in table[:2]] == ["none", "face, stick"]
    assert [row["foot_left_signal"] for row in table[:2]] == ["0", "1"]
    assert table[0]["foot_left_margin_m"] == ""
    left = run.world.feet.names.index("left")
    assert [float(row["foot_left_margin_m"]) for row in table[1:]] == run.feet["margin"][
        rows(run, 50)[1:], left
    ].tolist()
    with written[2].open(newline="") as file:
        changes = list(csv.DictReader(file))
    assert [
        (float(row["time_s"]), row["foot"], row["before"], row["after"]) for row in changes
    ] == [(event.time, event.foot, event.before, event.after) for event in run.foot_events]
    assert (changes[0]["before"], changes[0]["after"]) == ("none", "face, stick")


def test_changes_outside_of_the_rows_chosen_are_left_out(run):
    assert len(foot_events(run, rows(run))) == len(run.foot_events) > 2
    # both feet come down in the first step
    assert len(foot_events(run, rows(run, end=0.05))) == 2
    assert len(foot_events(run, rows(run, start=0.05))) == len(run.foot_events) - 2


def test_world_without_feet_has_no_table_of_them(run, tmp_path):
    feet = replace(run.world.feet, names=[])
    written = tables.write_csv(
        replace(run, world=replace(run.world, feet=feet)), tmp_path / "run.csv", rows(run, 10)
    )
    assert [path.name for path in written] == ["run.csv", "run.contacts.csv"]


def test_parquet_is_read_back_by_pyarrow(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="package pyarrow is not installed")
    selected = rows(run, 100)
    written = tables.write_parquet(run, tmp_path / "run.parquet", selected)
    table = parquet.read_table(written[0])
    assert table.column("time_s").to_pylist() == run.time[selected].tolist()
    assert table.column("kinetic_energy_j").to_pylist() == run.energy["kinetic"][selected].tolist()
    assert np.isnan(table.column("hrp2_zmp_x_m")[0].as_py())
    about = json.loads(table.schema.metadata[b"tabi"])
    assert about["seed"] == 3
    assert about["scene"] == "a: 1\n"
    points = parquet.read_table(written[1])
    assert points.num_rows == run.contact_count[selected].sum()
    assert parquet.read_table(written[2]).column("foot").to_pylist() == [
        event.foot for event in run.foot_events
    ]


@pytest.mark.slow
def test_mcap_is_read_back_by_its_reader(run, tmp_path):
    reader = pytest.importorskip("mcap.reader", reason="package mcap is not installed")
    selected = rows(run, 50)
    (path,) = mcap_file.write(run, tmp_path / "run.mcap", selected)
    found, messages = frames(run, selected), {}
    with path.open("rb") as stream:
        opened = reader.make_reader(stream)
        for schema, channel, message in opened.iter_messages():
            assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
            assert schema.name == mcap_file.TOPICS[channel.topic]
            json.loads(schema.data)
            messages.setdefault(channel.topic, []).append(
                (message.log_time, json.loads(message.data))
            )
        about = {record.name: record.metadata for record in opened.iter_metadata()}
    assert set(messages) == set(mcap_file.TOPICS)
    assert json.loads(about["tabi"]["meta"])["seed"] == 3
    assert len(messages["/scene"]) == 1
    assert [at for at, _ in messages["/tf"]] == [round(1e9 * t) for t in found.time]
    for k in (0, len(selected) - 1):
        last = messages["/tf"][k][1]["transforms"][0]
        assert [last["translation"][axis] for axis in "xyz"] == found.position[k, 1].tolist()
        assert [last["rotation"][part] for part in "wxyz"] == found.quaternion[k, 1].tolist()
    arrows = messages["/forces"][-1][1]["entities"][0]["arrows"]
    assert len(arrows) == found.arrow_count[-1]
    assert messages["/feet"][0][1]["left"]["cop"] == [None, None]
    foot = messages["/feet"][1][1]["left"]
    assert (foot["state"], foot["signal"]) == ("face, stick", 1)
    assert foot["margin"] == run.feet["margin"][selected[1], run.world.feet.names.index("left")]
    assert [message for _, message in messages["/foot_events"]] == [
        asdict(event) for event in run.foot_events
    ]
    assert messages["/foot_events"][0][0] == 1_000_000
    assert messages["/energy"][-1][1]["kinetic"] == run.energy["kinetic"][selected[-1]]


def test_arrows_of_mcap_point_along_their_forces(run):
    found = frames(run, np.array([len(run.time) - 1]))
    entity = mcap_file._arrows(found, 0, 0.0)
    # four corners of each sole and of the crate
    assert len(entity["arrows"]) == 3 * 4
    for arrow, force in zip(entity["arrows"], found.arrows(0)[1], strict=True):
        w, x, y, z = (arrow["pose"]["orientation"][part] for part in "wxyz")
        # where x goes under the quaternion
        along = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
        assert along == pytest.approx(force / np.linalg.norm(force), abs=1e-9)
        assert arrow["shaft_length"] + arrow["head_length"] == pytest.approx(
            HUMANOID_ARROW_SCALE * np.linalg.norm(force)
        )


@pytest.mark.parametrize(
    ("package", "write"), [("pyarrow", tables.write_parquet), ("mcap.writer", mcap_file.write)]
)
def test_missing_package_is_named_with_how_to_install_it(
    run, tmp_path, monkeypatch, package, write
):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        RecordingError,
        match=(
            rf"needs the package {package.split('.')[0]}; "
            r"install it with: pip install 'tabi\[export\]'"
        ),
    ):
        write(run, tmp_path / "out", rows(run))
