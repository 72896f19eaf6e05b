"""Steps of a pipeline that stand before a private model and keep exact facts of the data.

A `StandardScaler` before a private model is fitted on the records without noise: it keeps their exact means, and the
model learns from numbers that depend on every record. Neither is covered by the model's guarantee. A model is not told
in which pipeline it is fitted, so that its fit looks at the calls that led to it: scikit-learn's pipelines call the fit
of their steps directly, in the same thread. That is a hint for people and no guard: what is scaled by hand before
``fit``, or by a pipeline that calls in another way, draws no warning.

Rejected: pipelines of our own (people use scikit-learn's); references from the garbage collector (slow, and of all
pipelines that have the model, not of the one that fits it).
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer

__all__ = ["exact_steps", "unknown_steps", "warn_of_steps"]

#: How many calls are looked at, from the fit of a model upwards.
_DEPTH = 36
#: Transformers that keep no more than the number and names of columns, though they are fitted.
_HARMLESS = frozenset({"AdditiveChi2Sampler", "DeclaredScaler", "LocalPrivatizer", "PolynomialFeatures", "RBFSampler"})
_WARNING = (
    "{steps} before {model} {verb} from the data without noise: the guarantee of {model} covers neither what {keeps} "
    "nor how it shapes the model's input. Use DeclaredScaler, which has declared bounds, or steps with declared "
    "parameters, as SimpleImputer(strategy='constant')."
)


def warn_of_steps(model: Any) -> None:
    """Warn if the pipeline that now fits this model has steps before it that learn from the data without noise."""
    steps = [step for pipeline in _calling_pipelines() for step in _before(pipeline, model)]
    names = list(dict.fromkeys(name for step in steps for name in exact_steps(step)))
    if names:
        several = len(names) > 1
        text = _WARNING.format(
            steps=" and ".join(names),
            model=type(model).__name__,
            verb="learn" if several else "learns",
            keeps="they keep" if several else "it keeps",
        )
        warnings.warn(text, UserWarning, stacklevel=_level_of_caller())


def exact_steps(step: Any) -> list[str]:
    """The classes within a step that learn from the data without noise; none for steps with declared parameters.

    >>> from sklearn.preprocessing import FunctionTransformer, StandardScaler
    >>> exact_steps(StandardScaler()), exact_steps(FunctionTransformer())
    (['StandardScaler'], [])
    """
    inner = _inner(step)
    if inner is not None:
        return [name for part in inner for name in exact_steps(part)]
    return [] if _is_declared(step) else [type(step).__name__]


def unknown_steps(step: Any) -> list[str]:
    """The classes within a step that run code of their user, which may look at all records of a batch.

    >>> from sklearn.preprocessing import FunctionTransformer
    >>> unknown_steps(FunctionTransformer(np.sort)), unknown_steps(FunctionTransformer(np.log1p))
    (['FunctionTransformer'], [])
    """
    inner = _inner(step)
    if inner is not None:
        return [name for part in inner for name in unknown_steps(part)]
    return [] if _is_known(step) else [type(step).__name__]


def _is_known(step: Any) -> bool:
    """Whether a step is of scikit-learn or bruit; a function must be one of numpy's that takes a number at a time."""
    if isinstance(step, FunctionTransformer) and step.func is not None:
        plain = isinstance(step.func, np.ufunc) and step.func.nin == 1 and step.func.signature is None
        return plain and not step.kw_args
    return step is None or isinstance(step, str) or type(step).__module__.partition(".")[0] in ("bruit", "sklearn")


def _inner(step: Any) -> list[Any] | None:
    """The steps of a step that has some."""
    if isinstance(step, Pipeline):
        return [part for _, part in step.steps]
    if isinstance(step, FeatureUnion):
        return [part for _, part in step.transformer_list]
    if isinstance(step, ColumnTransformer):
        return [*[part for _, part, _ in step.transformers], step.remainder]
    return None


def _is_declared(step: Any) -> bool:
    """Whether a step has all that it uses from its parameters."""
    if step is None or isinstance(step, str) or type(step).__name__ in _HARMLESS:  # "passthrough", "drop"
        return True
    if hasattr(step, "_promised"):  # a private model: what it gives comes from noisy sums
        return True
    if getattr(step, "strategy", None) == "constant":  # an imputer
        return not getattr(step, "add_indicator", False)  # which columns have gaps is a fact of the data
    categories = getattr(step, "categories", "auto")
    if not isinstance(categories, str):  # an encoder with declared categories
        return getattr(step, "min_frequency", None) is None and getattr(step, "max_categories", None) is None
    try:
        return not step.__sklearn_tags__().requires_fit
    except Exception:  # a step that says nothing of itself may learn
        return False


def _before(pipeline: Any, model: Any) -> list[Any]:
    """The steps of a pipeline before the model, or before the step that has it."""
    if isinstance(pipeline, TransformedTargetRegressor):
        return [pipeline.transformer]
    steps = [part for _, part in pipeline.steps]
    same = [place for place, part in enumerate(steps) if part is model]
    alike = [place for place, part in enumerate(steps) if type(part) is type(model)]  # a step is cloned before its fit
    return steps[: (same or alike or [len(steps) - 1])[0]]


def _calling_pipelines() -> Iterator[Any]:
    """The pipelines whose fit is running in this thread, the nearest first."""
    frame, seen = inspect.currentframe(), list[int]()
    for _ in range(_DEPTH):
        frame = None if frame is None else frame.f_back
        if frame is None:
            return
        owner = frame.f_locals.get("self") if frame.f_code.co_name in _FITS else None
        if isinstance(owner, Pipeline | TransformedTargetRegressor) and id(owner) not in seen:
            seen.append(id(owner))
            yield owner


#: Methods of a pipeline that fit its steps.
_FITS = frozenset({"fit", "fit_transform", "fit_predict", "_fit"})


def _level_of_caller() -> int:
    """The stack level, for a warning of the function that calls this, of the first line of a caller's own."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("bruit", "sklearn", "joblib"):
        frame, level = frame.f_back, level + 1
    return max(1, level)
