"""The world that a file describes is the one that code would make;
what only the world knows is still the file's fault.
"""

from math import radians, sin

import numpy as np
import pytest

import tabi
from tabi import scenes
from tabi.model.shape import Ellipsoid
from tabi.scenes import SceneError, builder
from tabi.step import budget

URDF = """<robot name="leg">
<link name="thigh"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="paw"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
<collision><geometry><box size="0.2 0.1 0.02"/></geometry></collision></link>
<joint name="lift" type="prismatic"><parent link="thigh"/><child link="paw"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
</robot>"""


def world(text: str, *settings: str) -> tabi.World:
    return scenes.loads("title: t\n" + text, "my.yaml", settings).world()


def test_a_robot_stands_where_it_is_told_and_looks_there():
    made = world(
        "ground: {height_m: 0.2}\nrobots:\n"
        "  - {robot: hrp2, name: left, position_m: [1, 2], yaw_deg: 90, drop_m: 0.5}\n"
    )
    robot = made.robot("left")
    plain = tabi.World()
    other = plain.add_robot(tabi.robots.hrp2())
    other.stand_on_ground()
    q, q0 = robot.base.joint.position, other.base.joint.position
    assert q[:3] == pytest.approx([1.0, 2.0, q0[2] + 0.7], abs=1e-12)
    # a quarter turn about z takes x to y
    ahead = robot.placements()[robot.base].R[:, 0]
    assert ahead == pytest.approx([0.0, 1.0, 0.0], abs=1e-12)


def test_joints_differ_from_the_pose_where_told():
    robot = world(
        "ground: {}\nrobots:\n  - {robot: hrp2, joints_deg: {RARM_ELBOW_P: -45}}\n"
    ).robots[0]
    assert robot.joint("RARM_ELBOW_P").position == pytest.approx([radians(-45)])
    assert robot.joint("RLEG_KNEE_P").position == pytest.approx([robot.half_sitting["RLEG_KNEE_P"]])
    zero = world("ground: {}\nrobots:\n  - {robot: hrp2, pose: zero}\n").robots[0]
    assert zero.joint("RLEG_KNEE_P").position == pytest.approx([0.0])


def test_a_bush_is_what_the_file_says_and_the_rest_is_hrp2s():
    told = "{stiffness_nm_rad: 5000, vertical_damping_ns_m: 40, mass_below_kg: 0.5}"
    robot = world(f"ground: {{}}\nrobots:\n  - {{robot: hrp2, bush: {told}}}\n").robots[0]
    for axis, stiffness, damping in (("roll", 5e3, 5.0), ("pitch", 5e3, 5.0), ("z", 1e5, 40.0)):
        joint = robot.joint(f"left_bush_{axis}")
        assert (joint.stiffness, joint.damping) == (stiffness, damping)
    assert robot.body("left_sole").inertia.mass == pytest.approx(0.5, rel=1e-12)
    assert world("ground: {}\nrobots:\n  - robot: hrp2\n").robots[0].bush is None


@pytest.mark.slow
def test_rigid_joints_stay_to_the_bit_and_the_rubber_gives_way():
    text = "ground: {}\nrobots:\n  - {robot: hrp2, bush: {}, rigid_joints: true}\n"
    sim = scenes.loads(f"title: t\n{text}").simulator()
    sim.run(0.1)
    robot = sim.world.robots[0]
    for name in robot.joint_names:
        assert sim.state.q[sim.model.q_index(name)] == robot.joint(name).position[0]
    assert sim.state.q[sim.model.q_index("left_bush_z")] > 1e-4
    with pytest.raises(
        SceneError, match="rigid_joints is specified, but hrp2 is limp: its joints have no commands"
    ):
        world(f"{text[:-2]}, motion: {{kind: limp}}}}\n")


def test_a_pose_may_tilt_the_robot_on_its_rubber_and_motors_hold_the_rest():
    text = (
        "ground: {}\nrobots:\n  - {robot: hrp2, bush: {}, "
        "joints_deg: {left_bush_pitch: 1, right_bush_pitch: 1}}\n"
    )
    scene = scenes.loads(f"title: t\n{text}")
    robot = scene.world().robots[0]
    X = robot.placements()
    # soles lie flat, so the trunk is turned the other way
    assert X[robot.body("left_sole")].R[2, 2] == pytest.approx(1.0, abs=1e-12)
    assert X[robot.base].R[2, 0] == pytest.approx(sin(radians(1)), abs=1e-12)
    sim = scene.simulator()
    sim.run(0.01)
    assert sim.missed_count == 0


