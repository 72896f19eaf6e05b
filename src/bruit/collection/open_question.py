"""One open question in files: the column of answers, its mechanism, and the document beside the reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bruit import documents, engines
from bruit.collection import files
from bruit.collection.design import report_column
from bruit.domains import OpenText, Schema
from bruit.domains.codes import Codes
from bruit.engines.batch import clean_name
from bruit.engines.sources import Source
from bruit.entropy import Randomness, Words
from bruit.errors import (
    BruitError,
    DataError,
    DataTypeError,
    FormatError,
    ParameterError,
    ParameterTypeError,
    translated,
)
from bruit.laws import Form
from bruit.open_answers import FrequentAnswers, HeavyHitters, OpenReports
from bruit.privacy.guarantee import Guarantee
from bruit.tables import Described
from bruit.typing import SourceLike

#: What stands in a document that this version cannot read.
_RULE = "This document does not describe an open question that this version knows."


@dataclass(frozen=True)
class OpenQuestion(Described):
    """An open question to one column of a table: reports go to a file, and frequent answers come from files.

    Parameters
    ----------
    name
        The column of answers, and of reports.
    mechanism
        `HeavyHitters`, with its ε.

    Guarantee
    ---------
    That of the mechanism, for one report of a person. A second report costs as much again.

    Examples
    --------
    >>> question = OpenQuestion("why", HeavyHitters(epsilon=2.0))
    >>> reports = question.privatize({"why": ["homework", "noise"]}, rng=7)
    >>> question.count(reports).n
    2
    """

    name: str
    mechanism: HeavyHitters

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, HeavyHitters):
            raise ParameterTypeError("mechanism must be HeavyHitters.")
        if not isinstance(self.name, str) or not clean_name(self.name):
            raise ParameterError("name must be the name of a column.")
        object.__setattr__(self, "name", clean_name(self.name))

    @property
    def form(self) -> dict[str, Form]:
        """The dtype and bytes of the column of reports, by its name."""
        return {self.name: self.mechanism.form}

    @property
    def guarantee(self) -> Guarantee:
        """What one report promises of a whole record: it is all that leaves a person, as in a plan of one question."""
        return replace(self.mechanism.guarantee, neighbours="person")

    # What commands ask of any plan.

    #: Nothing is sent in clear, and nobody is asked again.
    public: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    repeat: ClassVar[None] = None

    @property
    def schema(self) -> dict[str, OpenText]:
        """The one column, and how its texts are read."""
        return {self.name: self.mechanism.domain}

    @property
    def mechanisms(self) -> dict[str, HeavyHitters]:
        """What makes the column private."""
        return {self.name: self.mechanism}

    # What people do.

    def encode(self, table: SourceLike) -> Codes:
        """Codes of the answers in anything whose columns are read by ``table[name]``."""
        return self.mechanism.encode(Schema(self.schema).columns(table)[self.name])

    def randomize(self, codes: Codes, words: Words) -> dict[str, NDArray[Any]]:
        """The column of reports; block i of these people uses up part i of the words."""
        return {self.name: self.mechanism.randomize(codes, words)}

    def privatize(self, source: SourceLike, rng: Randomness = None, *, to: Any = None, replace: bool = False) -> Any:
        """Reports of a table's rows, in memory or from file to file.

        Parameters
        ----------
        source
            A mapping from column name to answers, a frame, or a file as `bruit.engines.read` reads it.
        rng
            None for secure randomness; a whole number for a reproducible stream, for studies.
        to
            A .csv or .parquet file. The document stands beside it, as ``reports.csv.plan.json``.
        replace
            Whether reports that exist are replaced.
        """
        words = Words.resolve(rng, "privatize", self.digest)
        if to is None and files.is_table(source):
            return self.randomize(self.encode(source), words)
        if engines.is_spark(Source.of(source).data):
            raise DataTypeError("An open question is asked of files and tables of this machine, not by Spark.")
        files.check_output(to, source, self, replace=replace)
        stated = files.header(self.digest, simulated=not words.secure)
        with files.publishing(to, self) as sink:
            return engines.map(
                source, sink, partial(_reports, self), columns=[self.name], metadata=stated, rng=words
            )  # fmt: skip

    # What the collector does.

    def valid(self, reports: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        """Which reports a person can have sent."""
        return self.mechanism.valid(report_column(reports, self.name))

    def count(self, reports: Any) -> OpenReports:
        """The reports in a table in memory; those that no person can have sent are refused."""
        return self.mechanism.count(report_column(reports, self.name))

    def gather(self, source: SourceLike, *more: SourceLike, opened: Callable[[Any], Any] = Source.of) -> OpenReports:
        """The reports in files, each row one report or one refusal. A file named twice is an error."""
        if not more and files.is_table(source):
            return self.count(source)
        if any(str(path).endswith(".json") for path in (source, *more)):
            raise DataError("An open question has no tallies: name the files of reports.")
        reports: Any = files.tally(self, (source, *more), opened)
        return reports  # type: ignore[no-any-return] # what `count` gives, added up

    def estimate(self, source: Any, *more: SourceLike) -> FrequentAnswers:
        """The certified answers in reports: files, a table in memory, or what `gather` gave of them."""
        gathered = source if isinstance(source, OpenReports) else self.gather(source, *more)
        return self.mechanism.estimate(gathered, name=self.name)

    # Documents.

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this question; files of reports carry it."""
        return documents.digest(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"question": self.name, **self.mechanism.to_dict(), "guarantee": self.guarantee.to_dict()}

    def to_json(self) -> str:
        """The document that stands beside reports."""
        return documents.seal(files.OPEN_QUESTION, self.to_dict(), indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The inverse of `to_json`; damage is detected, forgery is not."""
        body = documents.unseal(text, files.OPEN_QUESTION)
        with documents.reading(len(text)), translated((KeyError, TypeError, BruitError), lambda _: FormatError(_RULE)):
            design = {key: value for key, value in body.items() if key not in ("question", "guarantee")}
            question = cls(body["question"], HeavyHitters.from_dict(design))
        if documents.canonical(question.to_dict()) != documents.canonical(body):
            raise FormatError(_RULE)
        return question

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The question in a file, or the one beside a file of reports."""
        return cls.from_json(files.read_plan(path))

    def _facts(self) -> dict[str, Any]:
        """For a notebook: the column, the mechanism, and what is promised."""
        return {"question": self.name, "mechanism": self.mechanism, "guarantee": self.guarantee}


def _reports(question: OpenQuestion, batch: Mapping[str, Any], words: Words) -> dict[str, NDArray[Any]]:
    return question.randomize(question.encode(batch), words)
