"""The files of deploy/ as processes on this machine: Caddy with a certificate of its own, and the unit's command."""

from __future__ import annotations

import configparser
import contextlib
import os
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CADDY = shutil.which("caddy")
BUBBLEWRAP = shutil.which("bwrap")


def free_ports(number: int) -> list[int]:
    """Ports that nobody uses in this moment."""
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket()) for _ in range(number)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in listeners]


def unit() -> configparser.SectionProxy:
    """The section of the unit about its service; of settings that stand twice, the last one."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment]
    parser.read(DEPLOY / "bruit.service", encoding="utf-8")
    return parser["Service"]


def unit_command(host: str) -> list[str]:
    """What the unit starts, on a host of this name."""
    return shlex.split(unit()["ExecStart"].replace("${SURVEY_HOST}", host))


class Caddy:
    """Caddy with deploy/Caddyfile, before a collector on a port. It signs its certificate for localhost itself."""

    def __init__(self, folder: Path, collector: int) -> None:
        self.folder = folder
        self.plain, self.port = free_ports(2)
        environment = {
            **os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"), "SURVEY_HOST": "localhost", "HTTP_PORT": str(self.plain),
            "HTTPS_PORT": str(self.port), "COLLECTOR": f"127.0.0.1:{collector}",
        }  # fmt: skip
        folder.mkdir(exist_ok=True)
        command = [str(CADDY), "run", "--config", str(DEPLOY / "Caddyfile"), "--adapter", "caddyfile"]
        self.output = folder / "output"
        with self.output.open("wb") as output:
            self._process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        self.trust = folder / "data" / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError, ssl.SSLError), self.connect():
                return
            assert self._process.poll() is None, self.output.read_text()
            assert time.monotonic() < deadline, "Caddy did not start"
            time.sleep(0.02)

    def connect(self) -> ssl.SSLSocket:
        """A connection whose certificate was checked."""
        context = ssl.create_default_context(cafile=self.trust)
        plain = socket.create_connection(("127.0.0.1", self.port), 30)
        try:
            return context.wrap_socket(plain, server_hostname="localhost")
        except BaseException:
            plain.close()
            raise

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(20)


@contextlib.contextmanager
def behind_caddy(folder: Path, collector: int) -> Iterator[Caddy]:
    """Caddy before a collector that listens, or will listen, on a port."""
    caddy = Caddy(folder, collector)
    try:
        yield caddy
    finally:
        caddy.close()


def without(*hidden: Path) -> list[str]:
    """Words for bwrap: folders that have nothing but the Python and the clone of the tests, where those are in them."""
    words: list[str] = []
    for hide in hidden:
        words += ["--perms", "0755", "--tmpfs", str(hide)]
        for path in sorted({Path(sys.base_prefix), Path(sys.prefix), ROOT}):
            if path.is_relative_to(hide):
                folders = [parent for parent in reversed(path.parents) if parent.is_relative_to(hide)]
                words += [word for folder in folders[1:] for word in ("--perms", "0755", "--dir", str(folder))]
                words += ["--ro-bind", str(path), str(path)]
    return words


def restricted(command: list[str], folder: Path) -> list[str]:
    """A command as the unit would run it: another user, no home, two folders to write to, no capabilities.

    The environment of the tests stands where the unit expects its own.
    """
    folders = {name: folder / name for name in ("state", "cache")}
    for path in folders.values():
        path.mkdir(exist_ok=True)
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)
    environment = [word for pair in unit()["Environment"].split() for word in ("--setenv", *pair.split("=", 1))]
    identity = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--no-new-privs"]
    return [
        str(BUBBLEWRAP), "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--clearenv",
        "--setenv", "PATH", "/usr/bin:/bin", *environment,
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *without(Path("/tmp"), Path.home()),
        "--tmpfs", "/opt", "--ro-bind", sys.prefix, "/opt/bruit",
        "--tmpfs", "/var/lib", "--bind", str(folders["state"]), "/var/lib/bruit",
        "--tmpfs", "/var/cache", "--bind", str(folders["cache"]), "/var/cache/bruit", "--remount-ro", "/opt",
        "--remount-ro", "/var/lib", "--remount-ro", "/var/cache",
        *(identity if os.geteuid() == 0 else []), *command,
    ]  # fmt: skip
