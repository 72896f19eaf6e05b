"""Data made private at its source, as a scikit-learn transformer, so that any model can learn from it.

Each person randomises every attribute of the own record, and the model, whatever it is, sees reports only. Nobody has
to trust those who train it, and nothing that is done with the reports afterwards costs anything more.

Noise is new in every call of `transform`, and with it the spend. Rejected: repeating a person's noise by deriving it
from the record, which would be kind to cross-validation. Two people with the same record would then have the same
report, and someone who knows the one would know the other. So privatize once, keep the table, and split that.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bruit import _checks, documents
from bruit.collection import SPL, Method, Plan
from bruit.domains import Attribute, Grid, Schema
from bruit.domains import domain as domains
from bruit.domains.codes import Codes
from bruit.domains.outside import clamping
from bruit.entropy import Entropy, Words
from bruit.errors import DataError, DisclosureWarning, MissingError, ParameterError, in_column, translated
from bruit.learning._base import is_mapping, seed_of
from bruit.learning._features import Features, column_of, schema_of, two_dimensional
from bruit.learning._notebook import ReadableDocstring
from bruit.learning._validation import validated
from bruit.privacy.booking import Charge, booked
from bruit.privacy.guarantee import Guarantee
from bruit.typing import ColumnLike, FeatureBounds, SourceLike

#: What becomes of a report: the value it names, or a score whose mean, given the person's own value, is that value.
Output: TypeAlias = Literal["values", "unbiased"]
#: What "SPL" takes for a category and for a number: the value itself is reported, and for a number without bias.
CATEGORIES, NUMBERS = "GRR", "piecewise"

_DECLARE = (
    "bounds must be declared before any data is read, as in bounds=(0, 100) for all columns, bounds=([0, 17], [1, 90]) "
    "for each, or bounds=Schema({…}) with categories too; or give a plan. What is read from the data is not private."
)


class LocalPrivatizer(ReadableDocstring, TransformerMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn carries no types
    """Randomise every attribute of every record, each person by themselves, so that any model can learn from it.

    Parameters
    ----------
    plan
        A `Plan` that reports every attribute: SPL, or a single attribute. Or leave it out, and give what follows.
    epsilon
        The most that a person's record, or an attribute of it, may tell: see `unit`.
    bounds
        What is declared about the columns, as for the models: (low, high) for all, two sequences with one number for
        each column, or a `Schema`, with categories too. Numbers beyond a bound count as the bound.
    method
        ``"SPL"`` splits ε among all attributes, with GRR for categories and the piecewise mechanism for numbers;
        ``"SPL[x]"`` takes another mechanism.
    unit
        Whom ε speaks of: ``"person"``, or ``"attribute"``. With d attributes at ε each a person has d·ε in all, which
        `guarantee_` says.
    budgets, mechanisms
        The part of ε and the mechanism of single attributes, by name, as for `bruit.collection.SPL`.
    output
        ``"values"``: the reported label or number, or where a report is no value, one column of bits per label: which
        labels it supports. ``"unbiased"``: numbers whose mean, given the person's value, is that value; a category
        becomes one column per label, of mean 1 for the own label and 0 for the others.
    ledger
        A `Ledger` for ``"person"`` neighbours that books every call of `transform`.
    rng, random_state
        None for secure randomness. A seed, for studies: the same seed on the same table gives the same reports, and
        another table gets other noise, so that the folds of a cross-validation do not share theirs.

    Attributes
    ----------
    plan_
        The plan that is followed.
    guarantee_
        What *one* call of `transform` promises to a person whose whole record changes, from the exact integer laws.
    simulated_
        Whether the noise comes from a seed, so that anyone who has the seed can remove it.

    Guarantee
    ---------
    ε-LDP for a whole record (neighbours ``"person"``) at each call of `transform`: the product of the largest ratios of
    all attributes. `fit` learns nothing from the data but the names of its columns. Of X nothing but the declared
    columns is reported: a frame's index is left behind, and pandas output is numbered 0, 1, … in the order of the rows.
    Transforming the same people again spends again: keep the first result. In a pipeline that is cross-validated, each
    person is randomised again in every fold; privatize before the pipeline instead, or use `honest_split`.

    Error
    -----
    With d attributes each has ε/d, so the variance of a number grows as d²: report few attributes.

    References
    ----------
    Warner, S. L. (1965), Randomized response: a survey technique for eliminating evasive answer bias.
    Wang, N., et al. (2019), Collecting and analyzing multidimensional data with local differential privacy.

    Examples
    --------
    >>> from bruit import Schema, Grid
    >>> schema = Schema({"smokes": ["no", "yes"], "age": Grid(18, 90)})
    >>> privatizer = LocalPrivatizer(epsilon=4.0, bounds=schema)
    >>> reports = privatizer.fit_transform({"smokes": ["no", "yes", "no"], "age": [30, 45, 61]})
    >>> reports.shape, privatizer.get_feature_names_out().tolist()
    ((3, 2), ['smokes', 'age'])
    >>> print(privatizer.guarantee_)
    ε = 4 (local, the whole record changed)
    """

    plan_: Plan
    guarantee_: Guarantee
    simulated_: bool
    n_features_in_: int

    @_checks.renamed({"bases": 'mechanisms={"age": "OUE"}'})
    def __init__(
        self,
        plan: Plan | None = None,
        *,
        epsilon: float | None = None,
        bounds: FeatureBounds | None = None,
        method: str = "SPL",
        unit: str = "person",
        budgets: Mapping[str, float] | None = None,
        mechanisms: Mapping[str, str] | None = None,
        output: str = "values",
        ledger: Any = None,
        rng: Any = None,
        random_state: Any = None,
    ) -> None:
        self.plan = plan
        self.epsilon = epsilon
        self.bounds = bounds
        self.method = method
        self.unit = unit
        self.budgets = budgets
        self.mechanisms = mechanisms
        self.output = output
        self.ledger = ledger
        self.rng = rng
        self.random_state = random_state

    def fit(self, X: SourceLike, y: ColumnLike | str | None = None) -> Self:
        """Check what is declared and note the names of the columns; nothing is learnt, and no value is used."""
        declared = self._declared()
        seed = seed_of(self.rng, self.random_state, draw=False)
        _checks.one_of(get_args(Output), output=self.output)
        self._check(X, reset=True)
        self._settle(declared if isinstance(declared, Plan) else self._plan(self._schema(declared)))
        self.simulated_ = not (seed is None or (isinstance(seed, Entropy) and seed.secure))
        self._seen = _Seen()
        return self

    def transform(self, X: SourceLike) -> Any:
        """Randomised reports of these people, as features. Each call is new noise, and a new spend.

        Rows keep their order. A frame of pandas gets a new index: that of X has no noise and is left behind.
        """
        check_is_fitted(self)
        codes = self._codes(self._check(X, reset=False))
        self._warn_of_repeats(codes)
        booked(Charge(self.guarantee_, type(self).__name__), self.ledger)
        return self._table(self.plan_.randomize(codes, self._words(codes)))

    def fit_transform(self, X: SourceLike, y: ColumnLike | str | None = None, **unused: Any) -> Any:
        """`fit`, then `transform`: one randomisation."""
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the features: an attribute's own, or with one column per label ``attribute_label``."""
        check_is_fitted(self)
        if input_features is not None:
            self._check_names(list(input_features))
        names = (feature_names(self.plan_, name, self.output) for name in self.plan_.schema)
        return np.array([name for group in names for name in group], object)

    # What is declared.

    def _declared(self) -> Plan | Features | Schema:
        """The plan, or what one is made of, before any data is looked at."""
        if self.plan is not None:
            settings = {
                "epsilon": self.epsilon,
                "bounds": self.bounds,
                "budgets": self.budgets,
                "mechanisms": self.mechanisms,
            }
            for name, value in settings.items():
                if value is not None:
                    raise ParameterError(f"A plan has its own {name}: give the plan, or {name} and no plan.")
            if not isinstance(self.plan, Plan):
                raise ParameterError("plan must be a bruit.Plan; without one, give epsilon and bounds.")
            return self.plan
        if self.bounds is None:
            raise ParameterError(_DECLARE)
        _checks.epsilon(epsilon=self.epsilon)
        if isinstance(self.bounds, Mapping):
            # A schema says all there is to know: what is wrong with the plan is found before the data.
            schema = self.bounds if isinstance(self.bounds, Schema) else schema_of(self.bounds, categorical=True)
            return self._plan(schema)
        return Features.declared(self.bounds)

    def _schema(self, features: Any) -> Schema:
        """Grids between the declared bounds, under the names of the columns."""
        low, high = features.ends(self.n_features_in_)
        names = getattr(self, "feature_names_in_", [f"x{place}" for place in range(self.n_features_in_)])
        return Schema({name: Grid(*ends) for name, *ends in zip(names, low, high, strict=True)})

    def _plan(self, schema: Schema) -> Plan:
        named = dict(self.mechanisms or {})
        method = self.method
        if isinstance(method, str) and method.strip().upper() == SPL.kind:
            own = {name: _usual(attribute) for name, attribute in schema.items()}
            method, named = f"SPL[{CATEGORIES}]", own | named
        if len(schema) == 1:
            # There is nothing to split: the one attribute has its mechanism, and all of ε.
            (only,) = schema
            return Plan(schema, self.epsilon, named.get(only, Method.of(method).base))
        split = Method.named(method, budgets=self.budgets, mechanisms=named or None)
        return Plan(schema, self.epsilon, split, unit=self.unit)  # type: ignore[arg-type] # a plan checks it

    def _settle(self, plan: Plan) -> None:
        check_plan(plan)
        if len(plan.schema) != self.n_features_in_:
            raise DataError(f"X has {self.n_features_in_} features, but {len(plan.schema)} are declared.")
        names = getattr(self, "feature_names_in_", None)
        if names is not None and set(names) != set(plan.schema):
            strange = next((name for name in plan.schema if name not in names), "")
            near = _checks.suggestion(strange, names)
            raise DataError(
                f"X must have the declared columns and no other: one that is not declared has no noise.{near}"
            )
        self.plan_ = plan
        self.guarantee_ = plan.guarantee

    # What is read.

    def _check(self, X: Any, *, reset: bool) -> Any:
        """X as a frame, a mapping or an array of two dimensions, with the columns that it had in `fit`."""
        if is_mapping(X):
            self._check_mapping(X, reset)
            return X
        if self._has_schema():
            validated(self, X, reset=reset, skip_check_array=True)
            if hasattr(X, "columns") or hasattr(X, "column_names"):
                return X
            return two_dimensional(X)
        return validated(self, X, reset=reset, dtype=np.float64)

    def _has_schema(self) -> bool:
        return self.plan is not None or isinstance(self.bounds, Mapping)

    def _check_mapping(self, X: Mapping[str, Any], reset: bool) -> None:
        """scikit-learn knows no mapping from name to column: its names are checked here."""
        if reset:
            self.n_features_in_ = len(X)
            self.feature_names_in_ = np.array(list(X), object)
        elif set(X) != set(self.plan_.schema):
            raise DataError("X must have the columns that it had in fit, and no other.")

    def _check_names(self, names: list[Any]) -> None:
        known = getattr(self, "feature_names_in_", None)
        if known is not None and names != list(known):
            raise ParameterError("input_features is not equal to feature_names_in_")
        if len(names) != self.n_features_in_:
            raise ParameterError("input_features should have length equal to number of features")

    def _codes(self, table: Any) -> dict[str, Codes]:
        """Codes of every attribute, by name, or by place in an array; numbers beyond a bound count as the bound."""
        schema = self.plan_.schema
        if isinstance(table, np.ndarray):
            # An array that is no frame has the columns of the frame in `fit`, or those of the schema.
            names = list(getattr(self, "feature_names_in_", schema))
            table = {name: table[:, place] for place, name in enumerate(names)}
        return {name: _encoded(self.plan_, name, column_of(table, name)) for name in schema}

    # What is reported.

    def _warn_of_repeats(self, codes: Mapping[str, Codes]) -> None:
        """Warn of the very table that was randomised before; with a seed the noise is the same, and nothing is new."""
        if not self.simulated_ and self._seen.before(codes):
            warnings.warn(
                "This very table was randomised before. Two randomisations of the same people tell twice as much as "
                "guarantee_ says: keep the first result, and use it again.",
                DisclosureWarning,
                stacklevel=4,
            )

    def _words(self, codes: Mapping[str, Codes]) -> Words:
        """New words; those from a seed are mixed with the table, as in all models, so that folds have their own."""
        seed = seed_of(self.rng, self.random_state)
        if seed is None or isinstance(seed, Entropy):
            return Words.resolve(seed, "transform", self.plan_.digest)
        design = {"plan": self.plan_.digest, "data": _digest(codes).hex()}
        return Words.resolve(seed, "transform", documents.digest(design))

    def _table(self, reports: Mapping[str, NDArray[Any]]) -> Any:
        """The features as one array, or as the frame that `set_output` asks for, each column with its own dtype.

        A frame of pandas has a new index 0, 1, …: that of X would be handed on without noise, and may hold anything.
        """
        table: dict[str, NDArray[Any]] = {}
        for name in self.plan_.schema:
            columns = feature_columns(self.plan_, name, self.output, reports[name])
            table.update(zip(feature_names(self.plan_, name, self.output), columns, strict=True))
        kind = _container(self)
        if kind != "default":
            import narwhals.stable.v1 as nw

            plain = {name: column.tolist() if column.dtype == object else column for name, column in table.items()}
            return nw.from_dict(plain, backend=kind).to_native()
        mixed = any(column.dtype == object for column in table.values())
        return np.column_stack([column.astype(object if mixed else np.float64) for column in table.values()])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "guarantee_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.transformer_tags.preserves_dtype = []
        return tags


