"""The sampled-attribute attack with XGBoost over protocols, profiles, knowledge and ε, recorded for three studies.

    nice -n 19 python bench/attack_grid.py --hours 3      goes on where it stopped; Ctrl-C loses one fit at most

A fit takes 2 to 25 seconds on one core, nearly all of it inside XGBoost. What matters most comes first: twenty runs at
ε = 1, 5 and 10 of RS+FD[GRR] and RS+RFD[GRR] with 1n and 5n made-up people, then of what compares made-up people with
known ones, then of RS+FD[GRR] with 3n, 2n and 4n, then of SUE-z; after that every protocol once, the models of
knowledge once, and more runs of all, GRR before others. Every trial is that of ``bruit study run --full`` with seed 0,
draw for draw; the rows go to ``src/bruit_studies/_recorded``, and the first line of each file says with which versions.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xgboost

from bruit_studies import attack, attacker_knowledge, countermeasure, recorded
from bruit_studies.study import Study, Trial

FOLDER = Path(__file__).resolve().parents[1] / "src" / "bruit_studies" / "_recorded"
STUDIES = {study.name: study for study in (attack.STUDY, countermeasure.STUDY, attacker_knowledge.STUDY)}
Key = tuple[str, str, int]
Job = tuple[Study, dict[str, Any], int]


#: What twenty runs are made of before anything else is tried more than a few times: the slides' protocol at three ε.
FEW = attacker_knowledge.SOME_EPSILONS
RUNS = 20


def jobs() -> Iterator[Job]:
    """Every trial, the most wanted first; some more than once."""
    grr, uniform = attack.METHODS[0], ("uniform", "plan")
    yield from (_learnt(grr, size, epsilon, run) for size in (1, 5) for run in range(RUNS) for epsilon in FEW)
    none, half = attacker_knowledge.NK, attacker_knowledge.PK[-1]
    realistic = attacker_knowledge.REALISTIC
    yield from _known([realistic], FEW, (none[-1],), range(1))  # so that no setting is left without a run
    yield from (_fakes(fakes, epsilon, run) for run in range(RUNS) for fakes in uniform for epsilon in FEW)
    yield from _known([realistic], FEW, (none[0], half, none[-1]), range(RUNS))
    yield from _known([grr], FEW, (none[0], half, none[-1]), range(RUNS))
    yield from _known(["RS+FD[SUE-z]", "RS+FD[OUE-z]"], (1.0, 10.0), (none[0], half), range(RUNS))
    yield from _known([grr], FEW, (none[1],), range(RUNS))
    yield from (_learnt(grr, size, epsilon, run) for size in (3, 2, 4) for run in range(RUNS) for epsilon in FEW)
    for run in range(RUNS):
        yield from (_learnt(attack.METHODS[1], size, epsilon, run) for size in (1, 5) for epsilon in FEW)
    for size in (1, 5):
        yield from (_learnt(m, size, epsilon, 0) for m in attack.PROTOCOLS for epsilon in attack.EPSILONS)
    for epsilons in ((1.0, 10.0), FEW):
        for sizes in ((0, 1), (5,)):
            yield from _knowledge(epsilons, sizes, 0)
    for size in (2, 4, 3):
        yield from (_learnt(m, size, epsilon, 0) for m in attack.PROTOCOLS for epsilon in attack.EPSILONS)
    for run in range(RUNS):
        yield from (_fakes(fakes, epsilon, run) for fakes in uniform for epsilon in attack.EPSILONS)
        for size in (1, 2, 3, 4, 5):
            yield from (_learnt(grr, size, epsilon, run) for epsilon in attack.EPSILONS)
    for run in range(RUNS):
        yield from _knowledge(attacker_knowledge.EPSILONS, (0, 1, 3, 5), run)
        for size in (1, 2, 3, 4, 5):
            yield from (_learnt(m, size, epsilon, run) for m in attack.PROTOCOLS for epsilon in attack.EPSILONS)


def _known(
    methods: Iterable[str],
    epsilons: Iterable[float],
    models: Iterable[attacker_knowledge.AttackerModel],
    runs: Iterable[int],
) -> Iterator[Job]:
    """Some attackers of the study of knowledge, on ACSEmployment, run by run."""
    for run, method, epsilon, model in product(runs, methods, epsilons, models):
        factors = {"attacker": "xgboost", "data": "acs", "method": method, "epsilon": epsilon, "people": 0}
        yield attacker_knowledge.STUDY, {**factors, **model._asdict()}, run


def _learnt(method: str, synthetic: int, epsilon: float, run: int) -> Job:
    factors = {"part": "rate", "attacker": "xgboost", "method": method, "synthetic": synthetic, "epsilon": epsilon}
    return attack.STUDY, {**factors, "people": 0}, run


def _fakes(fakes: str, epsilon: float, run: int) -> Job:
    factors = {"attacker": "xgboost", "fakes": fakes, "prior": "values", "epsilon": epsilon, "people": 0}
    return countermeasure.STUDY, factors, run


def _knowledge(epsilons: Iterable[float], sizes: Iterable[float], run: int) -> Iterator[Job]:
    """One attacker at a time, of those with so many made-up people for each real one: the cheaper ones come first."""
    first = ("RS+FD[GRR]", "RS+FD[SUE-z]", attacker_knowledge.REALISTIC)
    models = [model for model in attacker_knowledge.LEARNT if model.synthetic in sizes]
    settings = [factors for block in attacker_knowledge.STUDY.full for factors in block.combinations()]
    for factors in sorted(settings, key=lambda factors: (factors["data"], factors["method"] not in first)):
        if factors["attacker"] == "xgboost" and factors["epsilon"] in epsilons:
            yield from ((attacker_knowledge.STUDY, {**factors, **model._asdict()}, run) for model in models)


def rows_of(study: Study, factors: dict[str, Any], run: int) -> list[dict[str, Any]]:
    """The rows of one trial; of the study of knowledge, those of one attacker of a trial."""
    model = {
        name: factors[name] for name in attacker_knowledge.AttackerModel._fields if study is attacker_knowledge.STUDY
    }
    own = {name: value for name, value in factors.items() if name not in model}
    only = {"models": [attacker_knowledge.AttackerModel(**model)]} if model else {}
    metrics = study.trial(**own, **only, rng=study.stream(Trial(0, own, run), 0))
    return [{**own, "repetition": run, **row} for row in (metrics if isinstance(metrics, list) else [metrics])]


def key(study: str, factors: dict[str, Any], run: int) -> Key:
    return study, json.dumps({name: str(value) for name, value in factors.items()}, sort_keys=True), run


def known(study: Study) -> list[dict[str, Any]]:
    """The rows that are recorded already."""
    results = recorded.read(study.name)
    if results is None:
        return []
    names = list(results.columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*(results[name].tolist() for name in names), strict=True)]


def write(study: Study, rows: list[dict[str, Any]]) -> None:
    """All rows of a study, in order."""
    names = ("data", "method", "knowledge", "fakes", "synthetic", "share", "epsilon", "repetition")
    factors = [name for name in names if name in rows[0]]
    rows.sort(key=lambda row: [row[name] for name in factors])
    settings: dict[tuple[Any, ...], int] = {}
    for row in rows:
        setting = tuple(row[name] for name in factors[:-1])
        settings[setting] = settings.get(setting, 0) + 1
    counts = sorted(settings.values())
    often = f"{counts[0]} to {counts[-1]}" if counts[0] < counts[-1] else f"{counts[0]}"
    how = (
        f"XGBoost {xgboost.__version__} with NumPy {np.__version__} and Python {platform.python_version()}, by "
        f"bench/attack_grid.py, version {study.version} of the study, seed 0: {len(rows)} fits, {often} of each of "
        f"{len(settings)} settings"
    )
    recorded.write(FOLDER / f"{study.name}.csv", how, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1.0, help="how long to go on")
    end = time.monotonic() + 3600 * parser.parse_args().hours
    rows = {study.name: known(study) for study in STUDIES.values()}
    done = {key(name, _factors(name, row), int(row["repetition"])) for name, kept in rows.items() for row in kept}
    for study, factors, run in jobs():
        if time.monotonic() > end:
            break
        if key(study.name, factors, run) in done:
            continue
        done.add(key(study.name, factors, run))
        rows[study.name] += rows_of(study, factors, run)
        write(study, rows[study.name])
        print(study.name, factors, run, flush=True)


def _factors(study: str, row: dict[str, Any]) -> dict[str, Any]:
    """What a recorded row is known by among jobs."""
    whole = ("synthetic", "people")
    names = [
        *STUDIES[study].full[-1].factors,
        *(attacker_knowledge.AttackerModel._fields if "knowledge" in row else ()),
    ]
    return {name: int(row[name]) if name in whole else row[name] for name in names}


if __name__ == "__main__":
    main()
