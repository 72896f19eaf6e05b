"""The files of deploy/: every command in them parses, nothing runs as root, and nobody keeps a log of who came."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from bruit.cli.app import app

from ..surveys import ALCOHOL
from .caddy import BUBBLEWRAP, CADDY, DEPLOY, unit, unit_command, without

needs_caddy = pytest.mark.skipif(CADDY is None, reason="Caddy is not on PATH (on Debian: caddy)")
ANALYZE = shutil.which("systemd-analyze")


def compose() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def commands() -> list[list[str]]:
    """The words behind `bruit` of every command in the folder."""
    lines = []
    for name in ("debian.sh", "containers.sh"):
        text = (DEPLOY / name).read_text(encoding="utf-8").replace("\\\n", " ")
        lines += [line for line in text.splitlines() if not line.startswith("#") and " survey open " in line]
    words = [shlex.split(line) for line in lines]
    scripts = [line[line.index("survey") :] for line in words]
    containers = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    (image,) = re.findall(r"^CMD \[(.*)\]$", containers, re.MULTILINE)
    return [
        unit_command("localhost")[1:], *scripts, [word.strip(' "') for word in image.split(",")],
        compose()["services"]["collector"]["command"],
    ]  # fmt: skip


def parse(words: list[str]) -> None:
    """Parse a command without running it."""
    command: Any = typer.main.get_command(app)
    context, rest = None, words
    while True:
        context = command.make_context(rest[0] if rest else "bruit", list(rest), parent=context)
        if not hasattr(command, "commands"):
            return
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        assert command is not None, name


def test_every_command_in_the_files_is_one_of_the_command_line() -> None:
    found = commands()
    assert len(found) == 5
    for words in found:
        assert words[:2] == ["survey", "open"]
        parse(words)
    with pytest.raises(Exception, match="No such option"):
        parse([*found[0], "--no-such-option"])


def test_every_command_names_the_same_store_and_only_a_proxy_may_speak_for_clients() -> None:
    *served, image, containers = commands()
    for words in served:
        assert words[words.index("--proxy") + 1] in ("127.0.0.1", "10.203.87.2")
    inner = compose()["services"]["caddy"]["networks"]["inner"]["ipv4_address"]
    assert f"--proxy={inner}" in containers
    assert "--store=/data/surveys.sqlite" in containers
    assert image[image.index("--store") + 1] == "/data/surveys.sqlite"


def test_no_container_runs_as_root_or_writes_outside_its_volumes() -> None:
    file = compose()
    for service in file["services"].values():
        assert service["user"] == "10001:10001"
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["restart"] == "unless-stopped"
        assert service["security_opt"] == ["no-new-privileges:true"]
    assert "ports" not in file["services"]["collector"]
    assert file["services"]["collector"]["networks"] == ["inner"]
    assert file["networks"]["inner"]["internal"] is True
    stages = re.split(r"(?m)^FROM ", (DEPLOY / "Containerfile").read_text(encoding="utf-8"))[1:]
    finals = [stage for stage in stages if not re.match(r"\S+ AS build", stage)]
    assert len(finals) == 2
    for stage in finals:
        assert re.findall(r"(?m)^USER (.*)$", stage) == ["10001:10001"]
    assert "/health" in finals[0]


@needs_caddy
def test_caddy_takes_its_settings_and_keeps_no_log() -> None:
    settings = str(DEPLOY / "Caddyfile")
    environment = {**os.environ, "SURVEY_HOST": "survey.example.org"}
    words = [str(CADDY), "adapt", "--config", settings, "--adapter", "caddyfile"]
    adapted = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
    assert adapted.count('"writer"') == 1
    assert '"writer":{"output":"discard"}' in adapted.replace(" ", "")
    assert '"disabled":true' in adapted  # its interface for changes
    assert '"logs"' not in re.sub(r'"logging":\{"logs"', "", adapted.replace(" ", ""))  # of requests
    formatted = subprocess.run([str(CADDY), "fmt", settings], capture_output=True, text=True, check=True).stdout
    assert formatted == (DEPLOY / "Caddyfile").read_text(encoding="utf-8")


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not on PATH (on Debian: systemd)")
def test_systemd_takes_the_unit_and_finds_it_well_protected(tmp_path) -> None:
    text = (DEPLOY / "bruit.service").read_text(encoding="utf-8")
    path = tmp_path / "bruit.service"
    path.write_text(text.replace("/opt/bruit/bin/bruit", "/bin/true"), encoding="utf-8")
    checked = subprocess.run([str(ANALYZE), "verify", str(path)], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
    # An exposure of 2.0 of 10 at most; a unit without restrictions has 9.6.
    words = [str(ANALYZE), "security", "--offline=true", "--threshold=20", str(path)]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0
    path.write_text("[Service]\nExecStart=/bin/true\n", encoding="utf-8")
    assert subprocess.run(words, capture_output=True, check=False).returncode != 0


def test_the_unit_restarts_and_is_another_user() -> None:
    service = unit()
    assert (service["User"], service["Restart"]) == ("bruit", "always")
    assert (service["ProtectSystem"], service["StateDirectory"]) == ("strict", "bruit")


@pytest.mark.parametrize("script", ["debian.sh", "containers.sh"])
def test_a_script_parses_and_refuses_the_name_of_the_example(script, tmp_path) -> None:
    survey = tmp_path / "survey.toml"
    survey.write_text("")
    assert subprocess.run(["sh", "-n", str(DEPLOY / script)], check=False).returncode == 0
    refused = subprocess.run(["sh", str(DEPLOY / script), str(survey)], capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "Edit deploy/host.env first" in refused.stderr
    nameless = subprocess.run(["sh", str(DEPLOY / script)], capture_output=True, text=True, check=False)
    assert nameless.returncode == 1
    assert "Name a survey file" in nameless.stderr


@pytest.mark.skipif(os.geteuid() != 0 or BUBBLEWRAP is None, reason="needs root and bwrap, for an /etc of its own")
def test_the_script_for_debian_ends_with_a_link_and_files_in_their_places(tmp_path) -> None:
    """On an /etc of its own and empty folders; installing packages and starting services are noted only."""
    clone, etc, programs, calls = (tmp_path / name for name in ("clone", "etc", "programs", "calls"))
    shutil.copytree(DEPLOY, clone / "deploy")
    (clone / "deploy" / "host.env").write_text("SURVEY_HOST=survey.example.net\n")
    (clone / "class.toml").write_text(ALCOHOL, encoding="utf-8")
    (etc / "caddy").mkdir(parents=True)
    (etc / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (etc / "group").write_text("root:x:0:\n")
    (etc / "caddy" / "Caddyfile").write_text("# of Debian\n")
    for name in ("apt-get", "systemctl", "python"):
        program = programs / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\necho {name} "$@" >> /mnt/calls/all\n')
        program.chmod(0o755)
    (programs / "bruit").symlink_to(f"{sys.prefix}/bin/bruit")
    calls.mkdir()
    done = subprocess.run(
        [
            str(BUBBLEWRAP), "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
            "--bind", str(etc), "/etc", "--tmpfs", "/var/lib", "--tmpfs", "/var/cache", "--tmpfs", "/var/log",
            "--tmpfs", "/mnt", "--ro-bind", str(clone), "/mnt/clone", "--bind", str(calls), "/mnt/calls",
            "--tmpfs", "/opt", "--perms", "0755", "--dir", "/opt/bruit", "--ro-bind", str(programs), "/opt/bruit/bin",
            *without(Path.home(), Path("/tmp")),
            "--setenv", "PATH", "/opt/bruit/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "sh", "/mnt/clone/deploy/debian.sh", "/mnt/clone/class.toml",
        ],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "answer:   https://survey.example.net/s/class\n" in done.stdout
    assert re.search(r"results:  https://survey.example.net/s/class/results\?token=\w{26}\n", done.stdout)
    assert (etc / "bruit" / "host.env").read_text() == "SURVEY_HOST=survey.example.net\n"
    assert (etc / "caddy" / "Caddyfile").read_bytes() == (DEPLOY / "Caddyfile").read_bytes()
    assert (etc / "caddy" / "Caddyfile.before-bruit").read_text() == "# of Debian\n"
    assert (etc / "systemd" / "system" / "bruit.service").exists()
    noted = (calls / "all").read_text().splitlines()
    assert noted == [
        "apt-get install --yes --no-install-recommends python3-venv caddy",
        "python -m pip install --quiet --upgrade /mnt/clone/deploy/..[collector]",
        "systemctl daemon-reload",
        "systemctl enable --quiet bruit.service caddy.service",
        "systemctl restart bruit.service caddy.service",
    ]
