"""The prior that `bruit plan` is given in a file: frequencies by attribute, or what `bruit estimate` printed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bruit import documents
from bruit.errors import DesignError, FormatError, ParameterError, translated

if TYPE_CHECKING:
    from bruit.collection import Plan
    from bruit.domains import Attribute, Schema
    from bruit.privacy import Guarantee

#: The share of a learnt prior that is spread evenly over all values, as in `learnt_prior`.
FLOOR = 0.01


@dataclass(frozen=True)
class Prior:
    """Frequencies by attribute, and what those paid from whom they were learnt; None if they come from elsewhere."""

    frequencies: dict[str, Any]
    paid: Guarantee | None = None

    def both_rounds(self, plan: Plan) -> Guarantee | None:
        """What somebody pays who was asked for the prior and is asked again; None where that is not known."""
        from bruit.privacy.composition import sequential

        now = plan.guarantee("person")
        if self.paid is None or self.paid.neighbours != now.neighbours:
            return None
        return sequential([self.paid, now])


def read(path: Path, schema: Schema) -> Prior:
    """The prior in a file."""
    with translated((FileNotFoundError, ValueError, RecursionError), lambda error: _unread(path, error)):
        found = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(found, list) or (isinstance(found, dict) and "format" in found):
        return _learnt(found if isinstance(found, list) else [found], schema)
    if not isinstance(found, dict) or not all(_is_numbers(shares) for shares in found.values()):
        raise FormatError(
            '--prior must be a file with the frequencies of each attribute, as in {"sex": [0.4, 0.6]}, or the output '
            "of bruit estimate --json."
        )
    return Prior(found)


def _unread(path: Path, error: Exception) -> FormatError:
    missing = isinstance(error, FileNotFoundError)
    return FormatError(f"There is no prior {path}." if missing else f"{path} must be JSON, encoded in UTF-8.")


def _is_numbers(shares: Any) -> bool:
    return isinstance(shares, list) and all(type(share) in (int, float) for share in shares)


def _learnt(answers: list[Any], schema: Schema) -> Prior:
    """A prior from documents of estimates."""
    from bruit.collection.prior import never_zero
    from bruit.privacy import Guarantee
    from bruit.privacy.composition import sequential

    bodies = [documents.unseal(json.dumps(answer), "bruit.result/1") for answer in answers]
    found = {str(body.get("name")): never_zero(_frequencies(body, schema), FLOOR) for body in bodies}
    if len(found) < len(bodies) or not bodies:
        raise ParameterError("--prior must have one estimate of each attribute.")
    promised = [Guarantee.from_dict(body.get("guarantee")) for body in bodies]
    # Estimates from one plan carry the guarantee of the whole plan; other ones add.
    together = len(bodies) == 1 or all("guarantee_of_an_attribute" in body for body in bodies)
    return Prior(found, promised[0] if together and len(set(promised)) == 1 else sequential(promised))


def _frequencies(body: Mapping[str, Any], schema: Schema) -> list[float]:
    name, rows = body.get("name"), body.get("values")
    if name not in schema:
        raise ParameterError("--prior must name attributes of the schema, and it estimates another one.")
    if not isinstance(rows, list):
        raise ParameterError(
            f"--prior has a mean of {name!r}, and frequencies are needed: plan the earlier round with an oracle, "
            f"as in --base {name}=OUE."
        )
    rule = "--prior has an estimate without labels and frequencies."
    with translated((KeyError, TypeError, ValueError), lambda _: FormatError(rule)):
        labels, shares = [row["label"] for row in rows], [float(row["frequency"]) for row in rows]
    if labels != _labels(schema[str(name)]):
        raise DesignError(f"--prior speaks of other values of {name!r} than the plan, or has them in another order.")
    return shares


def _labels(attribute: Attribute) -> list[Any]:
    """The labels as a document has them."""
    labels: list[Any] = json.loads(documents.canonical(list(attribute.labels)))
    return labels
