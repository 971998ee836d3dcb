"""HRP-2 shuts its gripper on a can and lifts it: friction alone holds it."""

from tabi import scenes

for friction in (0.5, 0.04):
    # every scene of `tabi list` can be loaded, changed by its keys, and stepped
    scene = scenes.load("grasp", overrides=(f"objects.0.friction={friction}",))
    sim = scene.simulator()
    height = sim.position("can")[2]
    sim.run(scene.duration)
    rise = 1e3 * (sim.position("can")[2] - height)
    print(f"friction {friction:g}: the can rose by {rise:.0f} mm; missed {sim.missed_count} steps")
    for contact in sim.contacts:
        names = (contact.body_a.name, contact.body_b.name)
        if "can" in names and contact.force @ contact.force > 1.0:
            print("  ", *names, contact.force.round(2), contact.status)