class _Seen:
    """Which tables were randomised before, by a digest under a key that never leaves this process."""

    #: Small tables may be equal without being of the same people.
    FEW = 8

    def __init__(self) -> None:
        self._key = Entropy().bytes(32)
        self._tables: set[bytes] = set()

    def before(self, codes: Mapping[str, Codes]) -> bool:
        """Whether this table was randomised before."""
        if len(next(iter(codes.values()))) < self.FEW:
            return False
        digest = _digest(codes, self._key)
        seen = digest in self._tables
        self._tables.add(digest)
        return seen

    def __reduce__(self) -> tuple[type[_Seen], tuple[()]]:
        return _Seen, ()


# Reports as features.


def check_plan(plan: Plan) -> None:
    """An error, with its reason, for a plan whose reports are no table of values."""
    if plan.design.draws is not None:
        raise ParameterError(
            f"{plan.method} reports a part of each person's attributes, so the others would be missing, and what a "
            'model learns from, all attributes of the same person, is never seen. Use "SPL", which reports every one.'
        )
    if plan.design.hides:
        raise ParameterError(
            f"With {plan.method} all attributes of a person but one are fake, and a model would learn from the fakes. "
            'Use "SPL", which reports every attribute.'
        )
    for name, attribute in plan.schema.items():
        if attribute.domain.missing == "drop":
            raise ParameterError(
                f'{name!r} drops people, and a table keeps its rows: declare missing="refuse" and leave the rows of '
                'these people out, or for a category declare missing="category".'
            )


