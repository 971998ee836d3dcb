"""A hand on a spring lifts a box; with a device, feel it: `tabi run lead --device haply --page`."""

import tabi
from tabi.interaction.devices.scripted import ScriptedHand
from tabi.interaction.hand import HapticHand
from tabi.interaction.session import HapticSession, source_of

world = tabi.World()
box = world.add_box((0.1, 0.1, 0.1), 2.0)
sim = tabi.Simulator(world)

# where the hand is [s, m, m, m], and that it holds its button
up = ScriptedHand([[0.0, 0, 0, 0], [2.0, 0, 0, 0.3], [6.0, 0, 0, 0.3]], [(True,)] * 3)
source = source_of(sim, "scripted", lambda: up)
hand = HapticHand(sim, source, "attach", "box", stiffness=400.0)
session = HapticSession(sim, "scripted", hand)
for _ in range(6):
    sim.run(1.0)
    print(f"{sim.time:.0f} s: the box at {sim.position(box)[2]:.3f} m, {hand.force[2]:.2f} N on it")
session.close()
print(f"m g is {2.0 * 9.81:.2f} N, so the box hangs m g/k = {1e3 * 2.0 * 9.81 / 400:.0f} mm below")
