"""No public verb that takes data shows a value of it: in an error, in what led to the error, in a note or in output.

Oracles and numbers run the same law in `check_silence`, releases in `check_release`; here are all other ways in.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bruit import attacks, engines, learning, releases
from bruit.collection import METHODS, Plan
from bruit.domains import Bins, Categories, Dates, Grid, Schema
from bruit.errors import BruitError, DataError, FormatError, MissingError, in_column, translated
from bruit.learning import (
    AdditiveClassifier,
    AdditiveRegressor,
    DeclaredScaler,
    KMeans,
    LinearRegression,
    LocalNaiveBayes,
    LocalPrivatizer,
    LogisticRegression,
    NaiveBayes,
    honest_split,
    randomize_labels,
)
from bruit.numbers import Piecewise
from bruit.oracles import RandomizedResponse
from bruit.publications import Publication, Request, publish
from bruit.testing import check_canary

from ..plans import planned

#: Three rows are too few for shapes, which is said of every fit.
pytestmark = pytest.mark.filterwarnings("ignore:At this ε there are too few records")

Verb = Callable[[Any], object]

WORDS = ["no", "yes", "no"]
NUMBERS = [0.0, 0.25, 1.0]
SCHEMA = Schema({"smokes": ["no", "yes"], "age": Grid(0.0, 1.0, cells=8)})
PLANS = {
    method: planned(SCHEMA, 1.0, method, **settings)
    for method, settings in {
        "SPL[GRR]": {"mechanisms": {"age": "hybrid"}},
        "SMP[OUE]": {},
        "TAB[ADP]": {},
        "RS+FD[GRR]": {},
        "RS+RFD[OUE-r]": {"prior": {"smokes": [0.5, 0.5], "age": [0.125] * 8}},
    }.items()
} | {
    "SMP2[GRR]": Plan({**SCHEMA, "height": Grid(0.0, 1.0, cells=8)}, 1.0, "SMP2[GRR]"),
    "GRR": Plan({"smokes": ["no", "yes"]}, 1.0),
    "SMP[GRR]": Plan({"smokes": ["no", "yes", ...], "age": Grid(0, 9, outside="clamp")}, 1.0, "SMP[GRR]"),
    "hybrid": Plan({"age": Grid(0, 9)}, 1.0, "hybrid"),
}


# Controls: each of these shows a value somewhere.


def _in_its_message(column: Any) -> None:
    raise DataError(f"bad: {column!r}")


def _as_its_cause(column: Any) -> None:
    raise DataError("bad") from ValueError(column)


def _in_its_context(column: Any) -> None:
    try:
        float(str(column))
    except ValueError:
        raise DataError("bad") from None


def _far_up_its_context(column: Any) -> None:
    try:
        _in_its_context(column)
    except DataError:
        raise DataError("worse") from None


def _in_a_note(column: Any) -> None:
    error = DataError("bad")
    error.add_note(f"the column was {column!r}")
    raise error


def _in_an_attribute(column: Any) -> None:
    error = DataError("bad")
    error.column = column  # type: ignore[attr-defined]
    raise error


def _in_the_bytes_of_a_decoding_error(column: Any) -> None:
    str(column).encode().hex()
    (str(column).encode() + b"\xff").decode()


def _in_a_group(column: Any) -> None:
    raise ExceptionGroup("bad", [DataError("fine"), DataError(str(column))])


def _in_a_warning(column: Any) -> None:
    import warnings

    warnings.warn(f"strange: {column!r}", stacklevel=2)


def _in_a_log(column: Any) -> None:
    import logging

    logging.getLogger("bruit").debug("reading %r", column)


def _printed(column: Any) -> None:
    print(column, file=sys.stderr)


def _returned(column: Any) -> str:
    return f"done: {column!r}"


@pytest.mark.parametrize(
    "shows",
    [
        _in_its_message,
        _as_its_cause,
        _in_its_context,
        _far_up_its_context,
        _in_a_note,
        _in_an_attribute,
        _in_the_bytes_of_a_decoding_error,
        _in_a_group,
        _in_a_warning,
        _in_a_log,
        _printed,
        _returned,
    ],
)
def test_a_verb_that_shows_a_value_breaks_the_law(shows: Verb) -> None:
    with pytest.raises(AssertionError, match=r"A person's value .* is shown by"):
        check_canary(shows, [1])


def test_a_translated_error_keeps_nothing_of_the_one_before_it() -> None:
    def verb(column: Any) -> None:
        with translated(Exception, lambda _: DataError("a column must hold numbers.")):
            [float(value) for value in column]

    assert check_canary(verb, NUMBERS) is None


def test_a_translated_error_is_the_one_that_was_asked_for() -> None:
    explain = partial(_named, DataError)
    with pytest.raises(DataError, match=r"^a ValueError was raised\.$") as caught, translated(ValueError, explain):
        float("Vesoul")
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


def _named(kind: type[BruitError], error: Exception) -> BruitError:
    return kind(f"a {type(error).__name__} was raised.")


def test_an_error_of_ours_is_translated_where_it_is_named() -> None:
    explain = partial(_named, FormatError)
    with pytest.raises(FormatError, match="DataError") as caught, translated((KeyError, DataError), explain):
        _fails_with_ours()
    assert caught.value.__context__ is None


def test_an_error_about_data_says_in_which_column_it_arose() -> None:
    with pytest.raises(MissingError, match=r"^Column 'age': some are missing\.$"), in_column("age"):
        raise MissingError("some are missing.")


def test_an_error_of_ours_passes_a_translation_without_what_led_to_it() -> None:
    with pytest.raises(DataError, match="ours") as caught, translated(ValueError, lambda _: DataError("other")):
        _fails_with_ours()
    assert caught.value.__context__ is None


def _fails_with_ours() -> None:
    try:
        float("Vesoul")
    except ValueError:
        raise DataError("ours") from None


def test_an_error_of_another_kind_passes_a_translation_as_it_is() -> None:
    with pytest.raises(KeyError), translated(ValueError, lambda _: DataError("other")):
        _ = {}["absent"]


# Every way in. A verb takes one column; the others of its table are good.


def _frame(column: Any, library: Any = pd) -> Any:
    """A frame of the column, or of good numbers where the library cannot make one: what it then says is not ours."""
    try:
        return library.DataFrame({"x": column})
    except Exception:
        return library.DataFrame({"x": NUMBERS})


def _rows(column: Any) -> list[list[Any]]:
    return [[value] for value in column]


def _beside(column: Any, values: list[Any]) -> list[Any]:
    """As many good values as the column has entries."""
    size = len(column) if hasattr(column, "__len__") else 1
    return (values * (size + 1))[:size]


def _classes(column: Any) -> list[int]:
    return _beside(column, [0, 1])


def _numbers_of(column: Any) -> Any:
    return _beside(column, NUMBERS)


def _of_plans() -> Iterator[tuple[str, Verb, list[Any]]]:
    for method, plan in PLANS.items():
        for name in plan.schema:
            good = WORDS if name == "smokes" else NUMBERS
            others = {other: WORDS if other == "smokes" else NUMBERS for other in plan.schema if other != name}

            def table(column: Any, name: str = name, others: dict[str, Any] = others) -> dict[str, Any]:
                return {name: column} | {other: _beside(column, values) for other, values in others.items()}

            yield f"{method} privatizes {name}", lambda column, p=plan, t=table: p.privatize(t(column)), good
            yield (
                f"the schema of {method} encodes {name}",
                lambda column, p=plan, t=table: p.schema.encode(t(column)),
                good,
            )
        for name, form in plan.records.empty_reports(0).items():
            others = {other: column for other, column in plan.records.empty_reports(0).items() if other != name}
            good = np.zeros((1, *form.shape[1:]), form.dtype).tolist()
            yield f"{method} counts {name}", lambda column, p=plan, n=name, o=others: p.tally({**o, n: column}), good
        yield f"{method} simulates", lambda column, p=plan: p.simulate(dict.fromkeys(p.schema, column)), [1, 1]


def _of_frames() -> Iterator[tuple[str, Verb, list[Any]]]:
    for good in (WORDS, NUMBERS):
        yield f"a schema from {good}", lambda column: Schema.from_frame({"x": column}), good
        yield f"a schema from a frame of {good}", lambda column: Schema.from_frame(_frame(column)), good
        yield f"a schema from polars of {good}", lambda column: Schema.from_frame(_frame(column, pl)), good


def _of_models() -> Iterator[tuple[str, Verb, list[Any]]]:
    models = {
        "NaiveBayes": (
            NaiveBayes(epsilon=1.0, bounds=(0, 1), classes=[0, 1]),
            NaiveBayes(epsilon=1.0, bounds={"x": (0, 1)}, classes=[0, 1]),
            _classes,
        ),
        "LinearRegression": (
            LinearRegression(epsilon=1.0, bounds=(0, 1), target_bounds=(0, 1)),
            LinearRegression(epsilon=1.0, bounds={"x": (0, 1)}, target_bounds=(0, 1)),
            _numbers_of,
        ),
        "AdditiveClassifier": (
            AdditiveClassifier(epsilon=10.0, bounds=(0, 1), classes=[0, 1]),
            AdditiveClassifier(epsilon=10.0, bounds={"x": (0, 1)}, classes=[0, 1]),
            _classes,
        ),
        "LogisticRegression": (
            LogisticRegression(epsilon=10.0, bounds=(0, 1), classes=[0, 1]),
            LogisticRegression(epsilon=10.0, bounds={"x": (0, 1)}, classes=[0, 1]),
            _classes,
        ),
        "AdditiveRegressor": (
            AdditiveRegressor(epsilon=10.0, bounds=(0, 1), target_bounds=(0, 1)),
            AdditiveRegressor(epsilon=10.0, bounds={"x": (0, 1)}, target_bounds=(0, 1)),
            _numbers_of,
        ),
        "KMeans": (
            KMeans(2, epsilon=1.0, bounds=(0, 1)),
            KMeans(2, epsilon=1.0, bounds={"x": (0, 1)}),
            lambda column: None,
        ),
        "DeclaredScaler": (
            DeclaredScaler(bounds=(0, 1)),
            DeclaredScaler(bounds={"x": (0, 1)}),
            lambda column: None,
        ),
        "LocalPrivatizer": (
            LocalPrivatizer(epsilon=1.0, bounds=(0, 1)),
            LocalPrivatizer(epsilon=1.0, bounds={"x": Grid(0, 1)}),
            lambda column: None,
        ),
    }
    for name, (of_arrays, of_names, target) in models.items():
        yield f"{name} fits rows", lambda column, m=of_arrays, t=target: m.fit(_rows(column), t(column)), NUMBERS
        yield (
            f"{name} fits an array",
            lambda column, m=of_arrays, t=target: m.fit(np.array(_rows(column)), t(column)),
            NUMBERS,
        )
        yield f"{name} fits a mapping", lambda column, m=of_names, t=target: m.fit({"x": column}, t(column)), NUMBERS
        yield (
            f"{name} fits a mapping without bounds by name",
            lambda column, m=of_arrays, t=target: m.fit({"x": column}, t(column)),
            NUMBERS,
        )
        yield (
            f"{name} fits a frame",
            lambda column, m=of_names, t=target: m.fit(_frame(column), t(column)),
            NUMBERS,
        )
        yield from _of_fitted(name, of_arrays, of_names, target(NUMBERS))


def _of_categories() -> Iterator[tuple[str, Verb, list[Any]]]:
    """The model of categories alone: what it learns from, and what it is asked."""
    model = LocalNaiveBayes(epsilon=1.0, bounds={"x": sorted(set(WORDS))}, classes=[0, 1])
    tables = {"a mapping": lambda column: {"x": column}, "a frame": _frame, "rows": _rows}
    for kind, table in tables.items():
        fit = lambda column, table=table: model.fit(table(column), [0] * len(column))  # noqa: E731 -- one of many
        yield f"LocalNaiveBayes fits {kind}", fit, WORDS
        ask = lambda column, table=table: model.fit({"x": WORDS}, [0] * len(WORDS)).predict(table(column))  # noqa: E731
        yield f"LocalNaiveBayes predicts {kind}", ask, WORDS


def _of_fitted(name: str, of_arrays: Any, of_names: Any, target: Any) -> Iterator[tuple[str, Verb, list[Any]]]:
    from sklearn.base import clone

    for kind, model, table in (
        ("rows", clone(of_arrays), _rows),
        ("a mapping", clone(of_names), lambda column: {"x": column}),
        ("a frame", clone(of_names), _frame),
    ):
        for verb in ("predict", "predict_proba", "transform", "score"):
            if hasattr(model, verb):

                def use(column: Any, model: Any = model, verb: str = verb, table: Any = table) -> object:
                    if not hasattr(model, "guarantee_"):
                        model.fit(table(NUMBERS), target)
                    arguments = (
                        (table(column), _beside(column, target)) if verb == "score" and target else (table(column),)
                    )
                    return getattr(model, verb)(*arguments)

                yield f"{name}.{verb} of {kind}", use, NUMBERS


def _scored(model: Any, target: list[Any]) -> Verb:
    from sklearn.base import clone

    fitted = clone(model).fit(_rows(NUMBERS), target)
    return lambda column: fitted.score(_rows(_numbers_of(column)), column)


def _of_targets() -> Iterator[tuple[str, Verb, list[Any]]]:
    bayes = NaiveBayes(epsilon=1.0, bounds=(0, 1), classes=[0, 1])
    line = LinearRegression(epsilon=1.0, bounds=(0, 1), target_bounds=(0, 1))
    glass = AdditiveClassifier(epsilon=10.0, bounds=(0, 1), classes=[0, 1])
    models = (("NaiveBayes", bayes, [0, 1, 1]), ("LinearRegression", line, NUMBERS), ("Additive", glass, [0, 1, 1]))
    for name, model, good in models:
        yield f"{name} with targets", lambda column, m=model: m.fit(_rows(_numbers_of(column)), column), good
        yield f"{name} scored with targets", _scored(model, good), good
        yield (
            f"{name} with targets by name",
            lambda column, m=model: m.fit({"x": _numbers_of(column), "y": column}, "y"),
            good,
        )
    yield (
        "KMeans, whose targets nobody needs",
        lambda column: KMeans(2, epsilon=1.0, bounds=(0, 1)).fit(_rows(_numbers_of(column)), column),
        NUMBERS,
    )
    yield "labels are randomised", lambda column: randomize_labels(column, epsilon=1.0, classes=[0, 1]), [0, 1]
    privatizer = LocalPrivatizer(epsilon=1.0, bounds=(0, 1))
    yield (
        "an honest split of labels",
        lambda column: honest_split(_rows(_numbers_of(column)), column, privatizer, classes=[0, 1], epsilon=1.0),
        [0, 1, 0, 1],
    )
    yield (
        "an honest split of features",
        lambda column: honest_split(_rows(column), _classes(column), privatizer, classes=[0, 1], epsilon=1.0),
        NUMBERS,
    )


def _published(column: Any) -> object:
    """A publication of a table, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        plan = Publication(
            "T", "t", [Request("mean", "mean", "x=0..1")], 1.0, Path("l"), budget={"epsilon": 1.0}, page=False,
            folder=Path(folder),
        )  # fmt: skip
        return publish(plan, {"x": column})