@pytest.mark.parametrize(
    ("robot", "sentence"),
    [
        ("robot: hrp2, bush: {stiffness_nm_rad: 0}", "stiffness_nm_rad"),
        ("robot: hrp2, bush: {damping_nms_rad: -1}", "damping_nms_rad"),
        ("robot: hrp2, bush: {stiffness: 5000}", "stiffness"),
        (
            "robot: hrp2, bush: {mass_below_kg: 50}",
            "robots.hrp2.bush.mass_below_kg is 50.0 kg; expected a",
        ),
        ("robot: leg.urdf, position_m: [0, 0, 1], bush: {}", "robot 'leg' has no feet, and a bush"),
        (
            "robot: hrp2, bush: {}, motion: {kind: keyframes, frames: [{at_s: 0}, "
            "{at_s: 1, joints_deg: {left_bush_pitch: 1}}]}",
            "joint 'left_bush_pitch' is passive: nothing drives it; leave it out",
        ),
    ],
)
def test_a_bush_that_cannot_be_is_refused_with_its_place(tmp_path, robot, sentence):
    (tmp_path / "leg.urdf").write_text(URDF)
    path = tmp_path / "my.yaml"
    path.write_text(f"title: t\nground: {{}}\nrobots:\n  - {{{robot}}}\n")
    with pytest.raises(SceneError) as fault:
        scenes.load(path).simulator()
    assert sentence in str(fault.value)
    assert "line 4" in str(fault.value)


def test_a_robot_file_is_found_from_the_folder_of_the_scene(tmp_path):
    (tmp_path / "leg.urdf").write_text(URDF)
    path = tmp_path / "my.yaml"
    gains = "{stiffness_nm_rad: 500, damping_nms_rad: 20}"
    told = (
        f"{{robot: leg.urdf, feet: {{left: paw}}, position_m: [0, 0, 1], joints_m: {{lift: 0.1}}, "
        f"gains: {gains}}}"
    )
    path.write_text(f"title: t\nwatch: [leg]\nrobots:\n  - {told}\n")
    robot = scenes.load(path).world().robots[0]
    assert list(robot.feet) == ["left"]
    assert robot.joint("lift").position == pytest.approx([0.1])
    assert (robot.joint("lift").motor.kp, robot.joint("lift").motor.kd) == (500.0, 20.0)
    sim = scenes.load(path).simulator()
    assert sim.position("thigh") == pytest.approx([0.0, 0.0, 1.0])
    assert scenes.loads(scenes.load(path).to_yaml()) == scenes.load(path)


@pytest.mark.parametrize(
    ("robot", "key"),
    [
        ("joints_deg: {lift: 1}", "robots.0.joints_deg.lift"),
        ("joints_m: {lft: 1}", "robots.0.joints_m.lft"),
        ("pose: crouching", "robots.0.pose"),
        ("feet: {left: hoof}", "robots.0"),
        ("base: fixed, drop_m: 1, motion: {kind: limp}", "robots.0.drop_m"),
    ],
)
def test_what_only_the_robot_knows_is_still_named_by_file_line_and_key(tmp_path, robot, key):
    (tmp_path / "leg.urdf").write_text(URDF)
    path = tmp_path / "my.yaml"
    path.write_text(
        "title: t\nrobots:\n  - robot: leg.urdf\n    position_m: [0, 0, 1]\n"
        f"    {robot.replace(', ', chr(10) + '    ')}\n"
    )
    with pytest.raises(SceneError, match=r"my.yaml, line [34567]: ") as fault:
        scenes.load(path).simulator()
    assert fault.value.key == key


def test_a_robot_that_stands_needs_a_ground():
    with pytest.raises(SceneError, match="it stands on the ground, but there is none"):
        world("robots:\n  - {robot: hrp2}\n")


