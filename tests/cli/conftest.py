"""Running the command line as a user does, in a process of its own or in this one."""

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass
class Ended:
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(tmp_path, capfd, monkeypatch):
    """Run `bruit …` in this process, in an empty folder, perhaps with something on standard input."""
    from bruit.cli.app import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def go(*arguments, code=0, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["bruit", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        ended = 0
        try:
            main()
        except SystemExit as stop:
            ended = int(stop.code or 0)
        found = Ended(ended, *capfd.readouterr())
        assert code is None or found.code == code, found
        return found

    return go


@pytest.fixture
def shell(tmp_path):
    """Run `bruit …` in a process of its own, for what is not the same in this one; it takes a hundred times as long."""

    def go(*arguments, stdin=None, env=None):
        done = subprocess.run(
            [Path(sys.executable).with_name("bruit"), *map(str, arguments)],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "80", **(env or {})},
            timeout=120,
            check=False,
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    return go


@pytest.fixture
def survey(tmp_path):
    """A CSV of 3,000 answers, of which a third is yes."""
    path = tmp_path / "answers.csv"
    path.write_text("name,smokes\n" + "\n".join(f"p{i},{'yes' if i % 3 == 0 else 'no'}" for i in range(3000)) + "\n")
    return path
