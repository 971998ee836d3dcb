"""The controls of a playing page: play, pause, step, reset, speed, what is drawn, sliders,
other scenes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import viser

from tabi.apps.viewer.player import MAX_SPEED_FACTOR, MIN_SPEED_FACTOR, Player
from tabi.apps.viewer.tuning import Tuning
from tabi.apps.viewer.watching import WatchControls
from tabi.model.body import Body
from tabi.model.robot import Robot
from tabi.model.world import World

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

DROP_HEIGHT_M, PUSH_FORCE_N, PUSH_TIME_S = 0.2, 60.0, 0.1
GAIN = 4.0  # how many times a gain may be as large, or as small
RUBBER = 10.0  # and the rubber of an ankle


class Controls(WatchControls):
    """The controls of one world.

    Args:
        scenes: names of scenes to open, and of the one that is there.
            pick: called with one of them.

    """

    def __init__(
        self,
        server: viser.ViserServer,
        world: World,
        player: Player,
        scenes: tuple[list[str], str],
        pick: Callable[[str], None],
    ) -> None:
        super().__init__(server, world)
        self.player, self.disturbed, gui = player, bool(floating(world)), server.gui
        self._add_simulation(gui, scenes)
        self.add_drawing(gui)
        self._add_physics(gui, world, player.tuning)
        self._connect(pick)

    def _add_simulation(self, gui: viser.GuiApi, scenes: tuple[list[str], str]) -> None:
        with gui.add_folder("simulation", order=-1.0):
            self.add_text(gui)
            self.play = gui.add_button("Pause", disabled=True, icon=viser.Icon.PLAYER_PAUSE)
            self.time = gui.add_button_group(
                "time",
                ("Step", "Reset"),
                visible=False,
                hint="Step: pause, and one step. Reset: the start again",
            )
            hint = (
                f"Drop: the start again, {DROP_HEIGHT_M:g} m higher. "
                f"Push: forwards on the chest for {PUSH_TIME_S:g} s"
            )
            self.disturb = gui.add_button_group(
                "disturb",
                (f"Drop {DROP_HEIGHT_M:g} m", f"Push {PUSH_FORCE_N:g} N"),
                visible=False,
                hint=hint,
            )
            self.stand = gui.add_button(
                "Stand up again",
                visible=False,
                icon=viser.Icon.ARROW_UP,
                hint="puts a robot that fell back on its feet, near where it lies; its controller "
                "starts again",
            )
            hint = "of the clock; the title says how much of it the machine reaches"
            marks = (MIN_SPEED_FACTOR, 1.0, 2.0, MAX_SPEED_FACTOR)
            self.speed = gui.add_slider(
                "speed [×]",
                MIN_SPEED_FACTOR,
                MAX_SPEED_FACTOR,
                0.1,
                self.player.speed,
                marks=marks,
                disabled=True,
                hint=hint,
            )
            self.add_camera(gui)
            self.scene = gui.add_dropdown(
                "scene",
                scenes[0],
                initial_value=scenes[1],
                disabled=True,
                visible=len(scenes[0]) > 1,
            )
            gui.add_html(link_button(scenes[1]))

    def _add_physics(self, gui: viser.GuiApi, world: World, tuning: Tuning) -> None:
        # what has nothing to act on is not offered
        fixed, driven = bool(world.fixed.shapes), bool(world.robots)
        with gui.add_folder("physics", order=2.0, expand_by_default=False, visible=fixed or driven):
            friction, restitution = _surface(world, tuning)
            hint = "between all that does not move and the rest, as soon as this is moved"
            on_ground: dict[str, Any] = {"hint": hint, "disabled": True, "visible": fixed}
            self.friction = gui.add_slider("ground friction", 0.0, 1.5, 0.01, friction, **on_ground)
            self.restitution = gui.add_slider(
                "ground restitution", 0.0, 1.0, 0.01, restitution, **on_ground
            )
            hint = "factor on the gains of all motors"
            on_motors: dict[str, Any] = {"hint": hint, "disabled": True, "visible": driven}
            self.stiffness = gui.add_slider(
                "motor stiffness [×]", 1 / GAIN, GAIN, 0.05, tuning.stiffness, **on_motors
            )
            self.damping = gui.add_slider(
                "motor damping [×]", 1 / GAIN, GAIN, 0.05, tuning.damping, **on_motors
            )
            self.bush_stiffness, self.bush_damping = (
                gui.add_slider(
                    f"ankle bush {what} [×]",
                    1 / RUBBER,
                    RUBBER,
                    0.05,
                    getattr(tuning, f"bush_{what}"),
                    hint=f"factor on the {what} of the rubber between ankle and sole",
                    disabled=True,
                    visible=any(robot.bush is not None for robot in world.robots),
                )
                for what in ("stiffness", "damping")
            )

    def enable(self) -> None:
        """The simulation is there."""
        sliders = (
            self.speed,
            self.scene,
            self.friction,
            self.restitution,
            self.stiffness,
            self.damping,
            self.bush_stiffness,
            self.bush_damping,
        )
        for control in (self.play, *sliders):
            control.disabled = False
        # these know no other way
        self.time.visible, self.disturb.visible = True, self.disturbed

    def follow(self, fallen: bool = False) -> None:
        """Show whether time goes on, and whether a robot lies that could stand up."""
        if self.stand.visible != fallen:
            self.stand.visible = fallen
        label = "Pause" if self.player.playing else "Play"
        if self.play.label != label:
            self.play.label = label
            self.play.icon = (
                viser.Icon.PLAYER_PAUSE if self.player.playing else viser.Icon.PLAYER_PLAY
            )

    def _connect(self, pick: Callable[[str], None]) -> None:
        player = self.player
        self.play.on_click(lambda _: player.play(not player.playing))
        self.time.on_click(lambda _: player.step() if self.time.value == "Step" else player.reset())
        self.disturb.on_click(
            lambda _: (
                player.reset(self._lift)
                if self.disturb.value.startswith("Drop")
                else player.order(self._push)
            )
        )
        self.stand.on_click(lambda _: player.stand_up())
        self.speed.on_update(lambda _: player.set_speed(self.speed.value))
        self.scene.on_update(lambda _: pick(self.scene.value))
        self.friction.on_update(lambda _: self._tune(friction=self.friction.value))
        self.restitution.on_update(lambda _: self._tune(restitution=self.restitution.value))
        self.stiffness.on_update(lambda _: self._tune(stiffness=self.stiffness.value))
        self.damping.on_update(lambda _: self._tune(damping=self.damping.value))
        for name in ("bush_stiffness", "bush_damping"):
            slider = getattr(self, name)
            slider.on_update(lambda _, n=name, s=slider: self._tune(**{n: s.value}))

    def _tune(self, **changed: Any) -> None:
        self.player.tune(replace(self.player.tuning, **changed))

    def _lift(self, sim: Simulator) -> None:
        """Every floating base higher."""
        q = sim.state.q
        for robot in floating(sim.world):
            q[sim.model.q_index(robot.name) + 2] += DROP_HEIGHT_M
        sim.set_state(q)

    def _push(self, sim: Simulator) -> None:
        for robot in floating(sim.world):
            sim.apply_force(trunk(robot), force=(PUSH_FORCE_N, 0.0, 0.0), duration=PUSH_TIME_S)


def link_button(scene: str) -> str:
    """Return the button that copies a link, which a script of the page finds."""
    look = (
        "margin:4px 12px 10px;width:calc(100% - 24px);padding:5px;font:inherit;font-size:12px;"
        "cursor:pointer;border:1px solid #2446c0;border-radius:2px;color:#2446c0;background:none"
    )
    hint = "copies an address that opens this scene with this camera and these settings"
    return (
        f'<button data-tabi-link="{escape(scene, quote=True)}" title="{hint}" style="{look}">'
        "Copy link</button>"
    )


def _surface(world: World, tuning: Tuning) -> tuple[float, float]:
    """Friction and restitution of the first thing that does not move, or what was set since."""
    shapes = world.fixed.shapes
    friction, restitution = (
        (shapes[0].material.friction, shapes[0].material.restitution) if shapes else (0.8, 0.0)
    )
    values = (
        friction if tuning.friction is None else tuning.friction,
        restitution if tuning.restitution is None else tuning.restitution,
    )
    return min(values[0], 1.5), values[1]


def trunk(robot: Robot) -> Body:
    """Return the body that is pushed: the chest where there is one, else the base."""
    return next((body for body in robot.bodies if "chest" in body.name.lower()), robot.base)


def floating(world: World) -> list[Robot]:
    """The robots that can be lifted and pushed."""
    return [robot for robot in world.robots if robot.base.joint.kind == "floating"]