def _of_releases() -> Iterator[tuple[str, Verb, list[Any]]]:
    bounded: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 1)}
    words = releases.Histogram("x", domain=["no", "yes"], epsilon=1.0)
    yield "a count", lambda column: releases.release({"x": column}, releases.Count(epsilon=1.0)), NUMBERS
    yield "a histogram", lambda column: releases.release({"x": column}, words), WORDS
    crossed = releases.Tables({"x": ["no", "yes"], "y": ["no", "yes"]}, epsilon=1.0)
    yield "tables", lambda column: releases.release({"x": column, "y": _beside(column, WORDS)}, crossed), WORDS
    for kind in (releases.Sum, releases.Mean, releases.Variance, releases.Median):
        statistic = kind("x", **bounded)
        yield f"a {statistic.name}", lambda column, s=statistic: releases.release({"x": column}, s), NUMBERS
    yield "bounds", lambda column: releases.release({"x": column}, releases.PowerBounds("x", epsilon=1.0)), NUMBERS
    weights: dict[str, Any] = {"weight": "x", "bounds": (0, 1), "weight_bounds": (0, 1), "epsilon": 1.0}
    weighted = releases.WeightedMean("x", **weights)
    yield "a weighted mean", lambda column: releases.release({"x": column}, weighted), NUMBERS
    days = releases.Median("x", bounds=Dates("2023-01-01", "2023-12-31"), epsilon=1.0)
    dates = ["2023-01-02", "2023-05-01", "2023-07-01"]
    yield "a median of dates", lambda column: releases.release({"x": column}, days), dates
    yield "a publication", _published, NUMBERS
    grouped = releases.Release(releases.Mean("x", bounds=(0, 1), epsilon=1.0), by={"group": ["no", "yes"]})
    yield "groups", lambda column: grouped.fold({"group": column, "x": _numbers_of(column)}), WORDS
    yield "grouped numbers", lambda column: grouped.fold({"group": _beside(column, WORDS), "x": column}), NUMBERS

    def session() -> Any:
        return releases.AboveThreshold(threshold=3, epsilon=1.0).start()

    yield "answers against a threshold", lambda column: session().first(column), [1, 2]
    yield "an answer against a threshold", lambda column: session().ask(column), [1]