def test_shapes_masses_and_surfaces_are_those_of_the_file():
    made = world(
        """materials: {rubber: {friction: 0.9, restitution: 0.3}}
pairs: [{materials: [rubber, rod], friction: 0.05}]
fixed:
  - {shape: box, name: belt, size_m: [1, 2, 3], surface_velocity_m_s: [0.8, 0, 0], friction: 0.3}
  - {shape: stairs, steps: 3, rise_m: 0.1, run_m: 0.2, width_m: 1}
objects:
  - {shape: cylinder, name: rod, radius_m: 0.1, length_m: 1, mass_kg: 2, rotation_deg: [90, 0, 0]}
  - {shape: capsule, radius_m: 0.1, length_m: 1, mass_kg: 2, material: rubber,
     count: 2, spacing_m: [0, 0, 3]}
  - {shape: ellipsoid, radii_m: [0.3, 0.2, 0.1], mass_kg: 5, position_m: [0, 5, 0]}
"""
    )
    assert [s.name for s in made.fixed.shapes] == ["belt", "stairs1", "stairs2", "stairs3"]
    assert made.fixed.shapes[0].surface_velocity == pytest.approx([0.8, 0.0, 0.0])
    assert [o.name for o in made.objects] == ["rod", "capsule1", "capsule2", "ellipsoid"]
    rod, _, second, egg = made.objects
    assert egg.shapes[0].geometry == Ellipsoid((0.3, 0.2, 0.1))
    # m (b² + c²) / 5
    assert np.diag(egg.inertia.tensor) == pytest.approx([0.05, 0.10, 0.13])
    # a solid cylinder about its axis: m r² / 2
    assert rod.inertia.tensor[2, 2] == pytest.approx(0.5 * 2 * 0.1**2)
    # a quarter turn about x: w = x = √½
    assert rod.joint.position[3:] == pytest.approx([0.5**0.5, 0.5**0.5, 0.0, 0.0])
    assert second.joint.position[2] == 3.0
    material = second.shapes[0].material
    assert (material.friction, material.static_friction, material.restitution) == (0.9, None, 0.3)
    assert made.pairs[frozenset(("rubber", "rod"))]["friction"] == 0.05


def test_a_surface_may_resist_turning_rolling_and_speed_and_a_pair_of_them_too():
    made = world(
        "ground: {torsional_friction_m: 0.002, viscous_friction_s_m: 0.1}\n"
        "objects:\n"
        "  - {shape: sphere, name: ball, radius_m: 0.1, mass_kg: 1, rolling_friction_m: 0.01}\n"
        "pairs:\n  - {materials: [ball, ground], viscous_friction_s_m: 0.4}\n"
    )
    model = made.compile()
    a, b = (model.material_names.index(name) for name in ("ball", "ground"))
    names = ("torsional_friction", "rolling_friction", "viscous_friction")
    assert [model.pairs[name][a, b] for name in names] == [0.002, 0.01, 0.4]


def test_the_law_of_contact_is_the_one_told():
    sim = scenes.loads(
        "title: t\nground: {}\nsimulation: {contact: pyramid, facets: 4}\nobjects:\n"
        "  - {shape: sphere, radius_m: 0.1, mass_kg: 1}\n"
    ).simulator()
    assert len(sim._stepper.workspace.law.lemke.direction) == 4 + 1


def test_the_order_of_the_step_is_that_of_the_scene():
    ball = "objects: [{shape: sphere, radius_m: 0.1, mass_kg: 1}]\n"
    orders = [
        scenes.loads(f"title: t\nground: {{}}\n{simulation}{ball}").simulator().order
        for simulation in ("", "simulation: {order: 2}\n")
    ]
    assert orders == [1, 2]
    with pytest.raises(SceneError, match="order"):
        scenes.loads(f"title: t\nground: {{}}\nsimulation: {{order: 3}}\n{ball}")


def test_a_pair_of_a_material_that_is_not_there_is_named():
    with pytest.raises(
        SceneError, match=r"my.yaml, line 3: pairs.0.materials.1: material 'bll' not found"
    ) as fault:
        world(
            "objects: [{shape: sphere, name: ball, radius_m: 1, mass_kg: 1}]\n"
            "pairs: [{materials: [ball, bll], friction: 1}]\n"
        )
    assert fault.value.key == "pairs.0.materials.1"


def test_the_rail_of_the_cart_lies_under_the_middle_of_the_hands():
    world = scenes.load("cart").world()
    robot, body = world.robots[0], world.objects[0]
    X = robot.placements()[robot.body("right_hand")]
    hand = next(s for s in robot.body("right_hand").shapes if s.collides)
    rail = max(body.shapes, key=lambda s: s.placement.p[2])
    top = rail.support((0, 0, 1)) + body.joint.position[2]
    assert top == pytest.approx(float(X.p[2]) - hand.support(X.R.T @ (0.0, 0.0, -1.0)), abs=1e-9)
    assert body.joint.position[0] == pytest.approx(float((X @ hand.placement.p)[0]), abs=1e-9)


