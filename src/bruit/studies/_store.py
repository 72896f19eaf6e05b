"""Where results are kept: a folder per study and size, which grows while trials are made.

Finished trials are written in parts, each whole or not at all, and a manifest says what they belong to. When all are
there, the parts become one file, ``results.parquet``, with the rows in the order of the trials: the same bytes however
often the work was interrupted and however many processes did it.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bruit import __version__, documents
from bruit.errors import DesignError, FormatError
from bruit.studies.results import RESERVED, Results, as_column
from bruit.studies.study import Size, Study

#: The format of the manifest.
FORMAT = "bruit.study/1"

Row = dict[str, Any]


class Store:
    """The folder of one study at one size."""

    def __init__(self, folder: Path, study: Study, size: Size) -> None:
        self.folder = folder / study.name / size
        self.study, self.size = study, size

    def open(self, seed: int, *, restart: bool) -> None:
        """Make the folder ready for trials with this seed; what another definition or seed left is refused."""
        if restart:
            shutil.rmtree(self.folder, ignore_errors=True)
        manifest = self.manifest()
        if manifest is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write_manifest(seed, "running", {})
        elif manifest["definition"] != self.study.definition(self.size) or manifest["seed"] != seed:
            what = (
                "of another definition of this study" if manifest["seed"] == seed else f"with seed {manifest['seed']}"
            )
            raise DesignError(
                f"{self.folder} has results {what}. Begin again with --restart, or name another folder.",
                expected=self.study.definition(self.size),
                actual=manifest["definition"],
            )

    def manifest(self) -> dict[str, Any] | None:
        """What the folder says of itself; None where nothing was run."""
        try:
            text = (self.folder / "manifest.json").read_bytes()
        except FileNotFoundError:
            return None
        return documents.unseal(text, FORMAT)

    def done(self) -> set[int]:
        """The places of all finished trials."""
        return {int(place) for file in self._files() for place in _read(file, ["trial"])["trial"].to_numpy()}

    def add(self, rows: Iterable[Row]) -> None:
        """Keep the rows of some finished trials."""
        _write(self.folder / f"part-{secrets.token_hex(8)}.parquet", list(rows))

    def finish(self, seed: int, skipped: Mapping[str, int]) -> None:
        """Make one file of all parts, in order."""
        parts = self._files()
        if parts:
            with documents.replacing(self.folder / "results.parquet") as partial:
                pq.write_table(self._table(parts), partial, compression="zstd")
        self._write_manifest(seed, "complete", skipped)
        for file in parts:
            if file.name != "results.parquet":
                file.unlink(missing_ok=True)

    def results(self) -> Results | None:
        """All results; None where the study was not run to its end, or as another definition."""
        manifest = self.manifest()
        if manifest is None or manifest["state"] != "complete":
            return None
        if manifest["definition"] != self.study.definition(self.size):
            return None
        files = self._files()
        columns = _columns(self._table(files)) if files else {}
        trials = len(set(columns["trial"].tolist())) if files else 0
        return Results(self.study.name, columns, self.size, manifest["seed"], trials, manifest["skipped"])

    def _table(self, files: Sequence[Path]) -> pa.Table:
        """All rows in the order of the trials; a trial that stands in two files counts once."""
        seen: set[int] = set()
        kept = []
        for file in files:
            table = _read(file)
            places = table["trial"].to_numpy().astype(int)
            kept.append(table.filter(pa.array([place not in seen for place in places.tolist()])))
            seen |= set(places.tolist())
        try:
            whole = pa.concat_tables(kept, promote_options="default")
        except pa.ArrowException:
            raise FormatError(
                f"A metric of {self.study.name!r} is a text in some trials and a number in others."
            ) from None
        factors = [name for block in self.study.blocks(self.size) for name in block.factors]
        first = dict.fromkeys([*RESERVED, *factors])
        order = [*(name for name in first if name in whole.column_names), *sorted({*whole.column_names} - {*first})]
        return whole.select(order).sort_by([("trial", "ascending"), ("row", "ascending")]).combine_chunks()

    def _files(self) -> list[Path]:
        whole = self.folder / "results.parquet"
        return [*([whole] if whole.exists() else []), *sorted(self.folder.glob("part-*.parquet"))]

    def _write_manifest(self, seed: int, state: str, skipped: Mapping[str, int]) -> None:
        body = {
            "study": self.study.name,
            "version": self.study.version,
            "size": self.size,
            "seed": seed,
            "definition": self.study.definition(self.size),
            "trials": len(self.study.trials(self.size)),
            "state": state,
            "skipped": dict(sorted(skipped.items())),
            "bruit": __version__,
        }
        documents.write_text(self.folder / "manifest.json", documents.seal(FORMAT, body, indent=2) + "\n")


def _write(path: Path, rows: Sequence[Row]) -> None:
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: as_column([row.get(name) for row in rows]) for name in names}
    # A column without any value has no type yet: another part gives it one.
    table = pa.table({name: pa.array(values) for name, values in columns.items() if not _is_empty(values)})
    with documents.replacing(path) as partial:
        pq.write_table(table, partial, compression="zstd")


def _read(path: Path, names: Sequence[str] | None = None) -> pa.Table:
    try:
        return pq.read_table(path, columns=names, partitioning=None)
    except (OSError, pa.ArrowException):
        raise FormatError(f"{path} is damaged: begin again with --restart.") from None


def _columns(table: pa.Table) -> dict[str, NDArray[Any]]:
    columns = {name: table[name] for name in table.column_names}
    return {
        name: column.to_numpy() if pa.types.is_floating(column.type) else as_column(column.to_pylist())
        for name, column in columns.items()
    }


def _is_empty(values: NDArray[Any]) -> bool:
    return bool(np.isnan(values).all()) if values.dtype != object else False