def _of_attacks() -> Iterator[tuple[str, Verb, list[Any]]]:
    oracle, plan = RandomizedResponse(epsilon=1.0, labels=["no", "yes"]), PLANS["RS+FD[GRR]"]

    def table(column: Any) -> dict[str, Any]:
        return {"smokes": column, "age": _numbers_of(column)}

    yield "a guess", lambda column: attacks.guess(oracle, column), WORDS
    yield "the best guess", lambda column: attacks.best_guess(oracle, column), [0, 1]
    yield "the sampled attribute", lambda column: attacks.sampled_attribute(plan, table(column)), WORDS
    yield (
        "its posterior",
        lambda column: attacks.sampled_posterior(plan, {"smokes": column, "age": _classes(column)}),
        [0, 1],
    )
    yield "re-identification", lambda column: attacks.reidentification([PLANS["SMP[OUE]"]], table(column)), WORDS


def _written(column: Any, folder: Path, name: str) -> Path:
    """A column in a file of its own, as far as files of this kind can hold it."""
    path = folder / name
    values = list(column) if hasattr(column, "__len__") else [column]
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"x": pa.array(values)}), path)
        return path
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([["x"], *([value] for value in values)])
    raw = text.getvalue().encode("utf-8", "surrogateescape" if name.startswith("broken") else "replace")
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def _of_sources(folder: Path) -> Iterator[tuple[str, Verb, list[Any]]]:
    def sources(column: Any) -> dict[str, Callable[[], Any]]:
        return {
            "a mapping": lambda: {"x": column},
            "batches": lambda: iter([{"x": column}]),
            "pandas": lambda: pd.DataFrame({"x": column}),
            "polars": lambda: pl.DataFrame({"x": column}),
            "polars, strictly": lambda: pl.DataFrame({"x": column}, strict=False),
            "pyarrow": lambda: pa.table({"x": pa.array(column)}),
            "a CSV file": lambda: _written(column, folder, "t.csv"),
            "a packed file": lambda: _written(column, folder, "t.csv.gz"),
            "a stream": lambda: io.BytesIO(_written(column, folder, "t.csv").read_bytes()),
            "a Parquet file": lambda: _written(column, folder, "t.parquet"),
            "the names of a CSV file": lambda: _unnamed(column, folder),
        }

    def read(kind: str, use: Callable[[Any], object]) -> Verb:
        def verb(column: Any) -> object:
            try:
                source = sources(column)[kind]()
            except Exception:  # such a source there cannot be; what the other library says is not ours
                return None
            return use(source)

        return verb

    words, number = RandomizedResponse(epsilon=1.0, labels=["no", "yes"]), Piecewise(epsilon=1.0, bounds=(0, 1))
    for kind in sources([]):
        for name, design, good, reports in (("words", words, WORDS, [0, 1]), ("numbers", number, NUMBERS, [0, 1])):
            yield (
                f"{name} of {kind} are privatized",
                read(kind, lambda source, d=design: Plan({"x": d}).privatize(source)),
                good,
            )
            yield (
                f"reports on {name} of {kind} are counted",
                read(kind, lambda source, d=design: Plan({"x": d}).tally(source)),
                reports,
            )
        yield f"{kind} is read", read(kind, lambda source: list(engines.batches(source))), WORDS


