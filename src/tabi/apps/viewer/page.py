"""The page that shows a world in the browser: pick a pose, move joints;
the robot stands on the ground.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
import threading
from collections.abc import Callable, Iterator

import numpy as np
import rich
import viser

from tabi._errors import TabiError
from tabi.apps.viewer.catalogue import Camera
from tabi.apps.viewer.gate import Gate, open_server
from tabi.apps.viewer.panels.markup import literal
from tabi.apps.viewer.scene import DrawnScene
from tabi.model.robot import Robot
from tabi.model.world import World

PORT = 8080
LIMBS = {
    "RLEG": "right leg",
    "LLEG": "left leg",
    "CHEST": "chest",
    "HEAD": "head",
    "RARM": "right arm",
    "LARM": "left arm",
}


class Page:
    """A page with its running server.

    Attributes:
        address: what to type into the browser, with the token where one is required.
        gate: access to its server.
        pickers: the control that chooses a pose, by the robot's name.
        pose: function that puts a robot into a pose; None: the page itself, without physics.

    Args:
        posed: whether there are controls for poses and joints.
    """

    def __init__(
        self,
        world: World,
        host: str = "127.0.0.1",
        port: int | None = None,
        posed: bool = True,
    ) -> None:
        self._posed = posed
        self.server, self.gate, self.address = serve(host, port)
        # one message for a picture, however many bodies it has, and as soon as it is there
        outgoing = self.server._websock_server._broadcast_buffer
        outgoing.max_window_size, outgoing.window_duration_sec = 4096, 2e-3
        self.server.gui.configure_theme(
            show_logo=False, show_share_button=False, brand_color=(26, 51, 133)
        )
        self.server.gui.main_panel.dock_right()
        self._turn = threading.Lock()
        self.show(world)

    def show(self, world: World, camera: Camera | None = None) -> None:
        """Show a world, instead of the one before, from somewhere [m] looking at something [m]."""
        self.server.scene.reset()
        self.server.gui.reset()
        self.server.gui.main_panel.dock_right()
        self.world = world
        self.scene = DrawnScene(self.server, world)
        self.pickers: dict[str, viser.GuiDropdownHandle] = {}
        self.pose: Callable[[Robot, dict[str, float]], None] | None = None
        for robot in world.robots:
            self.scene.update(robot.placements())
            if self._posed:
                with self.server.gui.add_folder(
                    f"{robot.name}: pose and joints", order=100.0, expand_by_default=False
                ):
                    self._add_controls(robot)
        for body in world.objects:
            X = body.joint.placement @ body.joint.motion(body.joint.position)
            self.scene.update({body: X})
        if camera is not None:
            self.scene.look_from(*camera)
        else:
            middle, size = _extent(world)
            self.scene.look(middle, 1.95 * size)

    def close(self) -> None:
        """Stop the server of the page."""
        with quiet():
            self.server.stop()

    def _add_controls(self, robot: Robot) -> None:
        """One robot's picker of poses and its sliders, in a folder per limb."""
        gui = self.server.gui
        text = gui.add_markdown(_summary(robot))
        now = {
            name: float(robot.joint(name).position[0])
            for name in robot.joint_names
            if _is_free(robot, name)
        }
        # joints that a pose does not name stand at zero
        poses = {
            name.replace("_", " "): dict.fromkeys(now, 0.0) | dict(pose)
            for name, pose in robot.poses.items()
        }
        current = next(
            (
                name
                for name, pose in poses.items()
                if all(pose.get(joint, 0.0) == q for joint, q in now.items())
            ),
            "as given",
        )
        poses.setdefault(current, now)
        picker = self.pickers[robot.name] = gui.add_dropdown(
            "pose", list(poses), initial_value=current
        )
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
                robot.stand_on_ground(
                    pose
                ) if robot.base.joint.kind == "floating" else robot.set_pose(pose)
                self.scene.update(robot.placements())
                text.content = _summary(robot)

        @picker.on_update
        def _(_: viser.GuiEvent) -> None:
            stand(poses[picker.value])
            for name, slider in sliders.items():
                slider.value = poses[picker.value].get(name, 0.0) / _unit(robot, name)

        def on_slider(event: viser.GuiEvent) -> None:
            # a slider set by the picker has no browser behind it
            if event.client is not None:
                stand({name: slider.value * _unit(robot, name) for name, slider in sliders.items()})

        for slider in sliders.values():
            slider.on_update(on_slider)

    def _add_slider(self, robot: Robot, name: str) -> viser.GuiSliderHandle:
        """A slider in degrees or millimetres between the joint's limits."""
        joint, unit = robot.joint(name), _unit(robot, name)
        sign, widest = ("mm", 1000.0) if joint.kind == "prismatic" else ("°", 180.0)
        low, high = np.clip(np.array([joint.lower, joint.upper]) / unit, -widest, widest)
        now = float(np.clip(joint.position[0] / unit, low, high))
        label = name.partition("_")[2] or name
        return self.server.gui.add_slider(
            f"{label} [{sign}]", float(low), float(high), 0.1, now, hint=name
        )