def feature_names(plan: Plan, name: str, output: str) -> list[str]:
    """The names of the features that an attribute gives: its own, or one per label."""
    attribute = plan.schema[name]
    return [name] if _is_one_column(plan, name, output) else [f"{name}_{label}" for label in attribute.labels]


def feature_columns(plan: Plan, name: str, output: str, reports: NDArray[Any]) -> Sequence[NDArray[Any]]:
    """A column of numbers or labels for each of these names, from the reports on the attribute."""
    attribute, mechanism = plan.schema[name], plan.mechanisms[name]
    if output == "unbiased":
        scores = mechanism.scores(reports)
        if mechanism.score_names is not None and _is_one_column(plan, name, output):
            return [scores @ _points(attribute)]
        return list(scores.T)
    if mechanism.gives == "mean":
        number: Any = mechanism
        return [number.decode(reports)]
    codes = mechanism.named(reports)
    return [_table(attribute)[codes]] if codes is not None else list(mechanism.supports(reports).T.astype(np.uint8))


def _is_one_column(plan: Plan, name: str, output: str) -> bool:
    """Whether a report is a value, and not one bit or score per label."""
    mechanism = plan.mechanisms[name]
    is_value = mechanism.gives == "mean" or mechanism.named(mechanism._empty_reports(0)) is not None
    return is_value and (output == "values" or plan.schema[name].domain.gives == "mean")


