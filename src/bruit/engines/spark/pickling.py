"""What travels between the driver and Spark's workers, pickled: functions out, sums back.

Two things pickling here that nothing else may pickle. *Out* goes the `TaskKey` of a job, by which its tasks get words.
*Back* comes a `RawTally`, in clear: its bytes cross the network as the rows themselves do. Only `received` opens it, in
the task that adds up parts and on the driver, and what it gives is redacted again. A function that holds a `RawTally`,
an `Entropy` or `Words`, and a result that holds any of the last two, are refused.

Sums of whole numbers are packed: as cells that are not zero, where that is shorter.

pyspark is imported only when something is sent.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.entropy import TaskKey
from bruit.errors import BruitError, ParameterTypeError, translated
from bruit.estimation.tally import RawTally


def function(value: Any) -> bytes:
    """A function for the workers, alone or with the key of its job."""
    with translated(Exception, _unsendable):  # pickling raises what it likes
        return _pickled(value, _reduced_key)


def _unsendable(error: Exception) -> BruitError:
    return ParameterTypeError(
        f"The function must be one that can be sent to other machines: it was pickled with {type(error).__name__}. "
        "It must not hold open files, locks or sessions."
    )


def result(value: Any) -> bytes:
    """What a task found, for the driver or the task that adds up."""
    return _pickled(value, _reduced_result)


def received(blob: Any) -> Any:
    """The inverse of both, for bytes that our own driver or tasks made."""
    return pickle.loads(bytes(blob))  # noqa: S301 -- someone who can put bytes here runs code on the cluster anyway


def _pickled(value: Any, reduced: Callable[[Any], Any]) -> bytes:
    from pyspark.cloudpickle import CloudPickler

    class Pickler(CloudPickler):  # type: ignore[misc]
        def reducer_override(self, item: Any) -> Any:
            reduction = reduced(item)
            return super().reducer_override(item) if reduction is NotImplemented else reduction

    target = io.BytesIO()
    Pickler(target).dump(value)
    return target.getvalue()


def _reduced_key(item: Any) -> Any:
    return (TaskKey.from_bytes, (item.to_bytes(),)) if isinstance(item, TaskKey) else NotImplemented


def _reduced_result(item: Any) -> Any:
    if isinstance(item, RawTally):
        return _raw_tally, (item.design, item.reveal(design=item.design))
    if type(item) is np.ndarray and item.dtype.kind in "ui":
        return _array, ((item.shape, item.dtype.str, item.flags.writeable), _packed(item.reshape(-1)))
    return NotImplemented


def _raw_tally(design: str, counts: Any) -> RawTally:
    return RawTally(design=design, counts=counts)


def _packed(cells: NDArray[Any]) -> tuple[bytes, str, bytes, str]:
    """The numbers that are not zero and their places, each with its type; or all numbers, if that is shorter."""
    places = np.flatnonzero(cells).astype(np.uint32 if cells.size <= 1 << 32 else np.uint64)
    values = cells[places]
    if values.itemsize > 4 and values.size and values.min() >= 0 and values.max() < 1 << 32:
        values = values.astype(np.uint32)
    if places.nbytes + values.nbytes >= cells.nbytes:
        return cells.tobytes(), cells.dtype.str, b"", ""
    return values.tobytes(), values.dtype.str, places.tobytes(), places.dtype.str


def _array(form: tuple[tuple[int, ...], str, bool], packed: tuple[bytes, str, bytes, str]) -> NDArray[Any]:
    shape, dtype, writeable = form
    values, kind, places, kind_of_places = packed
    array = np.zeros(shape, dtype)
    here = np.frombuffer(places, kind_of_places) if kind_of_places else slice(None)
    array.reshape(-1)[here] = np.frombuffer(values, kind)
    array.flags.writeable = writeable
    return array