def _extent(world: World) -> tuple[np.ndarray, float]:
    """The middle of what moves, and how tall or wide it is [m]; what lies far away is left out."""
    corners = []
    for robot in world.robots:
        base = robot.placements()[robot.base].p
        corners += [
            np.append(base[:2], robot.extent((0, 0, 1))),
            np.append(base[:2], -robot.extent((0, 0, -1))),
        ]
    for body in world.objects:
        p, shapes = np.asarray(body.joint.position)[:3], body.collision_shapes()
        half = max(
            [max(s.support(d) for d in np.vstack([np.eye(3), -np.eye(3)])) for s in shapes],
            default=0.1,
        )
        corners += [p - half, p + half]
    corners = np.array(
        [c for c in corners if np.linalg.norm(c) < 6.0] or [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    )
    low, high = corners.min(axis=0), corners.max(axis=0)
    return 0.5 * (low + high), max(0.4, float((high - low).max()))


def _summary(robot: Robot) -> str:
    height = robot.extent((0, 0, 1)) + robot.extent((0, 0, -1))
    return (
        f"**{literal(robot.name)}** · {len(robot.joint_names)} joints · {robot.mass:.1f} kg · "
        f"{height:.2f} m as it stands"
    )


def _is_free(robot: Robot, name: str) -> bool:
    """Whether a joint has one coordinate of its own."""
    return robot.joint(name).q_count == 1 and robot.joint(name).mimic is None


def _unit(robot: Robot, name: str) -> float:
    """Return the joint coordinate of one mark of its slider: a degree, or a millimetre."""
    return 1e-3 if robot.joint(name).kind == "prismatic" else float(np.radians(1.0))


def serve(host: str, port: int | None) -> tuple[viser.ViserServer, Gate, str]:
    """A server behind its gate, and what to type into the browser,
    with the token where one is asked for.
    """
    # browsers open connections ahead and drop them; websockets would print a traceback for each
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    with quiet():
        server, gate = open_server(host, _free_port(host, port))
    name = (
        socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    )
    return (
        server,
        gate,
        f"http://{name}:{server.get_port()}" + (f"/?token={gate.token}" if gate.token else ""),
    )


def _free_port(host: str, port: int | None) -> int:
    """Return the requested port, or the first free one from 8080 on,
    reported in a sentence when it is another.
    """
    if port is not None:
        if not _is_open(host, port):
            raise TabiError(
                f"port {port} of {host} is in use by another program; "
                f"end it, or choose another port"
            )
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
                raise TabiError(
                    f"host {host!r} is not an address of this machine; "
                    f"use 127.0.0.1, or 0.0.0.0 for all networks"
                ) from None
            raise TabiError(
                f"port {port} of {host} cannot be opened ({error.strerror}); "
                f"choose another port, above 1023"
            ) from None
    return True


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without the panel and the line that viser prints when it starts and stops;
    the page says one sentence itself.
    """
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
