"""Commands of installed packages: listed without being imported, run by their names, and never in the place of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bruit.cli import installed
from bruit.cli.app import app

COMMAND = """
import sys
print("imported", file=sys.stderr)

def greet(name: str, loud: bool = False) -> None:
    "Greet somebody by name."
    if name == "nobody":
        from bruit.errors import DataError
        raise DataError("values must be somebody.")
    print(f"hello {name.upper() if loud else name}")
"""
GROUP = """
import typer

app = typer.Typer(help="Two commands.", no_args_is_help=True)

@app.command()
def first() -> None:
    "The first."
    print(1)

@app.command()
def second() -> None:
    "The second."
    print(2)
"""
POINTS = "[bruit.commands]\ngreet = stranger:greet\npair = strangers:app\ndata = stranger:greet\n"


@pytest.fixture
def stranger(tmp_path):
    """Run `bruit …` in an environment in which a package declares commands."""
    about = tmp_path / "site" / "stranger-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    (tmp_path / "site" / "stranger.py").write_text(COMMAND)
    (tmp_path / "site" / "strangers.py").write_text(GROUP)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "COLUMNS": "80"}

    def run(*arguments):
        command = [Path(sys.executable).with_name("bruit"), *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=120)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run


def test_an_installed_command_is_listed_without_being_imported_and_runs_as_ours_do(stranger):
    code, out, err = stranger("--help")
    assert (code, err) == (0, "")
    assert "greet      From the package stranger." in out
    assert out.count("  data  ") == 1
    assert stranger("greet", "Ann", "--loud") == (0, "hello ANN\n", "imported\n")
    code, out, err = stranger("greet", "nobody")
    assert (code, out) == (3, "")
    assert "values must be somebody." in err
    assert "Greet somebody by name." in stranger("greet", "--help")[1]
    assert stranger("pair", "second") == (0, "2\n", "")


def test_a_command_of_ours_keeps_its_name_whatever_is_installed(stranger):
    code, out, err = stranger("data", "--json")
    assert (code, err) == (0, "")
    assert '"adult"' in out


@pytest.fixture
def without_studies(monkeypatch):
    monkeypatch.setattr(installed, "points", dict)


@pytest.mark.parametrize("words", [["study"], ["study", "run", "--all"], ["tour"], ["tour", "--help"]])
def test_where_the_studies_are_missing_a_message_says_how_to_install_them(words, without_studies):
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 6
    assert "The studies are not installed with this bruit: reinstall with pip install ." in " ".join(
        ended.output.split()
    )


def test_the_list_of_commands_and_the_others_work_where_the_studies_are_missing(without_studies):
    assert "tour" in CliRunner().invoke(app, ["--help"]).output
    assert CliRunner().invoke(app, ["data", "--json"]).exit_code == 0


def test_entry_points_without_their_package_are_missing_studies_and_other_defects_are_not_hidden(monkeypatch):
    from importlib.metadata import EntryPoint

    monkeypatch.setattr(installed, "points", lambda: {"tour": EntryPoint("tour", "no_such_package.x:y", "g")})
    assert CliRunner().invoke(app, ["tour"]).exit_code == 6
    monkeypatch.setattr(installed, "points", lambda: {"tour": EntryPoint("tour", "bruit.no_such_module:y", "g")})
    assert isinstance(CliRunner().invoke(app, ["tour"]).exception, ModuleNotFoundError)
