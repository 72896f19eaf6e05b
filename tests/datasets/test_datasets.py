"""The bundled data sets are what they say: rows, order, types, domains, origin and terms."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import hashlib
import importlib.util
import lzma
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bruit import datasets
from bruit.datasets import dataset as module
from bruit.datasets import reading
from bruit.domains import Categories, Grid
from bruit.errors import (
    DataError,
    FormatError,
    MissingExtraError,
    ParameterError,
    ParameterTypeError,
)

ROOT = Path(__file__).parents[2]
FILES = ROOT / "src" / "bruit" / "datasets" / "_files"
#: A folder of independent copies that may stand beside the repository.
COPIES = ROOT.parent / "shared" / "data"
BUNDLED = ("adult", "nursery", "diabetes", "iris", "acs_employment")
ACS = datasets.entries()["acs_employment"]

needs_copies = pytest.mark.skipif(
    not COPIES.is_dir(), reason="independent copies (../shared/data) are not on this machine"
)


@pytest.fixture(params=BUNDLED)
def data(request: pytest.FixtureRequest) -> datasets.Dataset:
    return datasets.load(request.param)


@pytest.fixture
def acs_file(tmp_path: Path) -> Path:
    """A small made-up file with the right columns, in another order than the catalogue's."""
    names = [column.name for column in reversed(ACS.columns)]
    path = tmp_path / "acs_employment_NY_2018.csv.gz"
    lines = [",".join(names), ",".join("1" * 18), ",".join("2" * 18), ""]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def _copy(path: Path) -> tuple[list[str], list[list[str]]]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    header, *rows = csv.reader(text.splitlines())
    return header, rows


def _equal_row_for_row(data: datasets.Dataset, path: Path) -> bool:
    header, rows = _copy(path)
    assert list(data.columns) == header
    for name, cells in zip(header, zip(*rows, strict=True), strict=True):
        text = data[name].dtype.kind == "O"
        wanted = [None if c == "?" else c for c in cells] if text else [*map(float, cells)]
        if data[name].tolist() != wanted:
            return False
    return len(rows) == len(data)


def test_names_are_those_of_the_catalogue() -> None:
    assert datasets.names == tuple(datasets.entries())
    assert set(BUNDLED) == {e.name for e in datasets.entries().values() if e.bundled}


def test_a_set_has_the_rows_and_columns_that_its_entry_states(data: datasets.Dataset) -> None:
    entry = datasets.entries()[data.name]
    assert len(data) == entry.rows
    assert data.columns == tuple(data) == data.keys() == tuple(c.name for c in entry.columns)
    assert {len(data[name]) for name in data} == {entry.rows}


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        (
            "adult",
            "age workclass fnlwgt education education-num marital-status occupation relationship "
            "race sex capital-gain capital-loss hours-per-week native-country income",
        ),
        ("nursery", "parents has_nurs form children housing finance social health class"),
        (
            "diabetes",
            "Pregnancies Glucose BloodPressure SkinThickness Insulin BMI DiabetesPedigreeFunction Age Outcome",
        ),
        ("iris", "sepal_length sepal_width petal_length petal_width species"),
    ],
)
def test_columns_are_named_as_published(name: str, columns: str) -> None:
    assert datasets.load(name).columns == tuple(columns.split())


def test_numbers_are_int64_or_float64_and_texts_are_objects(data: datasets.Dataset) -> None:
    dtypes = {"text": np.dtype(object), "whole": np.dtype(np.int64), "real": np.dtype(np.float64)}
    for column in data.entry.columns:
        assert data[column.name].dtype == dtypes[column.kind]


def test_every_value_lies_in_its_declared_domain(data: datasets.Dataset) -> None:
    codes = data.schema.encode(data)
    assert {len(column) for column in codes.values()} == {len(data)}


def test_encoding_loses_nothing_but_the_fineness_of_a_grid(data: datasets.Dataset) -> None:
    for name, codes in data.schema.encode(data).items():
        domain = data.schema[name].domain
        decoded = domain.decode(codes)
        if isinstance(domain, Grid):
            exact = name != "fnlwgt"
            assert np.abs(decoded - data[name]).max() <= (1e-9 if exact else domain.step / 2)
        else:
            gaps = np.array([value is None for value in data[name].tolist()])
            assert (decoded[~gaps] == data[name][~gaps]).all()


def test_a_value_outside_the_declared_domain_would_be_found(data: datasets.Dataset) -> None:
    for attribute in data.schema.values():
        text = isinstance(attribute.domain, Categories) and isinstance(attribute.labels[0], str)
        stranger = "of another kind" if text else 10_000_000
        with pytest.raises(DataError):
            attribute.encode([stranger])


