"""The referee: laws that both engines have to obey, what they are told, and what is refused."""

import importlib.util
import json

import numpy as np
import pytest

pytest.importorskip("mujoco")

import tabi
from tabi import scenes
from tabi._errors import ModelError, TabiError
from tabi.lab import referee
from tabi.lab.referee import figures
from tabi.lab.referee.engines import BreakdownError, MuJoCo, Targets
from tabi.lab.referee.track import Row, Track, watched
from tabi.model.mujoco_state import tabi_state
from tabi.scenes.builder import Builder

G = 9.81
# s: MuJoCo's contacts carry a load after about this time, the first number of its solref
SOFT = 0.02
# a squat a second, of which no joint reaches its top speed
SLOW = ("robots.0.motion.frequency_hz=1", "robots.0.motion.depth_deg=12")
BALL = (
    "{shape: sphere, name: ball, radius_m: 0.1, mass_kg: 1, position_m: [0, 0, 3], "
    "velocity_m_s: [2, 0, 1]}"
)
pinocchio = pytest.mark.skipif(
    importlib.util.find_spec("pinocchio") is None, reason="Pinocchio is not installed"
)


def scene(text, *settings):
    return scenes.loads(f"title: t\n{text}", "mine.yaml", settings)


def place(found, engine, body):
    return found.columns[engine]["position"][:, found.watched.names.index(body)]


# ---- laws ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_cubes_slide_v2_over_2_mu_g_in_both():
    found = referee.measure(scenes.load("slide"))
    for name, mu in (("slippery", 0.2), ("middling", 0.4), ("rough", 0.8)):
        way = 2.0**2 / (2 * mu * G)
        # tabi: a step of 1 ms more or less of the first speed
        assert place(found, "tabi", name)[-1, 0] == pytest.approx(way, abs=2e-3)
        # MuJoCo: until its contacts carry the cube there is less friction
        assert place(found, "MuJoCo", name)[-1, 0] == pytest.approx(way, abs=0.5 * 2.0 * SOFT)
    assert found.result["engines"]["MuJoCo"]["penetration_mm"]["largest"] > 0.01
    assert found.result["engines"]["tabi"]["penetration_mm"]["largest"] < 1e-3
    for engine in found.result["engines"].values():
        # three cubes of 2 kg at rest on soft ground settle with e^(−t / SOFT)
        assert engine["ground_force_n"]["mean"] == pytest.approx(6 * G, rel=2e-3)


def test_a_ball_flies_the_same_in_both_and_as_newton_says():
    found = referee.measure(scene(f"duration_s: 0.5\nground: {{}}\nobjects: [{BALL}]"))
    t = found.time
    exact = np.stack([2 * t, 0 * t, 3 + t - 0.5 * G * t * t], axis=1)
    # tabi takes the mean of the velocities of what flies, which is exact for a parabola
    np.testing.assert_allclose(place(found, "tabi", "ball"), exact, atol=1e-9)
    # MuJoCo takes the last one, and is ½ g h t too low
    late = exact - np.stack([0 * t, 0 * t, 0.5 * G * 1e-3 * t], axis=1)
    np.testing.assert_allclose(place(found, "MuJoCo", "ball"), late, atol=1e-9)
    assert found.result["differences"]["bodies"]["ball"]["end_mm"] == pytest.approx(
        0.5 * G * 0.5, rel=1e-6
    )
    assert found.result["verdict"].startswith(
        "They agree to 2.45 mm for 0.5 s (ball, at 0.5 s). In tabi energy goes from"
    )


def test_a_push_beside_the_centre_turns_and_moves_a_box_by_its_impulse_in_both():
    text = """duration_s: 0.2
gravity_m_s2: [0, 0, 0]
objects: [{shape: box, name: box, size_m: [0.2, 0.2, 0.2], mass_kg: 2}]
pushes: [{body: box, at_s: 0.05, duration_s: 0.0205, force_n: [0, 3, 0], point_m: [0.001, 0, 0]}]"""
    told = scene(text)
    found = referee.measure(told)
    impulse = 3 * 0.0205
    for engine in found.columns:
        y = place(found, engine, "box")[:, 1]
        assert y[50] == 0
        assert (y[-1] - y[-2]) / 1e-3 == pytest.approx(impulse / 2, rel=1e-9)
    other = MuJoCo(told)
    for _ in range(200):
        other.step()
    # m a² / 6 about any axis
    assert other.row().v[5] == pytest.approx(0.001 * impulse / (2 * 0.2**2 / 6), rel=1e-5)
    assert found.result["differences"]["bodies"]["box"]["largest_mm"] < 1e-6


