"""Tables of sensors (``tabi.step.sensors.tables``): which bodies are followed, and what is
measured from the start.
"""

import numpy as np

import tabi
from tabi.step.sensors import tables


def model(**options):
    """HRP-2 with options of its imu."""
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2())
    robot.set_sensor("imu", **options)
    return world.compile()


def test_only_bodies_on_the_way_to_a_sensor_are_followed_and_those_beyond_a_force_sensor_weighed():
    m = model()
    sensors, _ = tables.build(m, 1e-3, (0, 0))
    body = m.arrays.body
    followed = set(sensors.body["body"].tolist())
    for row in sensors.body:
        assert body["parent"][row["body"]] in followed | {0}
        above = row["parent"]
        assert above == -1 or sensors.body["body"][above] == body["parent"][row["body"]]
    weighed = {int(row["body"]) for row in sensors.body if row["weighed"]}
    cut = {m.sensors[name].body for name in m.sensors if m.sensors[name].kind == "force"}
    # nothing of HRP-2 hangs on feet and hands
    assert weighed == cut
    head = m.links["head"].body if "head" in m.links else None
    assert head not in followed
    places = {b: j for j, b in enumerate(sensors.place) if b >= 0}
    assert len(places) == len(cut)


def test_sensors_with_a_memory_are_measured_from_the_start():
    names = list(model().sensors)
    imu = names.index("imu")
    for options, lasts in (
        ({}, 0),
        ({"noise": 1.0}, 0),
        ({"rate": 500.0}, 1),
        ({"delay": 0.005}, 1),
        ({"bandwidth": 50.0}, 1),
        ({"drift": 0.1}, 1),
    ):
        expected = np.zeros(len(names), int)
        expected[imu] = lasts
        assert tables.always_active(model(**options)).tolist() == expected.tolist()


def test_a_ring_holds_as_many_samples_as_a_delay_is_long():
    for options, room in (
        ({}, 1),
        ({"delay": 0.005}, 6),
        ({"delay": 0.0051}, 7),
        ({"delay": 0.005, "rate": 200.0}, 2),
        ({"delay": 0.004, "rate": 200.0}, 2),
    ):
        m = model(**options)
        sensors, memory = tables.build(m, 1e-3, (0, 0))
        row = sensors.row[list(m.sensors).index("imu")]
        assert row["room"] == room
        assert len(memory.ring) == 6 * (len(m.sensors) - 1) + 6 * room
