"""Ask pip-audit whether installed packages have known vulnerabilities, and say plainly where that could not be asked.

Run by ``make audit-dependencies``, with the Python of an environment that has pip-audit:
``python tools/audit_dependencies.py FOLDER``, where the folder has the packages to look at (site-packages).

It ends with 0 if nothing is known against them, and also, with a line that begins with "not run", if no service could
be reached or none of the packages is known there: pip-audit itself calls that "no known vulnerabilities". It ends with
1 if there are findings, and with another code if pip-audit failed for another reason.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, NamedTuple

#: What pip-audit and the libraries below it say if a service cannot be reached.
NO_NETWORK = (
    "Failed to connect",
    "ConnectionError",
    "ConnectTimeout",
    "ReadTimeout",
    "Max retries exceeded",
    "NameResolutionError",
    "ProxyError",
    "SSLError",
    "ServiceError",
)
#: How long to wait, in seconds.
PATIENCE = 600


class Verdict(NamedTuple):
    """The code to end with, and what to say."""

    code: int
    lines: list[str]


def verdict(code: int, out: str, err: str) -> Verdict:
    """What the output of ``pip-audit --format json`` means."""
    packages = _packages(out)
    if packages is None:
        reason = next(
            (line.strip() for line in err.splitlines()[::-1] if any(sign in line for sign in NO_NETWORK)), None
        )
        if reason is not None:
            return Verdict(0, [f"not run: the vulnerability service cannot be reached ({reason[:200]})"])
        return Verdict(code or 2, [*err.splitlines()[-5:], "pip-audit failed: see above."])
    checked = [package for package in packages if "vulns" in package]
    skipped = [package["name"] for package in packages if "vulns" not in package]
    if not checked:
        return Verdict(0, [f"not run: the vulnerability service knows none of the {len(packages)} packages"])
    lines = [
        f"{package['name']} {package['version']}: {finding['id']}, mended in {_mended(finding)}"
        for package in checked
        for finding in package["vulns"]
    ]
    lines += [f"not checked, because the service does not know them: {', '.join(skipped)}"] if skipped else []
    found = sum(bool(package["vulns"]) for package in checked)
    return Verdict(1 if found else 0, [*lines, f"{len(checked)} packages checked, {found} with known vulnerabilities"])


def _packages(out: str) -> list[dict[str, Any]] | None:
    try:
        packages: list[dict[str, Any]] = json.loads(out)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return None
    return packages


def _mended(finding: dict[str, Any]) -> str:
    return ", ".join(finding.get("fix_versions") or ["no version yet"])


def main(folder: str) -> int:
    """Run pip-audit over a folder of packages, and print what it means."""
    options = ["--path", folder, "--skip-editable", "--format", "json", "--progress-spinner", "off"]
    command = [sys.executable, "-m", "pip_audit", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        print(f"not run: the vulnerability service did not answer within {PATIENCE} seconds")
        return 0
    code, lines = verdict(done.returncode, done.stdout, done.stderr)
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