def test_categories_are_declared_without_looking_at_the_rows() -> None:
    source = (ROOT / "src" / "bruit" / "datasets" / "catalogue.py").read_text(encoding="utf-8")
    assert not any(word in source for word in ("read_bytes", "open(", "unique", "_files", "reading"))


def test_texts_have_no_padding_no_mark_for_missing_and_no_final_dot(data: datasets.Dataset) -> None:
    for name in data:
        if data[name].dtype.kind == "O":
            texts = set(data[name].tolist()) - {None}
            assert all(t == t.strip() and t != "?" and not t.endswith(".") for t in texts)


def test_adult_has_its_published_split_and_gaps() -> None:
    adult = datasets.load("adult")
    assert (len(adult.train), len(adult.test)) == (32_561, 16_281)
    assert adult.train["age"][0] == 39
    assert adult.test["age"][0] == 25
    assert np.concatenate([adult.train["fnlwgt"], adult.test["fnlwgt"]]).tolist() == (adult["fnlwgt"].tolist())
    gaps = {name: np.array([v is None for v in adult[name].tolist()]) for name in adult}
    with_gaps = {name for name in adult if gaps[name].any()}
    assert with_gaps == {"workclass", "occupation", "native-country"}
    assert sum(gaps.values()).astype(bool).sum() == 3_620
    complete = ~np.logical_or.reduce(list(gaps.values()))
    assert (complete[:32_561].sum(), complete[32_561:].sum()) == (30_162, 15_060)


def test_missing_is_a_category_exactly_where_adult_has_gaps() -> None:
    schema = datasets.load("adult").schema
    policies = {name for name, item in schema.items() if item.domain.missing == "category"}
    assert policies == {"workclass", "occupation", "native-country"}


def test_nursery_is_the_full_product_in_published_order() -> None:
    nursery = datasets.load("nursery")
    codes = nursery.schema.encode(nursery)
    sizes = [nursery.schema[name].size for name in nursery.columns[:-1]]
    places = np.ravel_multi_index([codes[name].astype(int) for name in nursery.columns[:-1]], sizes)
    assert places.tolist() == list(range(12_960))


def test_diabetes_keeps_the_zeros_that_its_notes_count() -> None:
    diabetes = datasets.load("diabetes")
    zeros = {name: int((diabetes[name] == 0).sum()) for name in diabetes.columns[1:6]}
    expected = [5, 35, 227, 374, 11]
    assert list(zeros.values()) == expected
    assert all(f"{name} ({count})" in diabetes.notes for name, count in zeros.items())
    assert np.bincount(diabetes["Outcome"]).tolist() == [500, 268]


def test_iris_has_fishers_values_where_another_copy_errs() -> None:
    iris = datasets.load("iris")
    table = np.column_stack([iris[name] for name in iris.columns[:4]])
    assert table[34].tolist() == [4.9, 3.1, 1.5, 0.2]
    assert table[37].tolist() == [4.9, 3.6, 1.4, 0.1]
    assert table.sum(axis=0).round(1).tolist() == [876.5, 458.6, 563.7, 179.9]


@needs_copies
@pytest.mark.parametrize(
    ("name", "copy"),
    [
        ("adult", "adult.csv.gz"),
        ("nursery", "nursery.csv"),
        ("diabetes", "diabetes.csv"),
        ("iris", "iris.csv"),
        ("acs_employment", "acs_employment_MT_2018.csv.gz"),
    ],
)
def test_a_bundled_set_equals_an_independent_copy_row_for_row(name: str, copy: str) -> None:
    assert _equal_row_for_row(datasets.load(name), COPIES / copy)


@needs_copies
def test_the_comparison_with_a_copy_notices_another_order() -> None:
    adult = datasets.load("adult")
    turned = dataclasses.replace(adult, _table={name: adult[name][::-1] for name in adult})
    assert not _equal_row_for_row(turned, COPIES / "adult.csv.gz")


@needs_copies
def test_a_file_of_employment_is_read_whole_in_the_place_of_the_bundled_one() -> None:
    path = COPIES / "acs_employment_MT_2018.csv.gz"
    data = datasets.load("acs_employment", path=path)
    assert _equal_row_for_row(data, path)
    assert data.checksum == hashlib.sha256(path.read_bytes()).hexdigest()


def test_employment_has_the_people_and_sizes_of_the_paper() -> None:
    data = datasets.load("acs_employment")
    assert int((data["ESR"] == 1).sum()) == 4_707
    sizes = [92, 25, 5, 2, 2, 9, 4, 5, 5, 4, 2, 18, 2, 2, 3, 9, 3, 6]
    assert [len(set(data[name].tolist())) for name in data] == sizes


