"""The sampled-attribute attack with XGBoost over protocols, profiles and ε, recorded for two studies.

    nice -n 19 python bench/attack_grid.py --hours 3      goes on where it stopped; Ctrl-C loses one fit at most

A fit takes 2 to 25 seconds on one core. What matters most comes first: five runs where published rates are compared
(GRR and SUE-z at 1n and 5n, ε = 1 and 5), then every protocol once at 1n and 5n and all ε, then once at 2n, 3n and 4n,
then more runs of all. Every trial is that of ``bruit study run --full`` with seed 0, draw for draw; the rows go to
``src/bruit/studies/_recorded``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xgboost

from bruit.studies import attack, countermeasure, recorded
from bruit.studies.study import Study, Trial

FOLDER = Path(__file__).resolve().parents[1] / "src" / "bruit" / "studies" / "_recorded"
STUDIES = {study.name: study for study in (attack.STUDY, countermeasure.STUDY)}
Key = tuple[str, str, int]


def jobs() -> Iterator[tuple[Study, dict[str, Any], int]]:
    """Every trial, the most wanted first; some more than once."""
    for run in range(5):
        for method in attack.METHODS:
            yield from (_learnt(method, size, epsilon, run) for size in (1, 5) for epsilon in (1.0, 5.0))
    yield from (
        _fakes(fakes, epsilon, run) for run in range(5) for fakes in ("uniform", "plan") for epsilon in (1.0, 5.0)
    )
    for run in range(20):
        for size in (1, 5, 3, 2, 4):
            yield from (_learnt(m, size, epsilon, run) for m in attack.PROTOCOLS for epsilon in attack.EPSILONS)
        yield from (_fakes(fakes, epsilon, run) for fakes in ("uniform", "plan") for epsilon in attack.EPSILONS)


def _learnt(method: str, synthetic: int, epsilon: float, run: int) -> tuple[Study, dict[str, Any], int]:
    factors = {"part": "rate", "attacker": "xgboost", "method": method, "synthetic": synthetic, "epsilon": epsilon}
    return attack.STUDY, {**factors, "people": 0}, run


def _fakes(fakes: str, epsilon: float, run: int) -> tuple[Study, dict[str, Any], int]:
    factors = {"attacker": "xgboost", "fakes": fakes, "prior": "values", "epsilon": epsilon, "people": 0}
    return countermeasure.STUDY, factors, run


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
    factors = [name for name in ("method", "fakes", "synthetic", "epsilon", "repetition") if name in rows[0]]
    rows.sort(key=lambda row: [row[name] for name in factors])
    settings: dict[tuple[Any, ...], int] = {}
    for row in rows:
        setting = tuple(row[name] for name in factors[:-1])
        settings[setting] = settings.get(setting, 0) + 1
    counts = sorted(settings.values())
    often = f"{counts[0]} to {counts[-1]}" if counts[0] < counts[-1] else f"{counts[0]}"
    how = (
        f"XGBoost {xgboost.__version__}, by bench/attack_grid.py, seed 0: {len(rows)} fits, {often} of each of "
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
        metrics = study.trial(**factors, rng=study.stream(Trial(0, factors, run), 0))
        rows[study.name].append({**factors, "repetition": run, **dict(metrics)})  # type: ignore[arg-type]
        write(study, rows[study.name])
        print(study.name, factors, run, flush=True)


def _factors(study: str, row: dict[str, Any]) -> dict[str, Any]:
    names = next(iter(STUDIES[study].full[-1:])).factors
    return {name: int(row[name]) if name in ("synthetic", "people") else row[name] for name in names}


if __name__ == "__main__":
    main()
