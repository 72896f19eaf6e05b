"""Every judge can come to at least two verdicts, and comes to each on results that are planted for it.

`PLANTED` is the registry: for every claim, rows of results, or laws in the place of the true ones, and the verdict.
"""

import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from bruit_studies import StudyResults, all_studies, attacker_knowledge, attributes_under_attack, deciles
from bruit_studies._attack_parts import PUBLISHED, published
from bruit_studies.attack import NEEDED
from bruit_studies.decile_lemmas import Bound
from bruit_studies.numeric_cleaning.trials import CLEAN, LAPLACE, PRINTED, STAIRCASE
from bruit_studies.several_attributes import trials as several
from bruit_studies.variance import COURSE
from bruit_studies.variance import trials as variance

Row = dict[str, Any]


class Planted(NamedTuple):
    """Rows of results, and what stands in the place of a law or function, by its dotted name."""

    claim: str
    kind: str
    rows: Sequence[Row] = ()
    laws: Mapping[str, Any] = {}

    @property
    def results(self) -> StudyResults:
        """The rows as columns; what a row lacks is missing."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        return StudyResults("planted", {name: [row.get(name) for row in self.rows] for name in names})


def runs(count: int = 40, **fields: Any) -> list[Row]:
    """So many rows alike; a pair is a mean and the deviation of numbers around it, the same way for every field."""
    shape = special.ndtri((np.arange(count) + 0.5) / count)
    shape /= shape.std(ddof=1) if count > 1 else 1.0
    return [{k: v[0] + v[1] * z if isinstance(v, tuple) else v for k, v in fields.items()} for z in shape.tolist()]


def _coins(**fields: Any) -> list[Row]:
    return runs(part="coins", share=0.3, **fields)


WARNER = [
    Planted("warner-unbiased", "confirmed", _coins(error=(0.0, 0.03))),
    Planted("warner-unbiased", "refuted", _coins(error=(0.02, 0.01))),
    Planted("warner-observed", "confirmed", _coins(observed=(0.4, 0.01))),
    Planted("warner-observed", "refuted", _coins(observed=(0.5, 0.01))),
    Planted("warner-ln3", "confirmed", runs(1, part="law", worst_ratio=3.0)),
    Planted("warner-ln3", "refuted", runs(1, part="law", worst_ratio=4.0)),
    Planted("warner-ratio", "confirmed", runs(1, part="law", worst_ratio=3.0, printed_ratio=3.0)),
    Planted("warner-ratio", "slip", runs(1, part="law", worst_ratio=3.0, printed_ratio=1.0)),
    Planted("warner-number", "confirmed", _coins(estimate=(300.0, 5.0))),
    Planted("warner-number", "slip", _coins(estimate=(0.3, 0.03))),
]


def _status(epsilon: float = 1.0, status: str = "a", **fields: Any) -> list[Row]:
    return runs(people="these", epsilon=epsilon, status=status, **fields)


_FAR = [[1.0 if x == y else 1e-9 for y in range(7)] for x in range(7)]
KRR = [
    Planted("krr-unbiased", "confirmed", _status(error=(0.0, 1.0))),
    Planted("krr-unbiased", "refuted", _status(error=(1.0, 0.1))),
    Planted("krr-variance", "confirmed", _status(error=(0.0, 1.0), formula_sd=1.0)),
    Planted("krr-variance", "refuted", _status(error=(0.0, 2.0), formula_sd=1.0)),
    Planted("grr-variance", "confirmed", _status(5.0, error=(0.0, 1.0), formula_sd=1.0)),
    Planted("grr-variance", "refuted", _status(5.0, error=(0.0, 2.0), formula_sd=1.0)),
    Planted("krr-similar", "confirmed", _status(error=(0.0, 0.001), truth=0.5)),
    Planted("krr-similar", "improved", _status(error=(0.0, 0.01), truth=0.999, estimate=0.99, repetition=0)
            + _status(status="b", error=(0.0, 0.01), truth=0.001, estimate=0.01, repetition=0)),
    Planted("krr-similar", "refuted", _status(error=(0.0, 0.2), truth=0.5)),
    Planted("small-epsilon", "confirmed"),
    Planted("small-epsilon", "refuted", laws={"bruit_studies.krr.NEAR_ONE": 0.001}),
    Planted("zero-epsilon", "confirmed"),
    Planted("zero-epsilon", "refuted", laws={"bruit_studies.krr.law": lambda epsilon, k: np.array(_FAR)}),
    Planted("krr-ldp", "confirmed"),
    Planted("krr-ldp", "refuted", laws={"bruit.oracles.RandomizedResponse.matrix": lambda self: _FAR}),
]  # fmt: skip


def _forest(leaf: int = 1, epsilon: float = 1.0, **fields: Any) -> list[Row]:
    return runs(part="noise", leaf=leaf, epsilon=epsilon, **fields)


_LABEL = {"bruit_studies.krr_learning._label_law": lambda epsilon: (0.5, 0.1, 0.6)}
_RISING = {"bruit_studies.krr_learning._label_law": lambda epsilon: (0.1 + 0.08 * epsilon, 0.1, 0.4 + 0.05 * epsilon)}
KRR_LEARNING = [
    Planted("krr-learning-test-features", "confirmed", _forest(accuracy=(0.4, 0.01), clean_test=(0.5, 0.02))),
    Planted("krr-learning-test-features", "refuted", _forest(accuracy=(0.4, 0.01), clean_test=(0.4, 0.02))),
    Planted("krr-learning-test-labels", "improved", _forest(accuracy=(0.5, 0.01), noisy_labels=(0.3, 0.004)), _LABEL),
    Planted("krr-learning-test-labels", "confirmed", _forest(accuracy=(0.5, 0.01), noisy_labels=(0.2, 0.02)), _LABEL),
    Planted("krr-learning-test-labels", "refuted", _forest(accuracy=(0.5, 0.01), noisy_labels=(0.5, 0.02)), _LABEL),
    Planted("krr-learning-forest", "improved", _forest(accuracy=(0.2, 0.01)) + _forest(50, accuracy=(0.4, 0.01))),
    Planted("krr-learning-forest", "confirmed", _forest(accuracy=(0.4, 0.01)) + _forest(50, accuracy=(0.4, 0.01))),
    Planted("krr-learning-protection", "confirmed", _forest(epsilon=0.01, accuracy=(0.2, 0.01))
            + _forest(epsilon=10.0, accuracy=(0.8, 0.01)), _RISING),
    Planted("krr-learning-protection", "refuted", _forest(epsilon=0.01, accuracy=(0.8, 0.01))
            + _forest(epsilon=10.0, accuracy=(0.2, 0.01)), _RISING),
]  # fmt: skip


def _cleaned(protocol: str, epsilon: float, **accuracy: float) -> list[Row]:
    names = {"laplace": LAPLACE, "printed": PRINTED, "staircase": STAIRCASE}
    return [
        row
        for name, mean in accuracy.items()
        for row in runs(protocol=protocol, epsilon=epsilon, mechanism=names[name], accuracy=(mean, 0.01))
    ]


_LAWS = "bruit_studies.numeric_cleaning.laws."
_ANEW = runs(protocol="clean anew", accuracy=(0.75, 0.03))
NUMERIC_CLEANING = [
    Planted("resampled-laplace-ldp", "confirmed"),
    Planted("resampled-laplace-ldp", "refuted", laws={_LAWS + "laplace_loss": lambda epsilon: 2 * epsilon}),
    Planted("laplace-width", "slip"),
    Planted("laplace-width", "refuted", laws={_LAWS + "laplace_loss": lambda *_: 1.0}),
    Planted("staircase-density", "corrected"),
    Planted("staircase-density", "confirmed", laws={_LAWS + "mass": lambda *_: 1.0}),
    Planted("staircase-density", "refuted", laws={_LAWS + "mass": lambda *_: 2.0}),
    Planted("staircase-gamma", "confirmed"),
    Planted("staircase-gamma", "refuted", laws={_LAWS + "printed_gamma": lambda _: 0.9}),
    Planted("staircase-ldp", "confirmed"),
    Planted("staircase-ldp", "refuted", laws={_LAWS + "_step": lambda distance, gamma: np.floor(3 * distance)}),
    Planted("resampled-staircase-ldp", "refuted"),
    Planted("resampled-staircase-ldp", "confirmed", laws={_LAWS + "staircase_loss": lambda epsilon, *_: epsilon}),
    Planted("ldp-composition", "confirmed"),
    Planted("ldp-composition", "refuted", laws={
        "bruit.numbers.BoundedLaplace.probabilities": lambda self: np.array([[1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6]])}),
    Planted("cleaning-baseline", "confirmed", runs(1, protocol="clean", **CLEAN) + _ANEW),
    Planted("cleaning-baseline", "refuted", runs(1, protocol="clean", accuracy=0.7, f1=0.6) + _ANEW),
    Planted("cleaning-run", "confirmed",
            runs(protocol="printed", mechanism=LAPLACE, epsilon=1.0, accuracy=(0.6, 0.05), f1=(0.12, 0.05))),
    Planted("cleaning-run", "refuted",
            runs(protocol="printed", mechanism=LAPLACE, epsilon=1.0, accuracy=(0.9, 0.01), f1=(0.12, 0.05))),
    Planted("cleaning-comparison", "confirmed",
            _cleaned("printed", 1.0, laplace=0.6) + _cleaned("honest", 1.0, laplace=0.6) + _ANEW),
    Planted("cleaning-comparison", "corrected",
            _cleaned("printed", 1.0, laplace=0.5) + _cleaned("honest", 1.0, laplace=0.6) + _ANEW),
    Planted("cleaning-small", "confirmed", _cleaned("printed", 0.1, laplace=0.5, printed=0.5)),
    Planted("cleaning-small", "refuted", _cleaned("printed", 0.1, laplace=0.5, printed=0.55)),
    Planted("cleaning-small", "corrected", _cleaned("printed", 0.7, laplace=0.6, printed=0.6)),
    Planted("cleaning-large", "confirmed", _cleaned("honest", 1.0, laplace=0.6, printed=0.7, staircase=0.7)),
    Planted("cleaning-large", "refuted", _cleaned("honest", 1.0, laplace=0.6, printed=0.6, staircase=0.6)),
    Planted("cleaning-large", "confirmed", _cleaned("honest", 1.0, laplace=0.6, printed=0.6, staircase=0.6)
            + _cleaned("honest", 2.0, laplace=0.6, printed=0.7, staircase=0.7)),
    Planted("cleaning-large", "corrected", _cleaned("honest", 1.0, laplace=0.6, printed=0.5, staircase=0.5)
            + _cleaned("honest", 2.0, laplace=0.6, printed=0.7, staircase=0.7)),
    Planted("cleaning-large", "corrected", _cleaned("honest", 1.0, laplace=0.6, printed=0.7, staircase=0.7)
            + _cleaned("honest", 2.0, laplace=0.6, printed=0.6, staircase=0.6)),
    Planted("cleaning-bounds", "corrected"),
    Planted("cleaning-bounds", "confirmed",
            laws={"bruit_studies.numeric_cleaning._sets_a_bound": lambda column: False}),
]  # fmt: skip


def _unary(best: float, loss: float) -> list[Row]:
    return [{"part": "unary", "frequency": f, "epsilon": 1.0, "best_p": best, "loss": loss} for f in (0.0, 0.5)]


def _oracles(frequent: float) -> list[Row]:
    """GRR is best for a value that nobody has; its variance for others is this much, that of the others 1."""
    return [
        {"part": "oracles", "oracle": name, "frequency": f, "epsilon": 1.0,
         "variance": (0.5 if not f else frequent) if name == "GRR" else 1.0}
        for name in COURSE for f in (0.0, 0.01, 0.1, 0.5, 1.0)
    ]  # fmt: skip


def _small(ratio: float) -> list[Row]:
    return [{"part": "oracles", "frequency": 0.0, "epsilon": variance.EPSILONS[11], "variance": 1e-5,
             "small": 1e-5 * ratio}]  # fmt: skip


def _coverage(frequent: float) -> list[Row]:
    row = {"part": "coverage", "epsilon": 4.0, "n": 1000}
    return [{**row, "frequency": 0.0, "covered": 0.95}, {**row, "frequency": 0.5, "covered": frequent}]


def _split(split: float, sample: float, frequency: float = 0.0) -> Row:
    return {"part": "split or sample", "frequency": frequency, "epsilon": 4.0, "split": split, "sample": sample,
            "undivided": 1.0}  # fmt: skip


def _fakes(error: tuple[float, float], printed: float = 1.0, exact: float = 1.0) -> list[Row]:
    return runs(part="fakes", d=2, k=4, error=error, printed=printed, exact=exact)


def _surface(low: float, high: float) -> list[Row]:
    return [
        {"part": "surface", "calibration": name, "d": d, "k": k, "GRR": low if d == 2 else high, "OUE": 0.0}
        for name in ("published", "same") for d in (2, 3) for k in (2, 3)
    ]  # fmt: skip


VARIANCE = [
    Planted("oue-minimises", "improved", _unary(0.5, 5.0)),
    Planted("oue-minimises", "confirmed", _unary(0.5, 1.0)),
    Planted("oue-minimises", "refuted", _unary(0.3, 5.0)),
    Planted("star-choice", "improved", _oracles(9.0)),
    Planted("star-choice", "confirmed", _oracles(0.5)),
    Planted("one-over-n", "confirmed", _small(variance.N / 100)),
    Planted("one-over-n", "refuted", _small(1.0)),
    Planted("zero-frequency", "confirmed", _coverage(0.5)),
    Planted("zero-frequency", "refuted", _coverage(0.95)),
    Planted("divided-budget", "confirmed", [_split(4.0, 1.0)]),
    Planted("divided-budget", "refuted", [_split(0.5, 1.0)]),
    Planted("sampling-ignores-f", "confirmed", [_split(2.0, 1.0), _split(1.0, 2.0, 0.5)]),
    Planted("sampling-ignores-f", "refuted", [_split(2.0, 1.0), _split(2.0, 1.0, 0.5)]),
    Planted("fakes-unbiased", "confirmed", _fakes((0.0, 1.0))),
    Planted("fakes-unbiased", "refuted", _fakes((1.0, 0.1))),
    Planted("fakes-variance", "corrected", _fakes((0.0, 1.0), printed=0.5)),
    Planted("fakes-variance", "confirmed", _fakes((0.0, 1.0), exact=1.3)),
    Planted("fakes-variance", "refuted", _fakes((0.0, 1.0), exact=0.1)),
    Planted("adaptive", "confirmed", _surface(-0.01, 0.01)),
    Planted("adaptive", "refuted", _surface(-0.02, -0.01)),
    Planted("surface-axis", "confirmed", _surface(-0.02, 0.02)),
    Planted("surface-axis", "refuted", _surface(-0.2, 0.2)),
]

_LN3 = several.EPSILONS[1]


def _mse(count: int = 40, *, calibrations: Sequence[str] = ("published", "person"), data: str = "nursery",
         spread: float = 0.01, **means: float) -> list[Row]:  # fmt: skip
    """Errors by method (named without brackets) at ε = ln 2 and ln 7."""
    names = {"spl": "SPL[ADP]", "smp": "SMP[ADP]", "adp": "RS+FD[ADP]", "grr": "RS+FD[GRR]", "oue": "RS+FD[OUE-z]",
             "prior": "RS+RFD[GRR]"}  # fmt: skip
    return [
        row
        for name, mean in means.items() for calibration in calibrations
        for epsilon in (several.EPSILONS[0], several.EPSILONS[-1])
        for row in runs(count, part="error", data=data, calibration=calibration, method=names[name], epsilon=epsilon,
                        mse=(mean, mean * spread), raw=(mean, mean * spread))
    ]  # fmt: skip


def _nursery(method: str, factor: float, count: int, spread: float) -> list[Row]:
    return [
        row
        for epsilon, mean in zip(several.EPSILONS, several.NURSERY[method], strict=True)
        for row in runs(count, part="error", data="nursery", calibration="published", method=method, epsilon=epsilon,
                        mse=(mean * factor, mean * factor * spread))
    ]  # fmt: skip


def _exact(person: float = 1.0, attribute: float = 1.0, method: str = "RS+FD[GRR]", **fields: Any) -> Row:
    """Guarantees in multiples of ε = ln 3."""
    return {"part": "exact", "data": "nursery", "calibration": "published", "epsilon": _LN3, "method": method,
            "person": person * _LN3, "attribute": attribute * _LN3, **fields}  # fmt: skip


def _attribute(person: float) -> list[Row]:
    return [_exact(person, 0.5, f"RS+FD[{base}]", calibration="person") for base in ("GRR", "OUE-z", "ADP")]


def _prior(person: float, attribute: float) -> list[Row]:
    own = {"calibration": "person"}
    return [_exact(**own), _exact(person, attribute, "RS+RFD[GRR]", **own)]


_CURVES = {"rsfd-grr": "RS+FD[GRR]", "rsfd-oue-z": "RS+FD[OUE-z]", "rsfd-adp": "RS+FD[ADP]", "spl": "SPL[ADP]",
           "smp": "SMP[ADP]"}  # fmt: skip
SEVERAL = [
    *(Planted(f"several-nursery-{label}", kind, _nursery(method, *form))
      for label, method in _CURVES.items()
      for kind, form in (("confirmed", (1.0, 20, 0.1)), ("refuted", (2.0, 20, 0.1)), ("open", (1.3, 4, 0.9)))),
    Planted("several-person", "refuted", [_exact(2.7)]),
    Planted("several-person", "confirmed", [_exact(1.0)],
            {"bruit.audit.exact_plan": lambda *_: SimpleNamespace(epsilon=math.log(2))}),
    Planted("several-attribute", "confirmed", _attribute(1.0)),
    Planted("several-attribute", "refuted", _attribute(1.2)),
    Planted("several-split", "confirmed", _mse(spl=9.0, smp=1.0)),
    Planted("several-split", "corrected", _mse(spl=1.0, smp=9.0)),
    Planted("several-close", "confirmed", _mse(adp=1.0, smp=1.0)),
    Planted("several-close", "corrected",
            _mse(calibrations=["published"], adp=1.0, smp=1.0) + _mse(calibrations=["person"], adp=9.0, smp=1.0)),
    Planted("several-close", "refuted", _mse(adp=9.0, smp=1.0)),
    Planted("several-realistic", "confirmed", _mse(grr=1.0, prior=0.5)),
    Planted("several-realistic", "improved", _mse(grr=1.0, prior=0.5) + _mse(data="adult", grr=1.0, prior=1.0)),
    Planted("several-realistic", "refuted", _mse(grr=1.0, prior=1.0)),
    Planted("several-prior-free", "confirmed", _prior(1.0, 1.0)),
    Planted("several-prior-free", "confirmed", _prior(1.0, 2.0)),
    Planted("several-prior-free", "refuted", _prior(2.0, 1.0)),
    Planted("several-dispersion", "confirmed", _mse(spread=0.3, grr=1.0, oue=1.0)),
    Planted("several-dispersion", "refuted", _mse(spread=0.01, grr=1.0, oue=9.0)),
]  # fmt: skip


def _rates(count: int = 6, attacker: str = "bayes", **fields: Any) -> list[Row]:
    place = {"part": "rate", "attacker": attacker, "method": "RS+FD[GRR]", "epsilon": 1.0, "n": 10_000}
    return runs(count, **{**place, "baseline": 5.6, "synthetic": 1, **fields})


def _who(least: float) -> list[Row]:
    return [{"part": "who", "method": "RS+FD[GRR]", "epsilon": 1.0, "attribute": name, "found": share, "told": 500}
            for name, share in (("RAC1P", 68.0), ("SEX", least))]  # fmt: skip


def _learnt(count: int, gap: float) -> list[Row]:
    return [
        row
        for method, synthetic, epsilon in NEEDED
        for row in _rates(count, "xgboost", method=method, synthetic=synthetic, epsilon=epsilon,
                          rate=(published(method, synthetic, epsilon) + gap, 0.1))
    ]  # fmt: skip


ATTACK = [
    Planted("attack-inferred", "confirmed", _rates(rate=(20.0, 0.1))),
    Planted("attack-inferred", "refuted", _rates(rate=(5.7, 0.1))),
    Planted("attack-minimal", "confirmed", _rates(rate=(20.0, 0.1), informed=(20.5, 0.1))),
    Planted("attack-minimal", "corrected", _rates(rate=(20.0, 0.1), informed=(25.0, 0.1))),
    Planted("attack-xgboost", "open", _rates(2, "xgboost", rate=(20.0, 0.1), closed=(25.0, 0.1))),
    Planted("attack-xgboost", "improved", _rates(6, "xgboost", rate=(20.0, 0.1), closed=(25.0, 0.1))),
    Planted("attack-xgboost", "confirmed", _rates(6, "xgboost", rate=(20.0, 0.1), closed=(20.1, 0.1))),
    Planted("attack-equitable", "corrected", _who(0.0)),
    Planted("attack-equitable", "confirmed", _who(66.0)),
    Planted("attack-published", "confirmed", _learnt(6, 0.3)),
    Planted("attack-published", "refuted", _learnt(6, 4.0)),
    Planted("attack-published", "open", _learnt(2, 0.3)),
    Planted("attack-published", "open", [row for row in _learnt(6, 0.3) if row["method"] == "RS+FD[GRR]"]),
]


def _found(count: int = 6, attacker: str = "bayes", fakes: str = "plan", **rates: float) -> list[Row]:
    return [
        row
        for prior, rate in rates.items()
        for epsilon in (1.0, 5.0)
        for row in runs(count, attacker=attacker, fakes=fakes, prior=prior, epsilon=epsilon, n=10_000,
                        rate=(rate, 0.1))
    ]  # fmt: skip


_LOW = PUBLISHED["RS+RFD[GRR]", 1][0]
COUNTERMEASURE = [
    Planted("countermeasure-works", "corrected", _found(uniform=20.0, values=13.0, reports=6.0)),
    Planted("countermeasure-works", "confirmed", _found(uniform=20.0, values=5.6, reports=5.6)),
    Planted("countermeasure-works", "refuted", _found(uniform=20.0, values=20.0, reports=6.0)),
    Planted("countermeasure-sometimes", "confirmed", _found(uniform=20.0, values=9.0, wrong=36.0)),
    Planted("countermeasure-sometimes", "corrected", _found(uniform=20.0, values=9.0, wrong=20.0)),
    Planted("countermeasure-sometimes", "refuted", _found(uniform=20.0, values=20.0, wrong=36.0)),
    *(Planted("countermeasure-published", kind, _found(count, "xgboost", "uniform", values=rate)
              + _found(count, "xgboost", values=11.0))
      for kind, count, rate in (("confirmed", 6, _LOW), ("refuted", 6, 11.0), ("open", 1, _LOW))),
]  # fmt: skip


def _known(nk: float = 20.0, pk: float = 15.0, hm: float = 20.0, *, more: float = 0.0, most: float = 0.0,
           methods: Sequence[str] = attacker_knowledge.PROTOCOLS, attacker: str = "xgboost", data: str = "acs",
           fakes: str = "plan", epsilons: Sequence[float] = (1.0, 10.0), count: int = 6) -> list[Row]:  # fmt: skip
    """Rates by model: `more` is added for more made-up people, `most` for more known ones."""
    rates = {"none": (nk, more, attacker_knowledge.NK), "partial": (pk, most, attacker_knowledge.PK),
             "hybrid": (hm, 0.0, attacker_knowledge.HM)}  # fmt: skip
    return [
        row
        for method in methods for epsilon in epsilons
        for rate, gain, models in rates.values() for place, model in enumerate(models)
        for row in runs(count, attacker=attacker, data=data, method=method, fakes=fakes, epsilon=epsilon,
                        **model._asdict(), rate=(rate + place * gain / 2, 0.1), n=5000,
                        baseline=5.6 if data == "acs" else 11.1)
    ]  # fmt: skip


def _ends(sue: tuple[float, float], oue: tuple[float, float], fakes: str = "zr") -> list[Row]:
    """What the closed form finds with SUE and OUE at ε = 1 and 10, alike for both fakes unless they are named."""
    names = {"SUE": sue, "OUE": oue}
    return [
        row
        for kind in "zr" for base, pair in names.items()
        for epsilon, rate in zip((1.0, 10.0), pair if kind in fakes else (20.0, 20.0), strict=True)
        for row in runs(6, attacker="bayes", data="acs", method=f"RS+FD[{base}-{kind}]", knowledge="none",
                        epsilon=epsilon, rate=(rate, 0.1), n=10_000)
    ]  # fmt: skip


def _fakes_known(right: float, mistaken: float, pk: float) -> list[Row]:
    methods = [attacker_knowledge.REALISTIC]
    return _known(right, pk, methods=methods) + _known(mistaken, pk, methods=methods, fakes="uniform")


def _ceiling(uniform: float, oue: float, sue: float) -> list[Row]:
    return [
        row
        for methods, rate in ((attacker_knowledge.UNIFORM_FAKES, uniform), (["RS+FD[OUE-z]"], oue),
                              (["RS+FD[SUE-z]"], sue))
        for row in _known(rate, 10.0, rate, methods=methods)
    ]  # fmt: skip


ATTACKER_KNOWLEDGE = [
    Planted("knowledge-increase", "confirmed", _known()),
    Planted("knowledge-increase", "corrected", _known(pk=8.0)),
    Planted("knowledge-increase", "refuted", _known(pk=5.6)),
    Planted("knowledge-synthetic-wins", "confirmed", _known()),
    Planted("knowledge-synthetic-wins", "refuted", _known(pk=25.0)),
    Planted("knowledge-synthetic-wins", "corrected", _known(nk=14.0, more=2.0)),
    Planted("knowledge-synthetic-wins", "open", _known(pk=20.0)),
    Planted("knowledge-impact", "confirmed", _known(more=1.0, most=5.0)),
    Planted("knowledge-impact", "refuted", _known(more=5.0, most=1.0)),
    Planted("knowledge-alike", "confirmed", _known()),
    Planted("knowledge-alike", "corrected", _known(hm=27.0)),
    Planted("knowledge-ceilings", "confirmed", _ceiling(24.0, 48.0, 97.0)),
    Planted("knowledge-ceilings", "corrected", _ceiling(40.0, 48.0, 97.0)),
    Planted("knowledge-ceilings", "corrected", _ceiling(24.0, 48.0, 80.0)),
    Planted("knowledge-symmetric", "confirmed", _ends((15.0, 40.0), (20.0, 30.0))),
    Planted("knowledge-symmetric", "corrected", _ends((15.0, 40.0), (20.0, 30.0), "z")),
    Planted("knowledge-symmetric", "refuted", _ends((15.0, 15.0), (20.0, 20.0))),
    Planted(
        "knowledge-symmetric",
        "confirmed",
        [
            *(row for row in _ends((20.0, 40.0), (20.0, 30.0)) if "-r" in row["method"]),
            *(row for row in _ends((15.0, 40.0), (20.0, 30.0)) if "-z" in row["method"]),
        ],
    ),
    *(
        Planted(
            "knowledge-uniform-values",
            kind,
            [
                row
                for data, rate in (("nursery", whole), (attacker_knowledge.UNIFORM_TABLE, uniform))
                for row in _known(rate, rate, rate, data=data, methods=attacker_knowledge.UNIFORM_FAKES)
            ],
        )
        for kind, whole, uniform in (("confirmed", 11.5, 11.2), ("corrected", 20.0, 11.2), ("refuted", 20.0, 20.0))
    ),
    Planted("knowledge-realistic", "corrected", _fakes_known(12.0, 5.0, 10.0)),
    Planted("knowledge-realistic", "confirmed", _fakes_known(10.0, 5.0, 12.0)),
    Planted("knowledge-realistic", "refuted", _fakes_known(10.0, 10.0, 8.0)),
]


def _survey(method: str, *, ten: float, variance: float = 1.0, unit: str = "person", epsilon: float = 10.0,
            surveys: int = 5, table: str = "adult") -> list[Row]:  # fmt: skip
    return runs(3, table=table, method=method, unit=unit, epsilon=epsilon, surveys=surveys, n=3000, ten=(ten, 0.1),
                variance=variance, person=epsilon)  # fmt: skip


def _line(tens: Sequence[float]) -> list[Row]:
    """Methods with less and less variance, and how many people each lets be found."""
    methods = enumerate(zip(attributes_under_attack.PERSON, tens, strict=True), start=1)
    return [row for place, (method, ten) in methods for row in _survey(method, ten=ten, variance=1 / place)]


def _hiding(hidden: float, cost: float) -> list[Row]:
    return [*_survey("RS+FD[GRR]", ten=hidden, variance=cost), *_survey("SMP[GRR]", ten=50.0),
            *_survey(attributes_under_attack.MATCHED, ten=6.0, variance=cost)]  # fmt: skip


def _realistic(*pairs: tuple[float, float]) -> list[Row]:
    return [
        row
        for table, pair in zip(("adult", "nursery"), pairs, strict=False)
        for method, ten in zip(("RS+FD[GRR]", "RS+RFD[GRR]"), pair, strict=True)
        for row in _survey(method, ten=ten, unit="papers", table=table)
    ]


ATTRIBUTES_UNDER_ATTACK = [
    Planted("trade-off", "confirmed", _line([10.0, 20.0, 30.0, 40.0, 50.0, 60.0])),
    Planted("trade-off", "improved", _line([10.0, 20.0, 40.0, 30.0, 50.0, 60.0])),
    Planted("trade-off", "refuted", _line([60.0, 50.0, 40.0, 30.0, 20.0, 10.0])),
    Planted("shared-attribute", "confirmed", _hiding(5.0, 1.0)),
    Planted("shared-attribute", "confirmed", _hiding(1.0, 15.0)),
    Planted("shared-attribute", "corrected", _hiding(5.0, 15.0)),
    Planted("shared-attribute", "refuted", _hiding(60.0, 15.0)),
    Planted("surveys-add-up", "confirmed", _survey("SMP[GRR]", ten=5.0, surveys=1) + _survey("SMP[GRR]", ten=50.0)),
    Planted("surveys-add-up", "refuted", _survey("SMP[GRR]", ten=5.0, surveys=1) + _survey("SMP[GRR]", ten=5.0)),
    Planted("realistic-robust", "confirmed", _realistic((20.0, 5.0), (20.0, 5.0))),
    Planted("realistic-robust", "corrected", _realistic((5.0, 20.0), (5.0, 5.0))),
    Planted(
        "realistic-robust",
        "refuted",
        _realistic((5.0, 20.0), (5.0, 5.0)),
        {"bruit_studies.attributes_under_attack.sampled_rates": lambda: (20.0, 12.0)},
    ),
    Planted("realistic-robust", "corrected", _realistic((5.0, 20.0), (20.0, 5.0))),
    Planted("realistic-robust", "open", _realistic((5.0, 5.0), (20.0, 5.0))),
]


def _listing(printed: float) -> list[Row]:
    return [
        row
        for method, error in (("printed", printed), ("histogram", 0.005))
        for row in runs(part="error", column="normal", epsilon=1.0, method=method, error=(error, 0.001))
    ]


def _theorem(printed: float) -> list[Row]:
    return runs(part="theorem", steps=deciles.EDGES, n=deciles.SIZES[-1], decile=5, printed=printed, corrected=0.9,
                success=1.0)  # fmt: skip


def _ranks(histogram: float) -> list[Row]:
    return [row for column in deciles.DRAWN for method, rank in (("histogram", histogram), ("auto", 5.0))
            for row in runs(part="error", column=column, epsilon=1.0, n=100_000, method=method,
                            rank_error=(rank, 0.1))]  # fmt: skip


DECILES = [
    Planted("above-threshold-dp", "confirmed"),
    Planted("above-threshold-dp", "refuted", laws={"bruit.releases.AboveThreshold.loss": 2.0}),
    Planted("histogram-dp", "confirmed"),
    Planted(
        "histogram-dp",
        "refuted",
        laws={"bruit.releases.AboveThreshold.threshold_noise": SimpleNamespace(loss=lambda change: 1.0)},
    ),
    Planted("histogram-queries", "slip"),
    Planted("histogram-queries", "confirmed", laws={"bruit_studies.deciles.beyond": lambda *_: 0.0}),
    Planted("histogram-listing", "corrected", _listing(0.3)),
    Planted("histogram-listing", "confirmed", _listing(0.005)),
    Planted("above-threshold-alpha", "corrected"),
    Planted("above-threshold-alpha", "confirmed", laws={"bruit_studies.deciles.printed_alpha": lambda *_: 29.5}),
    Planted("above-threshold-alpha", "refuted", laws={"bruit.releases.AboveThreshold.accuracy": lambda *_: 1000}),
    Planted("histogram-alpha", "corrected"),
    Planted("histogram-alpha", "confirmed", laws={"bruit.releases.quantiles.above_threshold_accuracy": lambda *_: 85}),
    Planted("histogram-theorem", "corrected", _theorem(-1.05)),
    Planted("histogram-theorem", "refuted", _theorem(1.5)),
    Planted("histogram-theorem", "confirmed", _theorem(0.5)),
    Planted("histogram-cost", "improved"),
    Planted("histogram-cost", "refuted", laws={"bruit_studies.deciles.comparisons": lambda n, steps: n**2 * steps}),
    Planted("normal-deciles", "confirmed"),
    Planted("normal-deciles", "refuted", laws={"scipy.special.ndtri": lambda shares: shares}),
    Planted("histogram-any-quantile", "improved", _ranks(500.0)),
    Planted("histogram-any-quantile", "confirmed", _ranks(5.0)),
    Planted("histogram-any-quantile", "refuted", _ranks(9000.0)),
]

_LEMMAS = "bruit_studies.decile_lemmas."
DECILE_LEMMAS = [
    *(
        Planted(f"lemma-deciles-{law}", kind, laws={} if bound is None else {_LEMMAS + "empirical_decile": bound})
        for law in ("uniform", "normal")
        for kind, bound in (
            ("corrected", None),
            ("confirmed", lambda *_: Bound(0.9, 0.8, 0.8)),
            ("refuted", lambda *_: Bound(0.5, 0.8, 0.4)),
            ("refuted", lambda *_: Bound(0.5, -1.0, 0.8)),
        )
    ),
    *(
        Planted(f"lemma-enough-{law}", kind, laws={} if bound is None else {_LEMMAS + "enough_records": bound})
        for law in ("uniform", "normal")
        for kind, bound in (("confirmed", None), ("refuted", lambda *_: Bound(0.5, 0.8, 0.4)))
    ),
    Planted("theorem-normal", "corrected"),
    Planted("theorem-normal", "confirmed", laws={_LEMMAS + "normal_theorem": lambda *_: 0.9}),
]

INVERSE_SENSITIVITY = [
    Planted("inverse-dp", "confirmed"),
    Planted("inverse-dp", "refuted", laws={"bruit.releases.InverseSensitivity.loss_between": lambda *_: 2}),
    Planted("inverse-length-zero", "confirmed"),
    Planted(
        "inverse-length-zero",
        "refuted",
        laws={"bruit_studies.inverse_sensitivity.lengths_by_definition": lambda records, places: {0: 0, 1: 0}},
    ),
    Planted("inverse-credit", "slip"),
    Planted("inverse-credit", "confirmed", laws={"bruit_studies.inverse_sensitivity.CREDITED": 2020}),
]


def _pima(part: str = "pima", **scores: tuple[float, float] | float) -> list[Row]:
    """Accuracy by model at four ε; 0.6 unless given."""
    models = ("gnb", "dp_gnb", "vaidya", "stair_gnb", "lr", "dp_lr", "functional", "stair_lr")
    full = {**dict.fromkeys(models, 0.6), "majority": 0.65, **scores}
    pairs = {name: score if isinstance(score, tuple) else (score, 0.01) for name, score in full.items()}
    return [row for epsilon in (0.1, 1.0, 10.0, 30.0) for row in runs(part=part, epsilon=epsilon, **pairs)]


def _theirs(**scores: tuple[float, float] | float) -> list[Row]:
    """The same of diffprivlib's models, which decide."""
    return _pima("diffprivlib pima", **{"dp_lr_bounded": 0.6, "dp_gnb_bounded": 0.6, **scores})