def test_the_checksum_is_that_of_the_bundled_file(data: datasets.Dataset) -> None:
    packed = (FILES / f"{data.name}.csv.xz").read_bytes()
    assert data.checksum == data.entry.checksum == hashlib.sha256(packed).hexdigest()


@pytest.mark.audit(share=3)
def test_a_bundled_file_that_was_changed_is_refused(data: datasets.Dataset) -> None:
    packed = (FILES / f"{data.name}.csv.xz").read_bytes()
    text = lzma.decompress(packed)
    changed = lzma.compress(text.replace(b"1", b"2", 1))
    for wrong in (changed, packed[:-1], b""):
        with pytest.raises(FormatError, match="Install bruit again"):
            module._verified(data.entry, wrong)


def test_every_bundled_file_has_its_source_and_terms_in_the_readme() -> None:
    readme = (FILES / "README.md").read_text(encoding="utf-8")
    bundled = sorted(path.name for path in FILES.glob("*.xz"))
    assert bundled == sorted(f"{name}.csv.xz" for name in BUNDLED)
    assert all(readme.count(f"| `{name}` |") == 2 for name in bundled)


def test_every_entry_states_source_terms_and_what_to_cite() -> None:
    for entry in datasets.entries().values():
        assert all([entry.title, entry.source, entry.licence, entry.citation, entry.notes])
        assert all(column.meaning for column in entry.columns)


def test_a_set_is_loaded_once_and_its_arrays_cannot_be_changed(data: datasets.Dataset) -> None:
    assert datasets.load(data.name) is data
    for name in data:
        with pytest.raises(ValueError, match="read-only"):
            data[name][0] = data[name][1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.part = "test"  # type: ignore[misc]


def test_a_set_behaves_like_a_mapping_of_columns(data: datasets.Dataset) -> None:
    plain = dict(data)
    assert tuple(plain) == data.columns
    assert all(plain[name] is data[name] for name in data)
    assert data.columns[0] in data
    assert "no such column" not in data


def test_an_unknown_column_is_refused_with_the_known_ones(data: datasets.Dataset) -> None:
    with pytest.raises(ParameterError, match=f"column must be one of '{data.columns[0]}'"):
        data["no such column"]


@pytest.mark.parametrize("name", ["nursery", "diabetes", "iris", "acs_employment"])
def test_a_set_without_a_published_split_says_so(name: str) -> None:
    with pytest.raises(ParameterError, match="no published split"):
        datasets.load(name).train  # noqa: B018


def test_a_part_cannot_be_split_again() -> None:
    with pytest.raises(ParameterError, match="'adult', train, 32,561 rows"):
        datasets.load("adult").train.test  # noqa: B018


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_the_same_columns_values_and_gaps(data: datasets.Dataset, backend: module.Backend) -> None:
    pytest.importorskip(backend)
    import narwhals

    native = data.to_frame(backend)
    assert type(native).__module__.split(".")[0] == backend
    frame = narwhals.from_native(native, eager_only=True)
    assert frame.columns == list(data.columns)
    for name in data:
        gaps = frame[name].is_null().to_list()
        values = [None if gap else v for gap, v in zip(gaps, frame[name].to_list(), strict=True)]
        assert values == data[name].tolist()


def test_changing_a_frame_leaves_the_data_as_they_are() -> None:
    pytest.importorskip("pandas")
    iris = datasets.load("iris")
    frame = iris.to_frame("pandas")
    frame.loc[0, "petal_width"] = 99.0
    assert iris["petal_width"][0] == 0.2


def test_the_default_frame_is_of_the_first_library_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("pandas")
    iris = datasets.load("iris")
    assert type(iris.to_frame()).__module__.startswith("pandas")
    monkeypatch.setattr("bruit.tables.table.importlib.util.find_spec", lambda name: name if name == "pyarrow" else None)
    assert type(iris.to_frame()).__module__.startswith("pyarrow")
    with pytest.raises(MissingExtraError, match=r"bruit\[polars\]"):
        iris.to_frame("polars")


def test_an_unknown_kind_of_frame_is_refused() -> None:
    with pytest.raises(ParameterError, match="backend must be one of 'pandas'"):
        datasets.load("iris").to_frame("excel")  # type: ignore[arg-type]


def test_the_description_names_every_column_and_the_terms(data: datasets.Dataset) -> None:
    text = data.describe().text(width=None)
    assert all(f"\n{name} " in text for name in data)
    assert data.licence in text
    assert data.checksum in text
    assert f"{len(data):,} rows" in text
    assert max(map(len, data.describe().text(width=80).splitlines())) <= 80


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="name must be one of 'adult', 'nursery'"):
        datasets.load("adults")
    with pytest.raises(ParameterTypeError, match="name must be one of"):
        datasets.load(3)  # type: ignore[arg-type]


