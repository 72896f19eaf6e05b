"""A survey in a file, stores to keep it in, and a cluster of PostgreSQL where one is installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bruit.collector import Store, open_store
from bruit.collector.open_survey import OpenSurvey

from ..survey.conftest import chromium, collector, visit  # noqa: F401 -- fixtures, for the page of results
from ..surveys import ALCOHOL, HEALTH, opened_in


@pytest.fixture
def survey_file(tmp_path: Path) -> Path:
    """A survey with a sensitive question and one that is sent in clear."""
    path = tmp_path / "alcohol.toml"
    path.write_text(ALCOHOL, encoding="utf-8")
    return path


@pytest.fixture
def several_file(tmp_path: Path) -> Path:
    """A survey with two sensitive questions."""
    path = tmp_path / "health.toml"
    path.write_text(HEALTH, encoding="utf-8")
    return path


@pytest.fixture
def opened() -> Callable[..., OpenSurvey]:
    """Open a survey file in a store."""
    return opened_in


def _binaries() -> Path | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return folders[-1].parent if folders else None


def _other_user() -> str | None:
    """PostgreSQL does not run as root: another user, where this is root."""
    if os.geteuid():
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """The address of a database server of its own in a temporary folder, without network."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed (on Debian: postgresql)")
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'bruit[postgresql]'")
    folder = Path(tempfile.mkdtemp(prefix="bruit-pg-"))
    user = _other_user()
    if user is not None:
        shutil.chown(folder, user)

    def run(*command: str) -> None:
        identity = {} if user is None else {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
        environment = {**os.environ, "HOME": str(folder), "LC_ALL": "C"}
        subprocess.run(command, check=True, capture_output=True, cwd=folder, env=environment, **identity)

    data = str(folder / "data")
    settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c deadlock_timeout=200ms"
    run(str(binaries / "initdb"), "-D", data, "-U", "bruit", "--auth=trust", "-E", "UTF8")
    run(str(binaries / "pg_ctl"), "-D", data, "-w", "-l", str(folder / "log"), "-o", settings, "start")
    try:
        yield f"postgresql:///postgres?host={folder}&user=bruit"
    finally:
        run(str(binaries / "pg_ctl"), "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def database(cluster: str) -> str:
    """The address of an empty database."""
    import psycopg

    name = f"test_{os.getpid()}_{os.urandom(4).hex()}"
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return cluster.replace("/postgres?", f"/{name}?")


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "surveys.sqlite")
    return str(request.getfixturevalue("database"))


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """An empty store of each kind."""
    store = open_store(address)
    yield store
    store.disconnect()