def _logistic() -> list[Row]:
    return runs(part="logistic", epsilon=1.0, functional_logistic=0.6, logistic=0.77, majority=0.65)


def _printed(stops: str, leaks: float) -> list[Row]:
    """What the printed calls do."""
    names = ("GaussianNB", "LinearRegression", "KMeans")
    rows = [{"listing": f"{name} as imported", "stops": stops, "leaks": 0.0} for name in names[:2]]
    return rows + [{"listing": f"{name} without bounds", "stops": "", "leaks": leaks} for name in names]


_EXACT = "bruit_studies.central_or_local.exact."
_SLOPE = "bruit.learning.linear_regression.objective.Objective.minimiser"
CENTRAL_OR_LOCAL = [
    Planted("learning-gnb-best", "improved", _theirs(gnb=0.8) + _pima()),
    Planted("learning-gnb-best", "refuted", _theirs(dp_gnb=0.7) + _pima(gnb=0.8)),
    Planted("learning-dp-gnb-beats-stair", "corrected", _theirs() + _pima(dp_gnb=0.8, vaidya=0.8)),
    Planted("learning-dp-gnb-interest", "confirmed", _theirs(gnb=0.8, dp_gnb=0.8)),
    Planted("learning-dp-gnb-interest", "refuted", _theirs(gnb=0.8)),
    Planted("learning-dp-gnb-interest", "corrected", _theirs(gnb=0.9, dp_gnb=0.8)),
    Planted("learning-lr-best", "confirmed", _theirs(lr=0.8)),
    Planted("learning-lr-best", "refuted", _theirs(stair_lr=0.7)),
    Planted("learning-dp-lr-variance", "improved", _theirs(dp_lr=(0.6, 0.1)) + _pima()),
    Planted("learning-dp-lr-variance", "refuted", _theirs()),
    Planted("learning-lr-random", "confirmed", _theirs()),
    Planted("learning-lr-random", "corrected", _theirs(dp_lr=0.8)),
    Planted("learning-lr-random", "refuted", _theirs(dp_lr=0.8, stair_lr=0.8)),
    Planted("learning-stair-lr-wins", "confirmed", _theirs(stair_lr=0.8)),
    Planted("learning-stair-lr-wins", "improved", _theirs(stair_lr=0.8) + _pima()),
    Planted("learning-stair-lr-wins", "refuted", _theirs()),
    Planted("learning-listing-import", "slip", _printed("AttributeError: no models", 1.0)),
    Planted("learning-listing-import", "confirmed", _printed("", 1.0)),
    Planted("learning-listing-bounds", "corrected", _printed("", 1.0) + _theirs()),
    Planted("learning-listing-bounds", "confirmed", _printed("", 0.0) + _theirs()),
    *(
        Planted(
            "kmeans-listing-labels",
            kind,
            runs(part="diffprivlib iris", kmeans_labels=exact, kmeans_bounded_labels=exact),
        )
        for kind, exact in (("corrected", 1.0), ("confirmed", 0.7))
    ),
    Planted("learning-gnb-best", "confirmed", _pima(gnb=0.8)),
    Planted("learning-gnb-best", "open", _pima()),
    Planted("learning-dp-gnb-beats-stair", "confirmed", _pima(dp_gnb=0.8, vaidya=0.8)),
    Planted("learning-dp-gnb-beats-stair", "open", _pima()),
    Planted("learning-stair-gnb-random", "confirmed", _pima(stair_gnb=0.6)),
    Planted("learning-stair-gnb-random", "corrected", _pima(stair_gnb=0.8)),
    Planted("learning-dp-gnb-interest", "confirmed", _pima(gnb=0.8, dp_gnb=0.8, vaidya=0.8)),
    Planted("learning-dp-gnb-interest", "open", _pima(gnb=0.8)),
    Planted("learning-lr-best", "confirmed", _pima(lr=0.8)),
    Planted("learning-lr-best", "open", _pima()),
    Planted("learning-dp-lr-variance", "confirmed", _pima(functional=(0.6, 0.1), dp_lr=(0.6, 0.1))),
    Planted("learning-dp-lr-variance", "open", _pima()),
    Planted("learning-lr-random", "confirmed", _pima()),
    Planted("learning-lr-random", "open", _pima(dp_lr=0.8)),
    Planted("learning-stair-lr-wins", "confirmed", _pima(stair_lr=0.8)),
    Planted("learning-stair-lr-wins", "open", _pima()),
    Planted("learning-dp-lr-listing", "corrected", _pima(lr=0.8)),
    Planted("learning-dp-lr-listing", "confirmed", _pima()),
    Planted("learning-discrete-example", "confirmed"),
    Planted(
        "learning-discrete-example",
        "refuted",
        laws={_EXACT + "_PAYMENTS": "Young Medium Female Yes; Young Medium Female No"},
    ),
    Planted("learning-continuous-example", "confirmed"),
    Planted("learning-continuous-example", "corrected", laws={_EXACT + "_PRINTED_SCORES": (1e-5, 1e-5)}),
    Planted("learning-mean-sensitivity", "corrected"),
    Planted("learning-mean-sensitivity", "refuted", laws={_EXACT + "worst_moments": lambda *_: (1.0, 1.0)}),
    Planted("learning-variance-sensitivity", "corrected"),
    Planted("learning-variance-sensitivity", "confirmed", laws={_EXACT + "_moved": lambda *_: (0.0, 0.0)}),
    Planted("learning-class-counts", "refuted"),
    Planted("learning-class-counts", "confirmed", laws={_EXACT + "SOME_EPSILONS": (100.0,)}),
    Planted("learning-budget", "corrected"),
    Planted("learning-budget", "confirmed", laws={_EXACT + "_moved": lambda *_: (0.0, 0.0)}),
    Planted("least-squares-example", "slip"),
    Planted("least-squares-example", "refuted", laws={_EXACT + "_POINTS": ((1, 0), (0, 1))}),
    Planted("least-squares-unbounded", "confirmed"),
    Planted("least-squares-unbounded", "refuted", laws={_SLOPE: lambda self: [0, int(self.linear[1] != 0)]}),
    Planted("functional-sensitivity", "confirmed"),
    Planted("functional-sensitivity", "refuted", laws={_EXACT + "worst_changes": lambda *_: (99.0, 99.0)}),
    Planted("functional-example", "corrected"),
    Planted("functional-example", "confirmed", laws={_EXACT + "worst_changes": lambda *_, **__: (8.0, 8.0)}),
    Planted("kmeans-sensitivities", "confirmed"),
    Planted("kmeans-sensitivities", "refuted", laws={_EXACT + "_records": lambda d, r: np.full((1, d), 2 * r)}),
    Planted("learning-histogram-sensitivity", "confirmed"),
    Planted("learning-histogram-sensitivity", "refuted", laws={_EXACT + "histogram_change": lambda **_: 2}),
    Planted("functional-logistic", "confirmed", _logistic()),
    Planted("functional-logistic", "refuted", _logistic(), {"bruit_studies.as_printed.worst_change": lambda row: 99.0}),
    Planted("kmeans-convergence", "confirmed"),
    Planted("kmeans-convergence", "refuted", laws={_EXACT + "stopping_loss": lambda *_: 1.5}),
    Planted("kmeans-assignment", "confirmed"),
    Planted("kmeans-assignment", "confirmed", laws={_EXACT + "_assigned": lambda points, centres: (0,) * len(points)}),
    Planted("kmeans-assignment", "refuted", laws={_EXACT + "_assigned": lambda points, centres: (points[0] > 0,) * 6}),
    Planted("kmeans-update", "confirmed"),
    Planted("kmeans-update", "refuted", laws={_EXACT + "_centre": lambda points: (0.5, len(points))}),
    Planted("kmeans-start", "confirmed"),
    Planted(
        "kmeans-start",
        "refuted",
        laws={_EXACT + "_box_law": lambda records, cells: np.arange(1, cells + 1) ** (len(records) / 10)},
    ),
]

