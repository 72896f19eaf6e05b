"""What a run found: a table for the terminal, Markdown and JSON for the record.

The machine is described by what matters for speed; no host name, user or path is written. That is
why the reasons of failures, which may hold paths, are shown on the terminal only.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

HEADINGS = (
    "library",
    "mechanism",
    "side",
    "k",
    "people",
    "M people/s",
    "bruit is",
    "promised",
    "peak MiB",
)


@dataclass(frozen=True)
class Row:
    """One library at one case, beside bruit's row of the same case (None for bruit itself)."""

    library: str
    mechanism: str
    side: str
    k: int
    ours: Row | None = None
    promise: float | None = None
    trouble: str = ""
    missing: bool = False  #: whether the library could not be installed
    attempts: int = 1
    n: int = 0
    seconds: list[float] = field(default_factory=list)
    peak_bytes: int = 0
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def rate(self) -> float | None:
        """People per second in the best repetition."""
        return self.n / min(self.seconds) if self.seconds else None

    @property
    def ratio(self) -> float | None:
        """How many times bruit's rate is this one's."""
        if self.ours is None or self.ours.rate is None or self.rate is None:
            return None
        return self.ours.rate / self.rate

    @property
    def kept(self) -> bool | None:
        """Whether the promise is kept (unmeasured ones are not); None where nothing is promised."""
        if self.promise is None:
            return None
        return self.ratio is not None and self.ratio >= self.promise

    def cells(self) -> tuple[str, ...]:
        if self.rate is None:
            figures = ("", "not installed" if self.missing else "failed", "", self._promised(), "")
        else:
            figures = (
                f"{self.n:,}",
                _short(self.rate / 1e6),
                "" if self.ratio is None else f"{_short(self.ratio)} ×",
                self._promised(),
                f"{self.peak_bytes / 2**20:.0f}",
            )
        return (self.library, self.mechanism, self.side, str(self.k), *figures)

    def _promised(self) -> str:
        if self.promise is None:
            return ""
        if self.missing or (self.ours is not None and self.ours.missing):
            return f"≥ {self.promise:g} ×, NOT MEASURED"
        again = f" in {self.attempts} attempts" if self.attempts > 1 else ""
        return f"≥ {self.promise:g} ×, {'met' if self.kept else 'NOT MET'}{again}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "library": self.library,
            "mechanism": self.mechanism,
            "side": self.side,
            "k": self.k,
            "n": self.n,
            "seconds": self.seconds,
            "people_per_second": self.rate,
            "ratio": self.ratio,
            "promise": self.promise,
            "kept": self.kept,
            "installed": not self.missing,
            "attempts": self.attempts,
            "peak_bytes": self.peak_bytes,
        }


def document(rows: Iterable[Row], *, quick: bool) -> dict[str, Any]:
    """Everything about a run, as plain values."""
    rows = list(rows)
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": quick,
        "machine": machine(),
        "versions": {row.library: row.versions for row in rows if row.versions},
        "kept": all(row.kept is not False for row in rows),
        "rows": [row.to_dict() for row in rows],
    }


def machine() -> dict[str, Any]:
    """The processor and the system, without names of hosts or people."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def show(result: dict[str, Any], rows: list[Row]) -> None:
    """The table on the terminal."""
    table = Table(title="bruit beside other libraries, one core", caption=_caption(result))
    for heading in HEADINGS:
        figures = heading not in ("library", "mechanism", "side", "promised")
        table.add_column(heading, justify="right" if figures else "left", no_wrap=not figures)
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        style = {True: "green", False: "bold red", None: ""}[row.kept]
        last = following is None or following.ours is None
        table.add_row(*row.cells(), style=style, end_section=last)
    # Redirected into a file, a table must not be folded to 80 columns.
    console = Console()
    console = console if console.is_terminal else Console(width=120)
    console.print(table)
    for trouble in _troubles(rows):
        console.print(trouble, style="red", markup=False)
    console.print(_verdict(rows), style="bold")


def save(result: dict[str, Any], rows: list[Row], folder: Path) -> None:
    """`latest.json` and `latest.md`."""
    folder.mkdir(exist_ok=True)
    (folder / "latest.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    lines = ["# bruit beside other libraries, one core", "", _caption(result), ""]
    lines += ["| " + " | ".join(HEADINGS) + " |", "|" + " --- |" * len(HEADINGS)]
    lines += ["| " + " | ".join(row.cells()) + " |" for row in rows]
    lines += ["", _verdict(rows), ""]
    for library, versions in result["versions"].items():
        lines.append(f"- {library}: " + ", ".join(f"{k} {v}" for k, v in versions.items()))
    (folder / "latest.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _caption(result: dict[str, Any]) -> str:
    about = result["machine"]
    quick = ", quick run" if result["quick"] else ""
    return f"{about['cpu']}, {about['cores']} cores, {about['system']}, {result['when']}{quick}"


def _verdict(rows: list[Row]) -> str:
    promised = [row for row in rows if row.promise is not None]
    kept = sum(bool(row.kept) for row in promised)
    absent = sorted({row.library for row in rows if row.missing})
    missing = sum(row.missing for row in promised)
    left_out = f" {missing} could not be measured: {', '.join(absent)} could not be installed." if missing else ""
    return f"Promises kept: {kept} of {len(promised)}.{left_out}"


def _troubles(rows: list[Row]) -> list[str]:
    """Why rows were not measured, each reason once."""
    return list(dict.fromkeys(f"{row.library}: {row.trouble}" for row in rows if row.trouble))


def _short(number: float) -> str:
    """Three digits that mean something."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def _cpu() -> str:
    """The processor's name; Linux keeps it in a file, others in `platform`."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
