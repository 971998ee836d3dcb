"""Other operating systems, by fakes: what Windows and macOS have not is not needed, or refused in a
sentence.
"""

import errno
import multiprocessing
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

import tabi
from tabi.interaction import device_process
from tabi.interaction.devices import gamepad
from tabi.interaction.devices.protocol import DeviceError
from tabi.lab.validate import haptic_failures, recording_ends, systems
from tabi.recording import locks
from tabi.recording.whole_file import WholeFile
from tabi.reporting import terminal
from tabi.runs import pool, storage

# every module of tabi, with what Windows' Python has not taken away
IMPORTS = """
import builtins, os, pkgutil, importlib, signal, socket, sys
import tabi
wanted = [m.name for m in pkgutil.walk_packages(tabi.__path__, "tabi.")]
wanted = [name for name in wanted if not name.endswith(("__main__", "siconos_worker"))]
# first the packages of others, which have a Windows of their own
for name in wanted:
    importlib.import_module(name)
GONE = {"fcntl", "resource", "termios", "pwd", "grp", "tty", "pty", "posix", "syslog"}
plain = builtins.__import__
def without(name, globals=None, locals=None, fromlist=(), level=0):
    if name.partition(".")[0] in GONE and str((globals or {}).get("__name__")).startswith("tabi"):
        raise ImportError(f"no module {name}")
    return plain(name, globals, locals, fromlist, level)
builtins.__import__ = without
for name in ("fork", "getuid", "geteuid", "sched_getaffinity", "sched_setaffinity", "SCHED_FIFO",
             "WNOHANG", "O_NONBLOCK", "mkfifo", "killpg", "setsid"):
    delattr(os, name)
for name in ("SIGKILL", "SIGSTOP", "SIGCONT", "SIGUSR1", "SIGHUP", "pthread_sigmask", "setitimer"):
    delattr(signal, name)
del socket.AF_UNIX
for name in [name for name in sys.modules if name.startswith("tabi.") and "._" not in name]:
    del sys.modules[name]
for name in wanted:
    importlib.import_module(name)
print(len(wanted))
"""


@pytest.mark.process
def test_every_module_is_imported_without_what_windows_has_not():
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 500


class Msvcrt:
    """Windows' locks: a byte has one owner, also among files of the same process."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self):
        self.owners = {}

    def locking(self, file, mode, count):
        place = os.fstat(file).st_ino, os.lseek(file, 0, os.SEEK_CUR)
        assert (count, place[1]) == (1, locks.LOCK_OFFSET_BYTES)
        if mode == self.LK_UNLCK:
            assert self.owners.pop(place) == file
        elif self.owners.setdefault(place, file) != file:
            raise PermissionError(errno.EACCES, "Permission denied")


@pytest.fixture
def byte_locks(monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)
    monkeypatch.setattr(locks, "msvcrt", Msvcrt())
    return locks.msvcrt


def test_a_recording_that_is_written_is_refused_by_a_locked_byte(byte_locks, tmp_path):
    path = tmp_path / "run.h5"
    writer = WholeFile(path, "w")
    writer.write(b"tabi")
    writer.commit()
    for mode in ("r", "r+", "w"):
        with pytest.raises(BlockingIOError):
            WholeFile(path, mode)
    writer.close()
    # the lock ends with its file
    byte_locks.owners.clear()
    readers = [WholeFile(path, "r") for _ in range(2)]
    assert [reader.read(4) for reader in readers] == [b"tabi", b"tabi"]
    for reader in readers:
        reader.close()


@pytest.mark.usefixtures("byte_locks")
def test_a_sweep_that_another_process_is_at_is_refused_by_a_locked_byte(tmp_path):
    with open(tmp_path / "rows", "wb") as one, open(tmp_path / "rows", "rb") as two:
        storage.lock(one, tmp_path)
        with pytest.raises(tabi.TabiError, match="another process is at it"):
            storage.lock(two, tmp_path)


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_a_gamepad_says_what_it_needs(system, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(DeviceError, match=f"which {system} does not have; expected Linux"):
        gamepad.Gamepad()


def test_ctrl_break_ends_a_command_as_ctrl_c_does(monkeypatch):
    # stands for Windows' signal, which has a number of its own
    monkeypatch.setattr(signal, "SIGBREAK", signal.SIGUSR1, raising=False)
    before = signal.getsignal(signal.SIGUSR1)
    with terminal.interrupt() as asked:
        signal.raise_signal(signal.SIGUSR1)
        assert asked == [signal.SIGUSR1]
    assert signal.getsignal(signal.SIGUSR1) is before


def test_checks_that_fork_and_stop_processes_say_which_system_they_need(monkeypatch, tmp_path):
    systems.check_signals("a check")
    monkeypatch.delattr(os, "fork")
    for check in (
        lambda: haptic_failures.HapticFailures().run(),
        lambda: recording_ends.Writer(tmp_path),
    ):
        with pytest.raises(tabi.ModelError, match="expected Linux or macOS"):
            check()


@pytest.mark.parametrize("alive", [True, False])
def test_a_device_process_of_windows_asks_whether_its_parent_is_alive(alive, monkeypatch):
    parent = SimpleNamespace(is_alive=lambda: alive)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: parent)
    monkeypatch.setattr(device_process, "os", SimpleNamespace(name="nt", getppid=lambda: 0))
    assert device_process._orphaned(1) is not alive


def test_a_worker_of_windows_never_hears_an_interrupt(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.delattr(signal, "pthread_sigmask")
    monkeypatch.setattr(pool, "_end_with_parent", lambda: None)
    here, there = multiprocessing.Pipe()
    there.close()
    here.close()
    try:
        pool.serve(here)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.process
def test_output_that_a_code_page_has_not_is_replaced():
    settings = os.environ | {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    words = [sys.executable, "-m", "tabi.apps.cli", "run", "no-such-scene-₁→≤"]
    done = subprocess.run(words, capture_output=True, env=settings)
    assert done.returncode == 2
    said = done.stderr.decode("cp1252")
    assert said.startswith("tabi: ")
    assert "no-such-scene-???" in said
    assert "Traceback" not in said