_ROUNDS = "bruit_studies.rounds."


def _averaged(many: float) -> list[Row]:
    fields = {"part": "averaging", "memoised": 0.4, "limit": 0.45}
    return [*runs(rounds=1, redrawn=0.2, **fields), *runs(rounds=64, redrawn=many, **fields)]


def _lost(cost: float) -> list[Row]:
    fields = {"part": "montana", "width": 1, "values": 1412, "distinct": 52.0, "claimed": 104.0}
    methods = {"by value": cost, "redrawn": 80.0, "epochs": 8.0}
    return [row for method, seen in methods.items() for row in runs(2, method=method, cost=seen, **fields)]


ROUNDS = [
    Planted("montana-loss", "refuted", _lost(325.0)),
    Planted("montana-loss", "confirmed", _lost(100.0)),
    Planted("averaging", "confirmed", _averaged(0.9)),
    Planted("averaging", "refuted", _averaged(0.3)),
    Planted("l-grr", "improved"),
    Planted("l-grr", "refuted", laws={_ROUNDS + "printed": lambda k: SimpleNamespace(epsilon=1.5, variance=17.2)}),
    Planted("l-grr", "confirmed", laws={_ROUNDS + "printed": lambda k: SimpleNamespace(epsilon=1.0, variance=17.2)}),
    Planted("loloha-buckets", "improved"),
    Planted("loloha-buckets", "refuted", laws={_ROUNDS + "published_buckets": lambda *_: 30}),
    Planted("loloha-buckets", "confirmed", laws={_ROUNDS + "_exact_variance": lambda *_: 99.0}),
    Planted("lifetime", "refuted"),
    Planted("lifetime", "confirmed", laws={_ROUNDS + "lifetime": lambda *_: (0.25, 0.28)}),
]