def test_things_start_with_their_velocities():
    sim = scenes.load("slide").simulator()
    assert sim.velocity("rough").linear == pytest.approx([2.0, 0.0, 0.0])
    spun = scenes.loads(
        "title: t\n"
        "objects: [{shape: sphere, radius_m: 1, mass_kg: 1, angular_velocity_rad_s: [0, 0, 3]}]\n"
    ).simulator()
    assert spun.velocity("sphere").angular == pytest.approx([0.0, 0.0, 3.0])


def test_a_slope_falls_along_x():
    made = world("ground: {slope_deg: 30}\nobjects: [{shape: sphere, radius_m: 1, mass_kg: 1}]\n")
    normal = made.fixed.shapes[0].placement.R[:, 2]
    assert normal == pytest.approx([sin(radians(30)), 0.0, 3**0.5 / 2])


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("pushes: [{body: bll, duration_s: 1}]", "pushes.0.body"),
        ("bonds: [{kind: weld, bodies: [ball, bll]}]", "bonds.0"),
        ("watch: [bll]", "watch.0"),
    ],
)
def test_bodies_that_are_not_there_are_named_when_the_simulation_begins(text, key):
    scene = scenes.loads(
        f"title: t\nobjects: [{{shape: sphere, name: ball, radius_m: 1, mass_kg: 1}}]\n{text}\n",
        "my.yaml",
    )
    with pytest.raises(SceneError, match=r"my.yaml, line 3: .*'bll' not found") as fault:
        scene.simulator()
    assert fault.value.key == key


def test_a_push_begins_when_it_is_told():
    text = (
        "title: t\ngravity_m_s2: [0, 0, 0]\n"
        "objects: [{shape: sphere, name: ball, radius_m: 1, mass_kg: 2}]\n"
    )
    sim = scenes.loads(
        text + "pushes: [{body: ball, at_s: 0.1, duration_s: 0.2, force_n: [4, 0, 0]}]\n"
    ).simulator()
    sim.run(0.1)
    assert sim.velocity("ball").linear[0] == 0.0
    saved = sim.save()
    sim.run(0.4)
    # F t / m
    assert sim.velocity("ball").linear[0] == pytest.approx(4 * 0.2 / 2, rel=1e-12)
    sim.restore(saved)
    sim.run(0.1)
    assert sim.velocity("ball").linear[0] == pytest.approx(4 * 0.1 / 2, rel=1e-12)


@pytest.mark.parametrize(
    "motion",
    [
        "hold",
        "limp",
        "squat",
        "sway",
        "lean",
        "keyframes, frames: [{at_s: 0}, {at_s: 1, joints_deg: {RARM_ELBOW_P: -45}}]",
    ],
)
def test_every_motion_drives_its_robot(motion):
    scene = scenes.loads(
        f"title: t\nground: {{}}\nrobots: [{{robot: hrp2, motion: {{kind: {motion}}}}}]\n"
    )
    made = builder.Builder(scene.contents, scene._reader)
    command = made.controller(made.robots[0], scene.contents.robots[0], 0)(0.7, None)
    moved = command.position is not None and command.position != pytest.approx(
        dict(made.robots[0].half_sitting)
    )
    assert moved == (motion not in ("hold", "limp"))
    if motion == "limp":
        assert (command.kp, command.kd, command.effort) == (0.0, 0.0, 0.0)
    assert np.isfinite(scene.simulator().state.q).all()


def test_a_scene_may_limit_what_a_step_costs():
    """A wall that is hit by a ball, at 0.2 s, needs more than a hundred looks at its contacts."""
    assert scenes.load("dominoes").contents.simulation.work_limit == budget.DEFAULT
    sim = scenes.load("wall", ["simulation.work_limit=100"]).simulator()
    with pytest.warns(tabi.MissedStepWarning):
        sim.run(0.21)
    assert sim.missed_count > 0
    plenty = scenes.load("wall").simulator()
    plenty.run(0.21)
    assert plenty.missed_count == 0
    assert sim.data.reproducible
    timed = scenes.load("wall", ["simulation.time_limit_s=1e-5"]).simulator()
    assert not timed.data.reproducible
    free = scenes.load("standing", ["simulation.work_limit=null"]).simulator()
    free.run(0.01)
    assert free.missed_count == 0


@pytest.mark.parametrize("words", ["work_limit=0", "work_limit=-5", "time_limit_s=0"])
def test_a_limit_of_nothing_is_refused(words):
    with pytest.raises(scenes.SceneError, match=words.partition("=")[0]):
        scenes.load("wall", [f"simulation.{words}"])
