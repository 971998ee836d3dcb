"""The bush of a robot that is tilted and let go: told from records of it as it was built, from
tables of closed forms as they were written.
"""

from dataclasses import replace

import numpy as np
import pytest

import tabi
from tabi import scenes
from tabi.identification import tilt_identification as tilt
from tabi.identification.damped_oscillation import IdentificationError
from tabi.identification.tilt_identification import GRAVITY, Pendulum, TiltRecord

K, C = 5000.0, 50.0


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """HRP-2 on its rubber, with joints that do not give way and with its servos."""
    found = {}
    for name, settings in (("rigid", ["robots.0.rigid_joints=true"]), ("servos", [])):
        path = tmp_path_factory.mktemp("tilt") / f"{name}.hdf5"
        scene = scenes.load("tilt-and-release", settings)
        sim = scene.simulator()
        with sim.record(path):
            sim.run(scene.duration)
        assert sim.missed_count == 0
        found[name] = tabi.Recording.load(path)
    return found


def noisy(run, seed: int, torque: float = 0.5):
    """White noise on the torques of the feet [N·m]."""
    rng = np.random.default_rng(seed)
    wrench = run.feet["wrench"].copy()
    wrench[:, :, 3:] += torque * rng.standard_normal(wrench[:, :, 3:].shape)
    return replace(run, feet=run.feet | {"wrench": wrench})


# ---- recordings -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("joints", ["rigid", "servos"])
@pytest.mark.parametrize("signal", ["torque", "pitch"])
def test_bush_of_a_recording_is_the_one_it_was_built_with(records, joints, signal):
    """The linear system leaves out squares of half a degree, and what has not settled: a
    thousandth of K and a hundredth of C, far within 2 % and 10 %.
    """
    found = tilt.identify(records[joints], signal)
    assert found.stiffness == pytest.approx(K, rel=1e-3)
    assert found.damping == pytest.approx(C, rel=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize(("joints", "seeds"), [("rigid", 3), ("servos", 5)])
def test_noise_of_a_sensor_moves_it_by_less_than_2_and_10_percent(records, joints, seeds):
    """0.5 N·m on each foot. The intervals are of 95 %: of 8 records one may miss."""
    inside = []
    for seed in range(seeds):
        found = tilt.identify(noisy(records[joints], seed))
        assert found.stiffness == pytest.approx(K, rel=0.02)
        assert found.damping == pytest.approx(C, rel=0.10)
        for truth, (low, high) in (
            (K, found.stiffness_interval),
            (C, found.damping_interval),
        ):
            inside.append(low < truth < high)
    assert sum(inside) >= len(inside) - 2


@pytest.mark.slow
def test_rigid_record_obeys_the_pendulum_of_the_paper(records):
    """n K = I ω² + m g h and n C = 2 ζ ω I − h n K, to first order in ζ² and ω h."""
    run = records["rigid"]
    found = tilt.identify(run)
    omega, ratio = found.frequency, found.damping_ratio
    stiffness = (found.inertia * omega**2 + found.tilting) / 2
    assert stiffness == pytest.approx(K, rel=max(ratio**2, omega * run.dt))
    damping = found.inertia * ratio * omega - run.dt * K
    assert damping == pytest.approx(C, rel=2 * omega * run.dt)
    # gravity is far from small: without it K would be off by m g h/(2 K)
    assert found.tilting / (2 * K) > 0.03


@pytest.mark.slow
def test_recording_by_hand_is_the_recording_by_its_model(records):
    """With joints that do not give way the model is the pendulum of three numbers; the slides
    give way a little.
    """
    run = records["rigid"]
    whole = tilt.identify(run)
    hand = Pendulum(whole.inertia, whole.tilting / GRAVITY / 0.7, 0.7, foot_count=2, step=run.dt)
    found = tilt.identify_table(tilt.recorded(run, "torque", 0, "x"), hand)
    assert found.stiffness == pytest.approx(whole.stiffness, rel=1e-3)
    assert found.damping == pytest.approx(whole.damping, rel=1e-2)


@pytest.mark.slow
def test_fit_begins_where_it_is_told(records):
    found = tilt.identify(records["rigid"], start=0.4, end=2.0)
    assert found.oscillation.start == pytest.approx(0.4, abs=1e-9)
    assert found.record.time[-1] == pytest.approx(2.0, abs=1e-9)
    assert found.stiffness == pytest.approx(K, rel=1e-3)


@pytest.mark.slow
def test_recordings_that_do_not_tell_say_why(records):
    run = records["rigid"]
    with pytest.raises(tabi.ModelError, match="signal 'force' not found in a record"):
        tilt.identify(run, "force")
    with pytest.raises(tabi.ModelError, match="robot 'hrp3' not found in the recording"):
        tilt.identify(run, robot="hrp3")
    with pytest.raises(IdentificationError, match="expected at least one: record longer"):
        tilt.identify(run, start=0.0, end=0.25)
    wrench = run.feet["wrench"].copy()
    wrench[500, 0, 4] = np.nan
    broken = replace(run, feet=run.feet | {"wrench": wrench})
    with pytest.raises(IdentificationError, match="my record has no number in sample"):
        tilt.identify(broken, name="my record")
    none = replace(run.world, feet=replace(run.world.feet, robot=np.zeros(0, np.int64)))
    with pytest.raises(IdentificationError, match="the recording has no robot with feet"):
        tilt.identify(replace(run, world=none))
    two = replace(
        run.world,
        robot_names=["hrp2", "other"],
        feet=replace(run.world.feet, robot=np.array([0, 1])),
    )
    with pytest.raises(IdentificationError, match="several robots with feet, hrp2, other; name"):
        tilt.identify(replace(run, world=two))


# ---- tables -----------------------------------------------------------------------------------


def pendulum_record(told: Pendulum, stiffness=K, damping=C, time=2.0) -> TiltRecord:
    """Torque of one foot of a pendulum on bushes, with servos in series:
    I s² + n/(1/(K + C s) + 1/(k_p + k_d s)) = m g h, the root that oscillates.
    """
    bush = np.poly1d([damping, stiffness])
    swing = np.poly1d([told.inertia, 0.0, -told.mass * GRAVITY * told.height])
    if told.servo_stiffness is None:
        equation = swing + told.foot_count * bush
    else:
        servo = np.poly1d([told.servo_damping, told.servo_stiffness])
        equation = swing * (bush + servo) + told.foot_count * bush * servo
    s = max(equation.roots, key=lambda root: root.imag)
    t = np.linspace(0.0, time, 1500)
    return TiltRecord(t, 3.0 + 40.0 * np.exp(s * t).real, "torque", "table")


@pytest.mark.slow
@pytest.mark.parametrize("servo", [{}, {"servo_stiffness": 4840.0, "servo_damping": 500.0}])
@pytest.mark.parametrize("feet", [1, 2])
def test_closed_form_is_told_exactly(servo, feet):
    told = Pendulum(35.0, 55.0, 0.72, feet, **servo)
    found = tilt.identify_table(pendulum_record(told), told)
    assert found.stiffness == pytest.approx(K, rel=1e-6)
    assert found.damping == pytest.approx(C, rel=1e-5)
    assert found.tilting == pytest.approx(55.0 * 9.81 * 0.72, rel=1e-12)


@pytest.mark.slow
def test_servos_left_out_make_the_bush_softer():
    """In series, K would seem to be K k_p/(K + k_p) or so, far from K."""
    told = Pendulum(35.0, 55.0, 0.72, servo_stiffness=4840.0, servo_damping=50.0)
    found = tilt.identify_table(pendulum_record(told), replace(told, servo_stiffness=None))
    assert found.stiffness == pytest.approx(K * 4840 / (K + 4840), rel=0.05)


def test_table_is_read_by_the_names_of_its_columns(tmp_path):
    told = Pendulum(35.0, 55.0, 0.72)
    record = pendulum_record(told)
    path = tmp_path / "tilt.csv"
    lines = ["pitch_rad, time_s ,torque_nm,note"]
    lines += [
        f"0.5,{t!r},{y!r},x"
        for t, y in zip(record.time.tolist(), record.values.tolist(), strict=True)
    ]
    path.write_text("\n".join([*lines, ""]))
    read = tilt.read_table(path)
    assert read.signal == "torque"
    assert np.array_equal(read.values, record.values)
    assert np.array_equal(read.time, record.time)
    assert (tilt.read_table(path, "pitch").values == 0.5).all()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "t,torque\n0,1\n",
            "its columns are t, torque; expected time_s and torque_nm or pitch_rad",
        ),
        ("", "its columns are none; expected time_s and torque_nm or pitch_rad"),
        (
            "time_s,torque_nm\n0.0,1\n0.1,x\n",
            "line 3: '0.1,x' has no number in time_s or torque_nm",
        ),
        ("time_s,torque_nm\n0.0\n", "line 2: '0.0' has no number in time_s or torque_nm"),
    ],
)
def test_tables_that_are_none_are_refused_with_their_line(tmp_path, text, sentence):
    path = tmp_path / "tilt.csv"
    path.write_text(text)
    with pytest.raises(IdentificationError) as fault:
        tilt.read_table(path)
    assert sentence in str(fault.value)
    assert str(path) in str(fault.value)


