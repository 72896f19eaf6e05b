"""The other libraries: the environment each one lives in, made when first needed.

Peers do not install beside current packages, so each environment is a virtual environment of its
own under ``.venvs/`` with pinned packages from ``bench/environments/NAME.txt``. It is made anew
when that file changes. To add a peer: a requirements file and a line in `ENVIRONMENTS` (unless one
fits), a line in `LIBRARIES`, and a worker.

    python bench/peers.py          make every environment and leave
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent


class SetupError(Exception):
    """An environment could not be made; the message says why."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment with pinned packages, and the Pythons they have wheels for."""

    name: str
    pythons: tuple[str, ...]

    @property
    def requirements(self) -> Path:
        return BENCH / "environments" / f"{self.name}.txt"

    @property
    def folder(self) -> Path:
        return ROOT / ".venvs" / self.name

    @property
    def python(self) -> Path:
        scripts = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
        return self.folder.joinpath(*scripts)


@dataclass(frozen=True)
class Library:
    """Something to measure: the worker that drives it and where that worker runs."""

    name: str
    worker: str
    environment: Environment | None = None  # None: the project's own


LDP = Environment("ldp", pythons=("3.11", "3.12"))
DIFFPRIVLIB = Environment("diffprivlib", pythons=("3.11", "3.12", "3.13"))
OPENDP = Environment("opendp", pythons=("3.11", "3.12", "3.13"))
PYDP = Environment("pydp", pythons=("3.11", "3.12"))
INTERPRET = Environment("interpret", pythons=("3.11", "3.12", "3.13"))
ENVIRONMENTS = {environment.name: environment for environment in (LDP, DIFFPRIVLIB, OPENDP, PYDP, INTERPRET)}

LIBRARIES = {
    library.name: library
    for library in (
        Library("bruit", "with_bruit.py"),
        Library("bruit fed by PCG64", "with_pcg64.py"),
        Library("multi-freq-ldpy", "with_multi_freq_ldpy.py", LDP),
        Library("pure-ldp", "with_pure_ldp.py", LDP),
        Library("diffprivlib", "with_diffprivlib.py", DIFFPRIVLIB),
        Library("OpenDP", "with_opendp.py", OPENDP),
        Library("PyDP", "with_pydp.py", PYDP),
    )
}


def interpreter(library: Library) -> Path:
    """The Python that runs a library's worker; its environment is made if need be."""
    if library.environment is None:
        return Path(sys.executable)
    return ready(library.environment)


def ready(environment: Environment) -> Path:
    """The environment's Python, made or renewed if need be; workers of one test run wait for the first."""
    environment.folder.parent.mkdir(exist_ok=True)
    with (environment.folder.parent / f".{environment.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _ready(environment)


def _ready(environment: Environment) -> Path:
    stamp = environment.folder / ".ready"
    wanted = hashlib.sha256(environment.requirements.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted and environment.python.exists():
        return environment.python
    shutil.rmtree(environment.folder, ignore_errors=True)
    _run([_suitable(environment), "-m", "venv", environment.folder], environment)
    install = [environment.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*install, "--requirement", environment.requirements], environment)
    stamp.write_text(wanted)  # last, so that an interrupted installation starts again
    return environment.python


def _suitable(environment: Environment) -> str:
    """The running Python if its version fits, otherwise one found on the path."""
    if "{}.{}".format(*sys.version_info) in environment.pythons:
        return sys.executable
    for version in environment.pythons:
        if found := shutil.which(f"python{version}"):
            return found
    wanted = " or ".join(environment.pythons)
    raise SetupError(f"The environment {environment.name} needs Python {wanted} on the path.")


def _run(command: list[str | Path], environment: Environment) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = "\n".join(done.stderr.strip().splitlines()[-3:])
        raise SetupError(f"The environment {environment.name} could not be made:\n{reason}")


if __name__ == "__main__":
    for each in ENVIRONMENTS.values():
        ready(each)
        print(f"{each.name}: ready")