def _points(attribute: Attribute) -> NDArray[np.float64]:
    domain: Any = attribute.domain
    if domain.missing == "category":
        raise ParameterError(f'No score of {attribute.name!r} is unbiased for a missing number: use output="values".')
    points: NDArray[np.float64] = domain.points
    return points


def _table(attribute: Attribute) -> NDArray[Any]:
    """The value behind each code, in the dtype that such values have in a table."""
    domain = attribute.domain
    values = domain.decode(np.arange(domain.size))
    plain = domain.gives == "frequency" and len({type(label) for label in domain.names}) == 1
    return np.array(domain.names) if plain and not isinstance(domain.names[0], str) else values


def _usual(attribute: Attribute) -> str:
    """The mechanism whose reports are values."""
    return NUMBERS if attribute.domain.gives == "mean" else CATEGORIES


def _digest(codes: Mapping[str, Codes], key: bytes = b"") -> bytes:
    table = hashlib.blake2b(key=key, digest_size=16)
    for column in codes.values():
        table.update(np.ascontiguousarray(column, np.int64).tobytes())
    return table.digest()


def _encoded(plan: Plan, name: str, values: Any) -> Codes:
    """Codes of a column; a number beyond a bound counts as the bound unless it is to be refused, infinity does not."""
    if plan.schema[name].domain.gives != "mean":
        return plan.design.encode_column(name, values)
    with in_column(name):
        numbers = domains.column(values)
        if numbers.dtype.kind == "f" and np.isinf(numbers).any():
            raise DataError("values must be finite numbers, not infinity.")
        with translated(MissingError, lambda _: MissingError(_way_out(name, len(plan.schema)))):
            domain: Any = plan.schema[name].domain
            return plan.design.encode_column(name, clamping(domain).admit(numbers).values)


def _way_out(name: str, columns: int) -> str:
    """What can be done about missing numbers of a column."""
    fill = "Fill them with a number that you choose without looking at the data, or leave these people out"
    oracle = f'; or declare missing="category" and name an oracle for it, as in mechanisms={{{name!r}: "OUE"}}'
    return f"some numbers are missing. {fill}{oracle if columns > 1 else ''}."


def _container(transformer: Any) -> Any:
    """What `set_output` asks for: ``"default"``, ``"pandas"`` or ``"polars"``."""
    from sklearn.utils._set_output import _get_output_config

    return _get_output_config("transform", transformer)["dense"]