def test_a_path_is_refused_for_a_bundled_set(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="it is bundled"):
        datasets.load("iris", path=tmp_path)


def test_a_file_of_another_state_is_read_plain_or_packed(acs_file: Path) -> None:
    plain = acs_file.with_name("mine.csv")
    plain.write_bytes(gzip.decompress(acs_file.read_bytes()))
    for path in (acs_file, plain, str(plain)):
        data = datasets.load("acs_employment", path=path)
        assert data.columns == tuple(column.name for column in ACS.columns)
        assert data["RELP"].tolist() == [1, 2]


def test_a_file_of_another_state_that_is_absent_says_what_to_do(tmp_path: Path) -> None:
    words = r"There is no file .*bundled table.*18 columns.*docs/reference/datasets\.md"
    with pytest.raises(ParameterError, match=words):
        datasets.load("acs_employment", path=tmp_path)


def _acs_text(first: str = "1", *, width: int = 18, names: int = 18) -> bytes:
    header = ",".join(column.name for column in ACS.columns[:names])
    return f"{header}\n{','.join([first, *['1'] * (width - 1)])}\n".encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must have the columns AGEP, SCHL"),
        (_acs_text(names=17, width=17), "must have the columns AGEP, SCHL"),
        (_acs_text(width=17), "must have 18 cells"),
        (_acs_text().splitlines()[0], "must have rows"),
        (_acs_text("secret"), "column AGEP must hold whole numbers"),
        (_acs_text("1.5"), "column AGEP must hold whole numbers"),
        (_acs_text("nan"), "column AGEP must hold whole numbers"),
        (_acs_text("inf"), "column AGEP must hold whole numbers"),
        (_acs_text(str(2**70)), "column AGEP must hold whole numbers"),
        (gzip.compress(_acs_text(), mtime=0)[:-12], "must be CSV in UTF-8"),
        (gzip.compress(_acs_text(), mtime=0)[:12] + b"damage" * 9, "must be CSV in UTF-8"),
        (lzma.compress(_acs_text())[:-12], "must be CSV in UTF-8"),
        (b"\xff\xfe\x00", "must be CSV in UTF-8"),
        (_acs_text('"' + "1" * 200_000 + '"'), "must be CSV"),
    ],
)
def test_a_file_that_is_not_the_table_is_refused_without_showing_a_value(
    content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message) as caught:
        datasets.load("acs_employment", path=path)
    assert "secret" not in str(caught.value)
    assert "11111" not in str(caught.value)


def test_whole_numbers_written_as_floats_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv.xz"
    path.write_bytes(lzma.compress(b"\xef\xbb\xbf" + _acs_text("61.0")))
    assert datasets.load("acs_employment", path=path)["AGEP"].tolist() == [61]


def test_loading_imports_no_library_of_frames_or_models() -> None:
    code = (
        "import sys; from bruit import datasets; datasets.load('adult').describe(); "
        "print(*{'pandas', 'polars', 'pyarrow', 'sklearn', 'numba', 'narwhals'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_largest_set_is_read_in_a_fraction_of_a_second() -> None:
    packed = (FILES / "adult.csv.xz").read_bytes()
    seconds = []
    for _ in range(3):
        start = time.process_time()
        reading.read(datasets.entries()["adult"], packed)
        seconds.append(time.process_time() - start)
    # About 0.18 s; the bound leaves room for a slower machine, not for another way of reading.
    assert min(seconds) < 0.6


def test_the_build_script_packs_the_bundled_texts_the_same_way_each_time() -> None:
    path = ROOT / "tools" / "build_datasets.py"
    if not path.exists():
        pytest.skip("the build script does not travel with this copy of the tests")
    spec = importlib.util.spec_from_file_location("build_datasets", path)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = tool
    spec.loader.exec_module(tool)
    assert [(table.name, table.rows) for table in (*tool.TABLES, tool.ACS)] == [
        (name, datasets.entries()[name].rows) for name in BUNDLED
    ]
    for name in ("diabetes", "iris"):
        text = lzma.decompress((FILES / f"{name}.csv.xz").read_bytes()).decode()
        assert tool.pack(text) == tool.pack(text)
        assert lzma.decompress(tool.pack(text)).decode() == text
