"""Names that are not there: the sentence offers the nearest ones."""

from mistakes.making import biped_text, cases, faults, quiet_load, standing

import tabi


def robot(action):
    return lambda folder: action(quiet_load(folder, biped_text()))


def simulated(action):
    """Of a simulator with a standing biped."""

    def mistake(folder):
        world, robot = standing(folder)
        return action(tabi.Simulator(world), robot)

    return mistake


MISTAKES = {
    "a joint of a robot": (
        robot(lambda r: r.joint("left_kne")),
        "joint 'left_kne' not found in biped",
        "joints near that name: 'left_knee', 'left_ankle', 'left_hip'",
    ),
    "a body of a robot": (
        robot(lambda r: r.body("left_fot")),
        "body 'left_fot' not found in biped",
        "bodies near that name: 'left_foot', 'left_thigh', 'right_foot'",
    ),
    "a pose by name": (
        robot(lambda r: r.set_pose("half_siting")),
        "pose 'half_siting' not found in biped",
        "poses near that name: 'half_sitting'",
    ),
    "a pose with an unknown joint": (
        robot(lambda r: r.set_pose({"left_kneee": 0.1})),
        "joint 'left_kneee' not found in biped",
        "joints near that name: 'left_knee', 'left_ankle', 'right_knee'",
    ),
    "a pose with a word for a number": (
        robot(lambda r: r.set_pose({"left_knee": "bent"})),
        "position of joint 'left_knee' is 'bent'",
        "expected a number",
    ),
    "a pair to exclude": (
        robot(lambda r: r.exclude("left_foot", "rigth_foot")),
        "body 'rigth_foot' not found in biped",
        "bodies near that name: 'right_foot', 'left_foot', 'right_thigh'",
    ),
    "a body excluded from itself": (
        robot(lambda r: r.exclude("trunk", "trunk")),
        "body 'trunk' of biped is excluded from collisions with itself",
        "expected two bodies",
    ),
    "a foot on an unknown body": (
        lambda folder: quiet_load(folder, biped_text(), feet={"left": "left_foott"}),
        "robot.urdf: foot 'left' stands on a body that is not there: body 'left_foott' not",
        "bodies near that name: 'left_foot', 'right_foot', 'left_thigh'",
    ),
    "gains of an unknown joint": (
        lambda folder: quiet_load(folder, biped_text(), gains={"left_nee": (1.0, 1.0)}),
        "joint 'left_nee' not found in biped",
        "joints near that name: 'left_knee', 'left_ankle', 'left_hip'",
    ),
    "a robot of the world": (
        lambda folder: standing(folder)[0].robot("bipde"),
        "robot 'bipde' not found in the world",
        "robots near that name: 'biped'",
    ),
    "a robot that is built in": (
        lambda folder: tabi.robots.hrp3,
        AttributeError,
        "no robot 'hrp3' is built in, but cb, hoap2, hrp1s, hrp2",
        "tabi.load reads those of files",
        "did you mean 'hrp2'?",
    ),
    "a robot that is no robot": (
        lambda folder: tabi.World().add_robot(42),
        "a robot was given as 42",
        "expected a Robot or the path of its file",
    ),
    "a robot added to another world": (
        simulated(lambda sim, r: sim.set_controller(tabi.robots.hrp2(), lambda t, m: None)),
        "hrp2 is no robot of this world (robots: biped)",
        "expected what world.add_robot returned",
    ),
    "two robots of one name": (
        lambda folder: [w := standing(folder)[0], w.add_robot(w.robots[0], name="biped")],
        "name 'biped' occurs twice in the world",
        "give every robot and object its own name",
    ),
    "a link of the simulation": (
        simulated(lambda sim, r: sim.position("left_food")),
        "body 'left_food' not found in the model",
        "bodies near that name: 'left_foot', 'left', 'right_foot'",
    ),
    "a foot of the simulation": (
        simulated(lambda sim, r: sim.foot_wrench("lefft")),
        "body 'lefft' not found in the model",
        "bodies near that name: 'left', 'left_foot', 'left_thigh'",
    ),
    "a foot in a measurement": (
        simulated(lambda sim, r: sim.measure(r, truth=True).forces["lft"]),
        "foot 'lft' not found in biped",
        "feet near that name: 'left'",
    ),
    "a body that is a number": (
        simulated(lambda sim, r: sim.position(3)),
        "3 is nothing of this world",
        "expected a body or foot of it, or a name",
    ),
    "a law of contact": (
        lambda folder: tabi.Simulator(standing(folder)[0], contact="coulom"),
        "contact law 'coulom' not found in tabi",
        "contact laws near that name: 'coulomb'",
    ),
    "a scheme": (
        lambda folder: tabi.Simulator(standing(folder)[0], scheme="event_driven"),
        "scheme 'event_driven' not found in tabi",
        "schemes near that name: 'event-driven'",
    ),
    "a material": (
        simulated(lambda sim, r: sim.model.set_pair("groundd", "biped", friction=0.1)),
        "material 'groundd' not found in the model",
        "materials near that name: 'ground'",
    ),
    "a coefficient": (
        lambda folder: tabi.World().add_ground(fricton=0.5),
        "surfaces have no 'fricton'",
        "did you mean 'friction'?",
    ),
    "a parameter of a joint": (
        simulated(lambda sim, r: sim.model.set_joint("left_knee", dampng=1.0)),
        "parameter 'dampng' not found in a joint",
        "parameters near that name: 'damping'",
    ),
    "a joint of the model": (
        simulated(lambda sim, r: sim.model.q_index("left_nee")),
        "joint 'left_nee' not found in the model",
        "joints near that name: 'left_knee', 'left_ankle', 'left_hip'",
    ),
    "a part of tabi": (
        lambda folder: tabi.Simulater,
        AttributeError,
        "module 'tabi' has no attribute 'Simulater'",
        "it has Body, Box, BriefPushWarning, Budget, Camera, Capsule, Command, Convex, Cylinder,",
        "did you mean 'Simulator'?",
    ),
}


@cases(MISTAKES)
def test_a_name_that_is_not_there_is_one_sentence_with_the_nearest(mistake, parts, tmp_path):
    assert faults(mistake, parts, tmp_path) == []