@pytest.fixture(scope="module")
def standing():
    return referee.measure(scenes.load("standing", ["duration_s=1.5"]))


@pytest.mark.slow
def test_a_standing_robot_is_carried_by_both(standing):
    weight = standing.result["weight_n"]
    for engine in standing.result["engines"].values():
        # the motors give way for a moment, and then nothing moves:
        # what is left of that after half a second is below a part in a thousand
        assert engine["ground_force_n"]["mean"] == pytest.approx(weight, rel=1e-3)
        assert engine["feet"]["left"]["load_n"] == pytest.approx(0.5 * weight, rel=1e-3)
        assert engine["fallen_at_s"] == {}
    assert weight == pytest.approx(tabi.robots.hrp2().mass * G, rel=1e-12)


@pytest.mark.slow
def test_feet_of_soft_contacts_sink_and_creep_and_those_of_hard_ones_do_not(standing):
    ours, theirs = standing.result["engines"].values()
    # soft contacts carry nothing without an overlap;
    # HRP-2's eight points stay within the width of solimp
    assert 0.01 < theirs["penetration_mm"]["largest"] < 1.0
    # as much as the tolerance allows in a run: 1e-8 m/s
    assert ours["penetration_mm"]["largest"] < 1e3 * 1e-8 * 1.5
    assert ours["feet"]["left"]["creep_mm_s"] < 1e-3 < theirs["feet"]["left"]["creep_mm_s"]
    # and so the soft robot is lower by what it sinks, about
    assert standing.result["differences"]["bodies"]["hrp2"]["end_mm"] == pytest.approx(
        theirs["penetration_mm"]["mean"], rel=0.3
    )


@pytest.mark.slow
def test_forces_of_a_squat_are_the_weight_over_a_period_in_both():
    found = referee.measure(scenes.load("squat", ["duration_s=1.5", *SLOW]))
    period = (found.time > 0.5) & (found.time <= 1.5)
    for track in found.columns.values():
        # after a period the centre of mass is as fast as before:
        # m (v − v₀) over a second, with less than 1 mm/s of difference
        assert track["ground"][period, 2].mean() == pytest.approx(
            found.result["weight_n"], abs=58 * 1e-3 / 1.0
        )
        bend = track["position"][:, 0, 2]
        assert bend.max() - bend.min() > 0.05
    # what is commanded is the same, so soft contacts are all that is between them
    assert found.result["differences"]["bodies"]["hrp2"]["largest_mm"] < 5.0


ARM = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0 0 0"/><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="2"/></inertial></link>
<link name="tip"><inertial><mass value="1e-9"/>
<inertia ixx="1e-12" ixy="0" ixz="0" iyy="1e-12" iyz="0" izz="1e-12"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="4" velocity="100"/></joint>
<joint name="bolt" type="fixed"><parent link="rod"/><child link="tip"/>
<origin xyz="1 0 0"/></joint></robot>"""


def test_a_motor_at_its_limit_gives_no_more_in_either(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    text = f"""title: t
duration_s: 0.2
robots: [{{robot: {tmp_path / "arm.urdf"}, base: fixed, joints_deg: {{turn: 0}},
  gains: {{stiffness_nm_rad: 1000, damping_nms_rad: 1}},
  motion: {{kind: keyframes, frames: [{{at_s: 0, joints_deg: {{turn: 90}}}},
  {{at_s: 1, joints_deg: {{turn: 90}}}}]}}}}]
