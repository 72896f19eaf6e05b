"""Build wheel and sdist, check them, and use the wheel as a stranger would: in empty environments, outside the clone.

    python tools/check_dist.py dist

Fails if the metadata contradict the project, if a file is missing, left over or too large, if a link of the README
leads nowhere in the sdist, or if what the README shows does not run: without extras, and with all of them.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from configparser import ConfigParser
from email.parser import HeaderParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The largest wheel and sdist, in MiB: data sets are the most of it.
LARGEST = {".whl": 4, ".gz": 8}
#: What a wheel and an sdist must have besides code, and what neither may have.
NEEDED = (
    "bruit/py.typed",
    "bruit_studies/py.typed",
    "sample.mjs",
    "house.css",
    "base.html.j2",
    "LICENSE",
    "bruit_studies/_recorded/attack.csv",
    "bruit_studies/templates/report.html.j2",
)
LEFT_OVER = re.compile(r"(^|/)(__pycache__|\.venvs?|_site|\.git)(/|$)|\.(pyc|nbi|nbc|orig|rej)$")
#: The exit code of a command whose extra is not installed.
NO_EXTRA = 6


def main(folder: Path) -> None:
    """Build into the folder, and check."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("bruit-*.whl"), *folder.glob("bruit-*.tar.gz")):
        old.unlink()
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    files = sorted(folder.glob("bruit-*"))
    run(sys.executable, "-m", "twine", "check", "--strict", *files)
    for file in files:
        check(file)
    wheel = next(file for file in files if file.suffix == ".whl")
    check_metadata(wheel)
    check_links(next(file for file in files if file.suffix == ".gz"))
    with tempfile.TemporaryDirectory() as elsewhere:
        use(wheel, Path(elsewhere))
        use_all(wheel, Path(elsewhere))
    print(f"{', '.join(file.name for file in files)}: built, checked, and used without extras and with all.")


def check(file: Path) -> None:
    """Size, the files that must be there, and those that must not."""
    size = file.stat().st_size / 2**20
    if size > LARGEST[file.suffix]:
        sys.exit(f"{file.name} has {size:.1f} MiB, more than {LARGEST[file.suffix]}.")
    names = contents(file)
    missing = [name for name in NEEDED if not any(f"/{entry}".endswith(f"/{name}") for entry in names)]
    if missing:
        sys.exit(f"{file.name} lacks {', '.join(missing)}.")
    left = [name for name in names if LEFT_OVER.search(name)]
    if left:
        sys.exit(f"{file.name} has {left[0]}, which does not belong there.")


def contents(file: Path) -> list[str]:
    """The names of the files in a wheel or an sdist."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return wheel.namelist()
    with tarfile.open(file) as archive:
        return archive.getnames()


def check_metadata(wheel: Path) -> None:
    """The wheel says what the project says: name, version, licence, Python, extras, README and entry points."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(name).decode())
        points = ConfigParser(delimiters="=")
        points.read_string(archive.read(name.replace("METADATA", "entry_points.txt")).decode())
    version = re.search(r'__version__ = "(.*)"', (ROOT / "src/bruit/__init__.py").read_text(encoding="utf-8"))
    citation = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    expected = {
        "Name": [project["name"]],
        "Version": [version and version[1]],
        "Requires-Python": [project["requires-python"]],
        "License-Expression": [project["license"]],
        "License-File": project["license-files"],
        "Classifier": sorted(project["classifiers"]),
        "Provides-Extra": sorted(project["optional-dependencies"]),
    }
    for field, values in expected.items():
        if sorted(metadata.get_all(field, [])) != values:
            sys.exit(f"{wheel.name}: {field} is {metadata.get_all(field)}, not {values}.")
    if citation is None or citation[1] != metadata["Version"]:
        sys.exit(f"CITATION.cff and {wheel.name} are of different versions.")
    if str(metadata.get_payload()).strip() != readme.strip():
        sys.exit(f"{wheel.name} has another README.")
    for group, commands in {"console_scripts": project["scripts"], **project["entry-points"]}.items():
        if not points.has_section(group) or dict(points[group]) != commands:
            sys.exit(f"{wheel.name} lacks entry points of the group {group}.")


def check_links(sdist: Path) -> None:
    """Whatever the README links to is in the sdist."""
    names = {name.partition("/")[2] for name in contents(sdist)}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    paths = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", readme) if "://" not in link]
    dead = [path for path in paths if path not in names]
    if not paths or dead:
        sys.exit(f"{sdist.name} lacks what the README links to: {', '.join(dead) or 'nothing'}.")


def use(wheel: Path, folder: Path) -> None:
    """The tour and what the README shows, in an empty environment without extras."""
    scripts = environment(folder / "plain", str(wheel))
    place = folder / "work"
    place.mkdir()
    run(scripts / "bruit", "--version", cwd=place)
    run(scripts / "bruit", "tour", cwd=place, stdout=subprocess.DEVNULL)
    run(scripts / "bruit", "study", "run", "warner", cwd=place, stdout=subprocess.DEVNULL)
    run(scripts / "python", "-c", readme_example(), cwd=place, stdout=subprocess.DEVNULL)
    (place / "answers.csv").write_text("smokes\n" + "no\nyes\nno\n" * 200, encoding="utf-8")
    for command in readme_commands():
        run(scripts / command[0], *command[1:], cwd=place, stdout=subprocess.DEVNULL)
    # A command that needs an extra names it.
    run(scripts / "bruit", "survey", "demo", "--check", cwd=place, code=NO_EXTRA, stderr=subprocess.DEVNULL)


def use_all(wheel: Path, folder: Path) -> None:
    """The tour with its figures, and every part of a survey, in an empty environment with all extras."""
    scripts = environment(folder / "all", f"bruit[all] @ {wheel.as_uri()}")
    place = folder / "more"
    place.mkdir()
    run(scripts / "bruit", "tour", cwd=place, stdout=subprocess.DEVNULL)
    if not (place / "bruit-tour" / "tour.html").is_file():
        sys.exit("The tour wrote no page, though all extras are installed.")
    run(scripts / "bruit", "study", "run", "variance", cwd=place, stdout=subprocess.DEVNULL)
    run(scripts / "bruit", "study", "report", cwd=place, stdout=subprocess.DEVNULL)
    run(scripts / "bruit", "survey", "demo", "--check", cwd=place, stdout=subprocess.DEVNULL)


def environment(folder: Path, requirement: str) -> Path:
    """The folder of programs of a new environment that has nothing but this, which must fit together."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement, cwd=folder)
    run(python, "-m", "pip", "check", "--quiet", cwd=folder, stdout=subprocess.DEVNULL)
    return python.parent


def readme_commands() -> list[list[str]]:
    """The commands of the README that work on a file of answers."""
    lines = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if " answers.csv " in line]
    if not lines:
        sys.exit("The README has no command on a file.")
    return [shlex.split(part) for line in lines for part in line.split("&&")]


def readme_example() -> str:
    """The first Python example of the README."""
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    if example is None:
        sys.exit("The README has no Python example.")
    return example[1]


def run(*command: object, code: int = 0, **settings: object) -> None:
    """Run a command; end where it does not end with this code."""
    done = subprocess.run([str(part) for part in command], check=False, **settings)  # type: ignore[call-overload] # noqa: S603 -- our own commands
    if done.returncode != code:
        sys.exit(f"This ended with code {done.returncode}, not {code}: {' '.join(map(str, command[:5]))}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve())