def _of_few(drawn: float, rotated: float) -> list[Row]:
    rows = {"part": "collections", "n": 20, "population": "zipf"}
    errors = {"drawn": drawn, "rotation": rotated}
    few = [
        row for epsilon in (1.0, 2.0) for name, error in errors.items()
        for row in runs(**rows, epsilon=epsilon, assignment=name, raw=(error, error / 50), consistent=1.0, shrunk=1.0)
    ]  # fmt: skip
    cells = (("zipf", 200, 0.6), ("steep", 1000, 2.0))
    return few + [
        row for population, n, shrunk in cells
        for row in runs(2, part="collections", population=population, n=n, epsilon=1.0, consistent=1.0, shrunk=shrunk)
    ]  # fmt: skip


FEW_PEOPLE = [
    Planted("few-people", "improved", _of_few(40.0, 32.0)),
    Planted("few-people", "confirmed", _of_few(40.0, 40.0)),
    Planted("few-people", "refuted", _of_few(0.9, 0.8)),
]

PLANTED = [
    *ROUNDS, *WARNER, *KRR, *KRR_LEARNING, *NUMERIC_CLEANING, *VARIANCE, *SEVERAL, *ATTACK, *ATTACKER_KNOWLEDGE,
    *COUNTERMEASURE, *FEW_PEOPLE,
    *ATTRIBUTES_UNDER_ATTACK, *DECILES, *DECILE_LEMMAS, *INVERSE_SENSITIVITY, *CENTRAL_OR_LOCAL,
]  # fmt: skip

CLAIMS = {claim.id: claim for study in all_studies() for claim in study.claims}


def test_a_judge_comes_to_the_verdict_that_is_planted(monkeypatch):
    wrong = []
    for planted in PLANTED:
        with monkeypatch.context() as patch:
            for name, law in planted.laws.items():
                patch.setattr(name, law)
            verdict = CLAIMS[planted.claim].verdict(planted.results)
        if verdict.kind != planted.kind:
            wrong.append(f"{planted.claim}: {planted.kind} is planted, the verdict is: {verdict.sentence}")
    assert wrong == []


def test_every_judge_has_two_outcomes_or_more():
    kinds = {claim: {planted.kind for planted in PLANTED if planted.claim == claim} for claim in CLAIMS}
    short = [claim for claim, planted in kinds.items() if len(planted - {"not judged"}) < 2]
    assert short == [], "add to PLANTED results on which these have another verdict"


def test_nothing_is_planted_for_a_claim_that_is_gone():
    assert {planted.claim for planted in PLANTED} <= CLAIMS.keys()


def test_no_place_of_a_document_is_judged_twice_with_the_same_statement():
    places = [(claim.document, claim.place, claim.statement) for claim in CLAIMS.values()]
    assert len(set(places)) == len(places)
