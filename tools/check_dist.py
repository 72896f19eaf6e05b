"""Build wheel and sdist, check them, and use the wheel as a stranger would: in an empty environment, outside the clone.

    python tools/check_dist.py dist

Fails if the metadata is wrong, if a file is missing or too large, or if the tour or the README's first example fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The largest wheel and sdist, in MiB: data sets are the most of it.
LARGEST = {".whl": 4, ".gz": 8}
#: What a wheel must have besides code.
NEEDED = ("py.typed", "sample.mjs", "house.css", "LICENSE")


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
    with tempfile.TemporaryDirectory() as elsewhere:
        use(wheel, Path(elsewhere))
    print(f"{', '.join(file.name for file in files)}: built, checked, installed without extras and used.")


def check(file: Path) -> None:
    """Size, and the files that must be there."""
    size = file.stat().st_size / 2**20
    if size > LARGEST[file.suffix]:
        sys.exit(f"{file.name} has {size:.1f} MiB, more than {LARGEST[file.suffix]}.")
    if file.suffix == ".whl":
        names = zipfile.ZipFile(file).namelist()
    else:
        with tarfile.open(file) as archive:
            names = archive.getnames()
    missing = [name for name in NEEDED if not any(Path(entry).name == name for entry in names)]
    if missing:
        sys.exit(f"{file.name} lacks {', '.join(missing)}.")


def use(wheel: Path, folder: Path) -> None:
    """The tour and the README's first example, in an empty environment without extras."""
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=folder)
    run(python, "-m", "bruit", "tour", cwd=folder, stdout=subprocess.DEVNULL)
    run(python, "-c", readme_example(), cwd=folder, stdout=subprocess.DEVNULL)


def readme_example() -> str:
    """The first Python example of the README."""
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    if example is None:
        sys.exit("The README has no Python example.")
    return example[1]


def run(*command: object, **settings: object) -> None:
    """Run a command; end where it fails."""
    if subprocess.run([str(part) for part in command], check=False, **settings).returncode:  # type: ignore[call-overload] # noqa: S603 -- our own commands
        sys.exit(f"This failed: {' '.join(map(str, command[:4]))}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve())
