"""The page that shows a world in the browser: pick a pose, move joints; the robot stands on the ground."""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator

import numpy as np
import rich
import viser

from tabi._errors import TabiError
from tabi.apps.viewer.live import Live
from tabi.apps.viewer.scene import Scene
from tabi.model.robot import Robot
from tabi.model.world import World

PORT = 8080
LIMBS = {"RLEG": "right leg", "LLEG": "left leg", "CHEST": "chest", "HEAD": "head", "RARM": "right arm", "LARM": "left arm"}


def show(world: World, host: str = "127.0.0.1", port: int | None = None, open_browser: bool = True, live: bool = False) -> None:
    """Show a world in the browser until Ctrl-C.

    Args:
        world: its robots can be posed.
        host: address to serve at; by default only this machine sees the page.
        port: 8080 or the next free one if not given; a port asked for that is in use is refused.
        open_browser: whether to open the page here.
        live: whether to simulate it, as soon as the kernels are compiled.
    """
    page = Page(world, host, port)
    print(f"The page is at {page.address} (Ctrl-C ends it).", flush=True)
    if open_browser:
        webbrowser.open(page.address)
    simulation = Live(page) if live else None
    try:
        if simulation:
            simulation.start()
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        if simulation:
            simulation.close()
        page.close()


class Page:
    """A running page.

    Attributes:
        address: what to type into the browser.
        pickers: the control that chooses a pose, by the robot's name.
        pose: who puts a robot into a pose; None: the page itself, without physics.
    """

    def __init__(self, world: World, host: str = "127.0.0.1", port: int | None = None) -> None:
        # browsers open connections ahead and drop them; websockets would print a traceback for each
        logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
        with _quiet():
            self.server = viser.ViserServer(host=host, port=_free_port(host, port), label="tabi", verbose=False)
        self.address = f"http://{host}:{self.server.get_port()}"
        self.world = world
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(26, 51, 133))
        self.server.gui.main_panel.dock_right()
        self.scene = Scene(self.server, world)
        self.pickers: dict[str, viser.GuiDropdownHandle] = {}
        self.pose: Callable[[Robot, dict[str, float]], None] | None = None
        self._turn = threading.Lock()
        for robot in world.robots:
            self._add_controls(robot)
        for body in world.objects:
            X = body.joint.placement @ body.joint.motion(body.joint.position)  # type: ignore[arg-type]
            self.scene.update({body: X})
        tall = max([robot.extent((0, 0, 1)) for robot in world.robots], default=1.0)
        self.scene.look((0.0, 0.0, 0.5 * tall), 1.95 * tall)

    def close(self) -> None:
        """Stop serving."""
        with _quiet():
            self.server.stop()

    def _add_controls(self, robot: Robot) -> None:
        """One robot's picker of poses and its sliders, in a folder per limb."""
        gui = self.server.gui
        text = gui.add_markdown(_summary(robot))
        poses = {name.replace("_", " "): dict(pose) for name, pose in robot.poses.items()}
        now = {name: float(robot.joint(name).position[0]) for name in robot.joint_names if _is_free(robot, name)}  # type: ignore[index]
        given = next((name for name, pose in poses.items() if all(pose.get(joint, 0.0) == q for joint, q in now.items())), "as given")
        poses.setdefault(given, now)
        picker = self.pickers[robot.name] = gui.add_dropdown("pose", list(poses), initial_value=given)
        sliders: dict[str, viser.GuiSliderHandle] = {}
        folders: dict[str, viser.GuiFolderHandle] = {}
        for name in now:
            limb = name.split("_")[0]
            if limb not in folders:
                folders[limb] = gui.add_folder(LIMBS.get(limb, limb), expand_by_default=False)
            with folders[limb]:
                sliders[name] = self._add_slider(robot, name)

        def stand(pose: dict[str, float]) -> None:
            if self.pose is not None:
                self.pose(robot, pose)
                return
            with self._turn:
                robot.stand_on_ground(pose) if robot.base.joint.kind == "floating" else robot.set_pose(pose)
                self.scene.update(robot.placements())
                text.content = _summary(robot)

        @picker.on_update
        def _(_: viser.GuiEvent) -> None:
            stand(poses[picker.value])
            for name, slider in sliders.items():
                slider.value = poses[picker.value].get(name, 0.0) / _unit(robot, name)

        def moved(event: viser.GuiEvent) -> None:
            # a slider set by the picker has no browser behind it
            if event.client is not None:
                stand({name: slider.value * _unit(robot, name) for name, slider in sliders.items()})

        for slider in sliders.values():
            slider.on_update(moved)
        self.scene.update(robot.placements())

    def _add_slider(self, robot: Robot, name: str) -> viser.GuiSliderHandle:
        """A slider in degrees or millimetres between the joint's limits."""
        joint, unit = robot.joint(name), _unit(robot, name)
        sign, widest = ("mm", 1000.0) if joint.kind == "prismatic" else ("°", 180.0)
        low, high = np.clip(np.array([joint.lower, joint.upper]) / unit, -widest, widest)
        now = float(np.clip(joint.position[0] / unit, low, high))  # type: ignore[index]
        label = name.partition("_")[2] or name
        return self.server.gui.add_slider(f"{label} [{sign}]", float(low), float(high), 0.1, now, hint=name)


def _summary(robot: Robot) -> str:
    height = robot.extent((0, 0, 1)) + robot.extent((0, 0, -1))
    return f"**{robot.name}** · {len(robot.joint_names)} joints · {robot.mass:.1f} kg · {height:.2f} m as it stands"


def _is_free(robot: Robot, name: str) -> bool:
    """Whether a joint has one coordinate of its own."""
    return robot.joint(name).q_count == 1 and robot.joint(name).mimic is None


def _unit(robot: Robot, name: str) -> float:
    """How much of a joint's coordinate one mark of its slider is: a degree, or a millimetre."""
    return 1e-3 if robot.joint(name).kind == "prismatic" else float(np.radians(1.0))


def _free_port(host: str, port: int | None) -> int:
    """The port asked for, or the first free one from 8080 on, said in a sentence when it is another."""
    if port is not None:
        if not _is_open(host, port):
            raise TabiError(f"port {port} of {host} is in use by another program; end it, or choose another port")
        return port
    for candidate in range(PORT, PORT + 100):
        if _is_open(host, candidate):
            if candidate != PORT:
                print(f"Port {PORT} is busy, so the page uses port {candidate}.", flush=True)
            return candidate
    raise TabiError(f"ports {PORT} to {PORT + 99} of {host} are all in use; name a free port")


def _is_open(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                raise TabiError(f"host {host!r} is not an address of this machine; use 127.0.0.1, or 0.0.0.0 for all networks") from None
            raise TabiError(f"port {port} of {host} cannot be opened ({error.strerror}); choose another port, above 1023") from None
    return True


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the panel and the line that viser prints when it starts and stops; the page says one sentence itself."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