watch: [tip]"""
    found = referee.measure(scenes.loads(text))
    # 4 N·m on 2 kg·m²
    angle = 0.5 * (4 / 2) * 0.2**2
    assert list(found.columns) == ["tabi", "MuJoCo"]
    for engine in found.columns:
        x, y, _ = place(found, engine, "tip")[-1]
        # first order: a step of the last speed
        assert np.arctan2(y, x) == pytest.approx(angle, abs=1e-3 * 0.4)


def test_a_four_bar_linkage_keeps_its_energy_in_tabi():
    found = referee.measure(scenes.load("linkage", ["duration_s=1"]))
    # nothing there takes energy; MuJoCo's soft bonds do, at least they give none
    assert np.ptp(found.columns["tabi"]["energy"]) < 0.05
    assert found.columns["MuJoCo"]["energy"][-1] < found.columns["tabi"]["energy"][0]
    assert "in MuJoCo energy goes from 22.563 to" in found.result["verdict"]


@pytest.mark.slow
@pinocchio
@pytest.mark.parametrize(
    ("name", "settings"), [("standing", ()), ("push", ("pushes.0.at_s=0.1",)), ("squat", SLOW)]
)
def test_pinocchio_finds_the_same_forces_and_paths(name, settings):
    found = referee.measure(scenes.load(name, ["duration_s=0.5", *settings]), "pinocchio")
    apart = found.result["differences"]
    # the same scheme in other coordinates: of second order in a step for the base's turning,
    # so micrometres; forces by the tolerances of both solvers
    assert apart["bodies"]["hrp2"]["largest_mm"] < 1e-3
    assert apart["feet"]["left"]["force_largest_n"] < 0.05
    assert apart["feet"]["left"]["pressure_largest_mm"] < 0.05


# ---- what they are told -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["mujoco", pytest.param("pinocchio", marks=pinocchio)])
def test_a_controller_sees_what_its_own_engine_does(engine, monkeypatch):
    seen = []
    controller = Builder.controller

    def spying(self, robot, told, i):
        command = controller(self, robot, told, i)

        def spy(time, measurement):
            seen.append(
                (
                    time,
                    measurement,
                    {name: force.copy() for name, force in measurement.forces.items()},
                )
            )
            return command(time, measurement)

        return spy

    monkeypatch.setattr(Builder, "controller", spying)
    told = tabi.Simulator.set_controller
    monkeypatch.setattr(tabi.Simulator, "set_controller", lambda *args: told(*args, truth=True))
    made = referee.REFEREES[engine](scenes.load("standing"))
    for _ in range(300):
        made.step()
    time, measurement, forces = seen[-1]
    assert time == pytest.approx(0.299)
    assert set(forces) == {"left", "right"}
    # nothing accelerates any more, to a part in a hundred
    assert sum(force[2] for force in forces.values()) == pytest.approx(
        tabi.robots.hrp2().mass * G, rel=1e-2
    )
    base = measurement.base.p
    assert base[2] == pytest.approx(made.row().q[2], abs=1e-5)
    assert len(measurement.position) == len(tabi.robots.hrp2().joint_names)
    with pytest.raises(TabiError, match="foot 'third' not found"):
        measurement.forces["third"]
    if engine == "mujoco":
        assert measurement.sensors["imu"][3:] == pytest.approx([0.0, 0.0, G], abs=0.1)
        return
    with pytest.raises(TabiError, match="sensor 'imu' was read in a comparison"):
        measurement.sensors["imu"]


def test_states_of_mujoco_are_those_of_the_exact_map():
    made = MuJoCo(scenes.load("cart"))
    rng = np.random.default_rng(3)
    qpos, qvel = made.d.qpos + 0.3 * rng.normal(size=made.m.nq), rng.normal(size=made.m.nv)
    for j in np.flatnonzero(made.m.jnt_type == 0):
        at = made.m.jnt_qposadr[j] + 3
        qpos[at : at + 4] /= np.linalg.norm(qpos[at : at + 4])
    (q, v), (exact_q, exact_v) = (
        made.states(qpos, qvel),
        tabi_state(made.sim.model, made.m, qpos, qvel),
    )
    np.testing.assert_allclose(q, exact_q, atol=1e-12)
    np.testing.assert_allclose(v, exact_v, atol=1e-12)


@pytest.mark.parametrize(("a", "b", "sign"), [(1, 0, 1.0), (0, 1, -1.0)])
def test_the_ground_may_be_either_side_of_a_contact(a, b, sign):
    sim = scenes.load("slide").simulator()
    track = Track(watched(sim, {"slippery": "slippery"}))
    force, point = np.array([[1.0, 0.0, 5.0]]), np.zeros((1, 3))
    track.add(
        Row(
            sim.state.q,
            sim.state.v,
            np.array([a]),
            np.array([b]),
            point,
            sign * force,
            np.array([-0.002]),
        )
    )
    columns = track.columns()
    np.testing.assert_array_equal(columns["ground"], force)
    assert columns["penetration"][0] == pytest.approx(0.002)
    # three cubes of 2 kg at 2 m/s, their middles 0.1 m up
    assert columns["energy"][0] == pytest.approx(3 * (0.5 * 2 * 2.0**2 + 2 * G * 0.1))


@pytest.mark.slow
def test_settings_of_both_are_told(standing):
    ours, theirs = standing.result["engines"].values()
    assert ours["settings"] == {
        "step_s": 1e-3,
        "contact": "coulomb",
        "tolerance_m_s": 1e-8,
        "scheme": "time-stepping",
    }
    told = theirs["settings"]
    assert (told["step_s"], told["integrator"], told["cone"], told["solver"], told["impratio"]) == (
        1e-3,
        "implicitfast",
        "elliptic",
        "Newton",
        1.0,
    )
    # what MuJoCo's documentation gives as its own
    assert told["solref"] == [0.02, 1.0]
    assert told["solimp"] == [0.9, 0.95, 0.001, 0.5, 2.0]
    json.dumps(standing.result)


@pytest.mark.slow
def test_top_speeds_that_only_tabi_has_are_told_where_they_are_reached():
    found = referee.measure(scenes.load("fall", ["duration_s=0.4"]))
    assert any(
        "top speeds of joints are missing" in note
        for note in found.result["engines"]["MuJoCo"]["notes"]
    )
    assert found.result["engines"]["tabi"]["notes"] == []


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        (
            "bounce",
            (),
            (
                r"scene 'bounce' uses restitution, which is not carried over to MuJoCo; "
                r".* --set objects.1.restitution=0 --set objects.2"
            ),
        ),
        (
            "cradle",
            (),
            r"scene 'cradle' uses restitution, .*: --set materials.steel.restitution=0$",
        ),
        (
            "conveyor",
            (),
            (
                r"scene 'conveyor' uses a moving surface, .*: "
                r"--set fixed.0.surface_velocity_m_s=\[0,0,0\]$"
            ),
        ),
        (
            "slide",
            ("ground.rolling_friction_m=0.1",),
            (
                r"uses rolling friction, which is not carried over to MuJoCo; "
                r".* --set ground.rolling_friction_m=0$"
            ),
        ),
        (
            "slide",
            ("ground.static_friction=1.5",),
            r"uses static friction, .* --set ground.static_friction=null$",
        ),
        (
            "slide",
            ("simulation.contact=frictionless",),
            r"uses contact: frictionless, which MuJoCo does not know; .*contact=coulomb$",
        ),
    ],
)
def test_what_mujoco_has_not_is_refused_with_what_to_do(name, settings, sentence):
    told = scenes.load(name, settings)
    with pytest.raises(ModelError, match=sentence) as refused:
        referee.measure(told)
    # and what it says to do is enough, for all of it
    off = [
        word
        for word in str(refused.value).split()
        if "=" in word and not word.startswith("contact")
    ]
    assert list(referee.obstacles(scenes.load(name, [*settings, *off]), "MuJoCo")) == []


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        (
            "cart",
            (),
            (
                "scene 'cart' has objects; Pinocchio is compared on one robot on a level ground, "
                "compare it with mujoco"
            ),
        ),
        ("conveyor", (), "scene 'conveyor' has objects"),
        (
            "fall",
            (),
            "scene 'fall' lets its robot fall, and in Pinocchio nothing but its feet would touch",
        ),
        (
            "standing",
            ("robots.0.position_m=[0,0,1]", "ground.slope_deg=5"),
            "scene 'standing' is not one robot on a level ground",
        ),
    ],
)
@pinocchio
def test_what_pinocchio_is_not_compared_on_is_refused(name, settings, sentence):
    told = scenes.load(name, settings)
    with pytest.raises(ModelError, match=sentence):
        referee.measure(told, "pinocchio")


@pinocchio
def test_pinocchio_is_not_compared_on_a_robot_with_closed_loops(tmp_path):
    body = '<geom size="0.1"/><body name="b" pos="0 0 0.3"><joint type="ball"/><geom size="0.1"/>'
    held = '<connect body1="b" body2="world" anchor="0 0 0.3"/>'
    (tmp_path / "loop.xml").write_text(
        f"""<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/>{body}</body></body>
        </worldbody><equality>{held}</equality></mujoco>"""
    )
    scene = tmp_path / "loop.yaml"
    scene.write_text("title: a loop\nground: {}\nrobots:\n- robot: loop.xml\n")
    with pytest.raises(ModelError, match="loop has bonds that close loops"):
        referee.measure(scenes.load(scene), "pinocchio")


def test_a_referee_that_is_unknown_or_not_installed_is_named(monkeypatch):
    told = scenes.load("slide")
    with pytest.raises(ModelError, match="referee 'bullet' not found"):
        referee.measure(told, "bullet")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        ModelError, match=r'MuJoCo is not installed, .* pip install "tabi\[referee\]"'
    ):
        referee.measure(told)


# ---- ends before the end ------------------------------------------------------------------------


def test_a_state_that_is_no_number_is_a_breakdown(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    made = MuJoCo(scenes.load("slide"))
    made.step()
    made.d.qvel[0] = np.nan
    with pytest.raises(BreakdownError, match=r"MuJoCo broke down at 0.002 s: .*QVEL"):
        made.step()
    # and the state is what it came to, not the start again
    assert np.isnan(made.d.qvel[0])
    # it writes log files where nobody listens
    assert list(tmp_path.iterdir()) == []


def test_after_a_breakdown_there_is_what_was_before(monkeypatch):
    step = MuJoCo.step

    def broken(self):
        if self.steps == 70:
            self.d.qvel[:] = np.inf
        step(self)

    monkeypatch.setattr(MuJoCo, "step", broken)
    found = referee.measure(scenes.load("slide"))
    assert (found.result["steps"], found.result["interrupted"]) == (70, False)
    assert found.result["verdict"].startswith(
        "Not to be compared after 0.07 s: MuJoCo broke down at 0.071 s"
    )
    assert np.isfinite(found.columns["MuJoCo"]["position"]).all()


def test_who_looks_can_end_it():
    times = []
    found = referee.measure(
        scenes.load("slide"), look=lambda time: times.append(time) or time > 0.09
    )
    assert times == pytest.approx([0.05, 0.1])
    assert (found.result["interrupted"], found.result["steps"]) == (True, 100)


# ---- figures ------------------------------------------------------------------------------------


def test_flicker_is_what_a_low_pass_of_5_hz_leaves():
    t = 1e-3 * np.arange(4000)
    # far above the low-pass a sine has its RMS, far below next to nothing
    assert figures.flicker(100 + 3 * np.sin(2 * np.pi * 100 * t), 1e-3) == pytest.approx(
        3 / np.sqrt(2), rel=0.01
    )
    assert figures.flicker(100 + 3 * np.sin(2 * np.pi * 0.5 * t), 1e-3) < 0.02 * 3
    assert figures.flicker(t[:100], 1e-3) is None


def test_creep_is_that_of_the_longest_stand():
    t = 0.1 * np.arange(11)
    place = np.stack([0.002 * t, 0 * t, 5 * t], axis=1)
    assert figures.creep(place, np.ones(11, bool), t) == pytest.approx(2.0)
    place[:3, 0] = 7.0
    assert figures.creep(place, np.arange(11) > 3, t) == pytest.approx(2.0)
    assert figures.creep(place, np.zeros(11, bool), t) is None


@pytest.mark.slow
def test_a_fall_in_one_engine_only_is_a_disagreement(standing):
    result = json.loads(json.dumps(standing.result))
    result["engines"]["MuJoCo"]["fallen_at_s"] = {"hrp2": 1.25}
    assert figures.verdict(result).startswith(
        "They disagree: hrp2 falls in MuJoCo at 1.25 s, and stands in tabi. "
        "In tabi bodies overlap by"
    )


@pytest.mark.parametrize(
    ("mm", "words"),
    [(2500, "2.5 m"), (12, "12 mm"), (0.25, "250 µm"), (1e-5, "0.01 µm"), (0.0, "< 1e-4 µm")],
)
def test_lengths_have_units_that_suit(mm, words):
    assert figures.length(mm) == words


@pytest.mark.parametrize("engine", ["mujoco", pytest.param("pinocchio", marks=pinocchio)])
def test_targets_that_are_told_over_a_time_move_evenly(engine):
    made = referee.REFEREES[engine](scenes.load("standing"))
    sim, seen = made.sim, []

    def look_aside(time, measurement):
        goal = 0.1 if time < 0.02 else 0.3
        return tabi.Command(position={"HEAD_Y": goal}, over=0.02)

    sim.set_controller(sim.world.robots[0], look_aside, rate=50)
    for _ in range(40):
        made.step()
        seen.append(made.targets.position[sim.model.v_index("HEAD_Y")])
    even = np.concatenate([0.005 * np.arange(1, 21), 0.1 + 0.01 * np.arange(1, 21)])
    assert seen == pytest.approx(even, abs=1e-12)


def test_targets_on_their_way_are_where_tabis_own_steps_have_them():
    def told(time, measurement):
        if time < 0.0045:
            return tabi.Command({"HEAD_Y": 0.1, "HEAD_P": 0.2}, over=0.004)
        if time < 0.0095:
            return tabi.Command({"HEAD_Y": -0.1}, over=0.01)
        return tabi.Command({"HEAD_P": 0.05})

    sims = []
    for _ in range(2):
        world = tabi.World()
        robot = world.add_robot(tabi.robots.hrp2())
        sims.append(tabi.Simulator(world))
        sims[-1].set_controller(robot, told, rate=200)
    steps, stands = sims
    targets = Targets(stands)
    for k in range(14):
        stands.ask_controllers(k)
        targets.move(k)
        steps.step()
        assert targets.position == pytest.approx(steps.data.command.motor["position"])
