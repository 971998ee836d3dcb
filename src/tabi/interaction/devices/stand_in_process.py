"""Stand-in started by this process, which ends with it: see ``stand_in``."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import threading
from collections.abc import Sequence

from tabi.interaction.devices.haply import HaplyDevice
from tabi.interaction.devices.protocol import Array, DeviceError, HandReading

START_TIMEOUT_S = 20.0


class StandInProcess:
    """Service in a separate process; it ends when its input is closed, also if the parent process
    is gone.

    Args:
        arguments: of the program ``stand_in``, as ``("--mass", "0.2")``.
        port: of the service; 0: any free one.

    Attributes:
        process: the program. port: of the service.
    """

    def __init__(self, arguments: Sequence[str] = (), port: int = 0) -> None:
        command = [sys.executable, "-m", "tabi.interaction.devices.stand_in"]
        command += ["--port", str(port), "--until-end-of-input", *arguments]
        pipe = subprocess.PIPE
        # an interrupt is handled by the parent: a separate session, on Windows a group
        self.process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
            encoding="utf-8",
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self.port = self._wait_for_port()

    @property
    def address(self) -> str:
        """Address of the service."""
        return f"ws://127.0.0.1:{self.port}"

    def __enter__(self) -> StandInProcess:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """End the service; a second call does nothing."""
        process = self.process
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _wait_for_port(self) -> int:
        out = self.process.stdout
        assert out is not None
        # a thread, as not every system can wait for a pipe
        lines: list[str] = []
        reading = threading.Thread(target=lambda: lines.append(out.readline()), daemon=True)
        reading.start()
        reading.join(START_TIMEOUT_S)
        match = re.search(r":(\d+)$", lines[0].strip()) if lines else None
        if match:
            return int(match[1])
        err = self.process.stderr
        self.process.kill()
        reading.join()
        why = err.read().strip() if err is not None else ""
        self.close()
        raise DeviceError(
            f"a stand-in could not be started: {why or f'{START_TIMEOUT_S:g} s are over'}"
        )


class StandInDevice:
    """Driver with a separate service."""

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        self.service = StandInProcess(arguments)
        try:
            self._device = HaplyDevice(self.service.address)
        except BaseException:
            self.service.close()
            raise
        self.info = self._device.info

    @property
    def closed(self) -> bool:
        """Whether the driver is closed."""
        return self._device.closed

    def read(self) -> HandReading:
        """Return the reading of the hand now."""
        return self._device.read()

    def write(self, force: Array, torque: Array) -> None:
        """Push the hand with a force."""
        self._device.write(force, torque)

    def close(self) -> None:
        """Release the device, and end the service."""
        self._device.close()
        self.service.close()