def test_files_that_cannot_be_read_and_other_columns_are_refused(tmp_path):
    with pytest.raises(IdentificationError, match="it cannot be read: No such file"):
        tilt.read_table(tmp_path / "none.csv")
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(IdentificationError, match="it cannot be read: it is no text"):
        tilt.read_table(tmp_path / "b.csv")
    (tmp_path / "t.csv").write_text("time_s,torque_nm\n0,1\n")
    with pytest.raises(IdentificationError, match="expected time_s and pitch_rad"):
        tilt.read_table(tmp_path / "t.csv", "pitch")
    with pytest.raises(tabi.ModelError, match="signal 'force' not found in a record"):
        tilt.read_table(tmp_path / "t.csv", "force")


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"inertia": 0.0}, "inertia above the bush is 0.0; expected a positive number in kg·m²"),
        ({"mass": np.nan}, "mass above the bush is nan; expected a positive number in kg"),
        ({"height": -1.0}, "height above the bush is -1.0; expected a positive number in m"),
        ({"servo_stiffness": 0.0}, "servo stiffness is 0.0; expected a positive number in N·m/rad"),
        ({"servo_damping": -1.0}, "servo damping is -1.0 and the step 0.0; expected numbers ≥ 0"),
    ],
)
def test_pendulums_that_cannot_be_are_refused(told, sentence):
    with pytest.raises(IdentificationError, match=sentence):
        Pendulum(**{"inertia": 35.0, "mass": 55.0, "height": 0.7} | told)


def test_servo_that_is_softer_than_what_was_seen_is_refused():
    told = Pendulum(35.0, 55.0, 0.72)
    soft = replace(told, servo_stiffness=1000.0)
    with pytest.raises(IdentificationError, match=r"gives a stiffness of -.* expected a positive"):
        tilt.identify_table(pendulum_record(told), soft)
