"""Makes one picture of every built-in scene, at a moment when something is to be seen;
a headless browser draws it.

python docs/generate/scene_pictures.py [NAME …]     all, or those named;
                                                needs chromium on the path, and Pillow
"""

from __future__ import annotations

import sys

import numpy as np
from filling import PICTURES
from pictures import picture

from tabi import scenes
from tabi.apps.viewer.page import Page
from tabi.apps.viewer.panels.soft_panel import SoftPanel
from tabi.apps.viewer.soft_pad import soft_of
from tabi.apps.viewer.view import Observer

FOLDER = PICTURES / "scenes"
# when to look [s]; after a tenth of a second unless said
MOMENTS = {
    "bend-and-jump": 1.48,
    "bounce": 0.85,
    "cart": 2.5,
    "cart-lift": 2.3,
    "conveyor": 1.5,
    "cradle": 0.7,
    "dominoes": 0.75,
    "fall": 0.75,
    "foot-impact": 2.0,
    "force-plates": 1.0,
    "grasp": 3.2,
    "hip-sway": 4.0,
    "hirukawa-hrp1s": 5.0,
    "hirukawa-hrp2": 5.0,
    "hoap-squat": 1.6,
    "hrp1s-walk": 6.1,
    "lean-and-push": 0.8,
    "lift-23kg": 5.3,
    "lift-8kg": 1.9,
    "linkage": 0.35,
    "pebble": 1.0,
    "pull-test": 2.5,
    "pillar": 4.0,
    "push": 0.68,
    "push-recovery": 4.65,
    "slide": 2.0,
    "slippery": 4.9,
    "slope": 1.9,
    "soft-soles": 3.05,
    "soft-walk": 3.2,
    "sofa": 5.4,
    "squat": 1.0,
    "stairs": 0.6,
    "stairs-walk": 5.3,
    "steer": 4.0,
    "table": 2.7,
    "tilt-and-release": 0.0,
    "toes": 1.75,
    "two-carry": 1.5,
    "walk": 9.3,
    "wall": 0.32,
}
# bodies that one sees through, to the pressure on their soles
GLASS = ("pebble",)
WIDTH, HEIGHT = 400, 300


def draw(name: str) -> None:
    """Run a scene to its moment and draw it."""
    scene = scenes.load(name)
    sim = scene.simulator()
    sim.run(MOMENTS.get(name, 0.1))
    page = Page(sim.world)
    try:
        bodies = [body for robot in sim.world.robots for body in robot.bodies] + list(
            sim.world.objects
        )
        page.scene.update({body: sim.pose(body) for body in bodies})
        views = Observer(sim).look().pads
        soft = [one.read(view) for one, view in zip(soft_of(sim.world), views, strict=True)]
        SoftPanel(page.server, page.scene.pads).draw(soft, sim.time)
        page.scene.see_through(name in GLASS)
        if scene.camera:
            camera = page.server.initial_camera
            camera.position = np.array(scene.camera.position_m)
            camera.look_at = np.array(scene.camera.look_at_m)
        picture(page, FOLDER / f"{name}.webp", WIDTH, HEIGHT)
    finally:
        page.close()


def main() -> None:
    """All pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or scenes.names():
        draw(name)


if __name__ == "__main__":
    main()