def _unnamed(column: Any, folder: Path) -> Path:
    """A file without a line of names: the first person's answers stand in its place."""
    path = _written(column, folder, "unnamed.csv")
    path.write_bytes(path.read_bytes().removeprefix(b"x\r\n"))
    return path


def _of_columns() -> Iterator[tuple[str, Verb, list[Any]]]:
    """One column in the form of every library."""
    kinds: dict[str, Callable[[Any], Any]] = {
        "pandas": pd.Series,
        "pandas' own text": lambda column: pd.Series(column, dtype="string"),
        "polars": lambda column: pl.Series(column, strict=False),
        "pyarrow": pa.array,
        "a generator": iter,
    }
    for kind, make in kinds.items():
        for name, domain, good in (
            ("labels", Categories(labels=["no", "yes"]), WORDS),
            ("codes", Categories(k=4, missing="category"), [0, 3]),
            ("numbers", Grid(0, 1), NUMBERS),
            ("bins", Bins([0, 1, 2]), NUMBERS),
        ):

            def verb(column: Any, domain: Any = domain, make: Any = make) -> object:
                try:
                    values = make(column)
                except Exception:  # such a column there cannot be
                    return None
                return domain.encode(values)

            yield f"{name} from {kind}", verb, good


CASES = [
    *_of_plans(),
    *_of_frames(),
    *_of_models(),
    *_of_categories(),
    *_of_targets(),
    *_of_releases(),
    *_of_attacks(),
    *_of_columns(),
]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("verb", "good"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_no_value_escapes(verb: Verb, good: list[Any]) -> None:
    assert check_canary(verb, good) is None


SOURCES = [case[0] for case in _of_sources(Path())]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("place", range(len(SOURCES)), ids=SOURCES)
def test_no_value_escapes_from_a_source(place: int, tmp_path: Path) -> None:
    _, verb, good = list(_of_sources(tmp_path))[place]
    assert check_canary(verb, good) is None


def test_every_model_that_learns_is_among_those_that_are_checked() -> None:
    searches = {"GridSearchCV", "RandomizedSearchCV"}  # of scikit-learn, which fit these models
    public = {name for name in learning.__all__ if hasattr(getattr(learning, name), "fit")} - searches
    assert all(any(case[0].startswith(f"{name} fits") for case in CASES) for name in public)


def test_every_method_for_several_attributes_is_among_those_that_are_checked() -> None:
    assert {plan.method.kind for plan in PLANS.values()} == {*METHODS, "one"}
