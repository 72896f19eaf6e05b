"""Write docs/vectors/*.json, what bruit gives for stated words, bytes, seeds and texts: see docs/reference/vectors.md.

Run ``python tools/vectors.py`` after adding a case; a test compares the files with what this writes. A vector that is
there already may change only with the format that it belongs to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bruit import Categories, Grid, Plan, documents
from bruit.cards import Card, CardQuestion
from bruit.collection import RSRFD, SMP, Repeat
from bruit.entropy import Entropy, Words
from bruit.kernels import noise as kernels
from bruit.laws import Listed, Parity, TwoLevelLaw, Window
from bruit.numbers import number
from bruit.oracles import LocalHashing, oracle
from bruit.releases import Count, DiscreteGaussian, DiscreteLaplace, Histogram, Median, Quantiles, Release
from bruit.releases.exponential import Exponential
from bruit.releases.quantiles.joint import Chain, ExactWeights, JointLaw
from bruit.releases.quantiles.joint import draw as draw_jointly
from bruit.releases.quantiles.points import PLACE_BITS, RecordPoints
from bruit.releases.quantiles.tree import Node
from bruit.releases.staircase import StaircaseNoise

FOLDER = Path(__file__).parents[1] / "docs" / "vectors"
FORMAT = "bruit.vectors/1"
SEED = 20
#: Words at which something else begins in the draws of noise: signs, shares of 1/k!, and the two ends.
EDGES = (
    0,
    2**63 - 1,
    2**63,
    *(int(kernels._SHARES[k]) + near for k in (1, 2, 3, 4, 5, 15) for near in (-1, 0)),
    (2**64 - 1) // 3,
    (2**64 - 1) // 3 * 3,
    2**64 - 1,
)
PLACES = 3


class RecordedBytes:
    """A keystream that begins with stated bytes and keeps those it gave."""

    def __init__(self, start: bytes, entropy: Entropy) -> None:
        self.start, self.entropy, self.used = start, entropy, b""

    def bytes(self, size: int) -> bytes:
        """The next `size` bytes."""
        head, self.start = self.start[:size], self.start[size:]
        drawn = head + self.entropy.bytes(size - len(head))
        self.used += drawn
        return drawn


def keystream() -> list[dict[str, Any]]:
    """Seeds to keys, keys to keys below them, and keys to words."""
    vectors = []
    for seed in (0, 7, 255, 256, 2**64, 10**30):
        for purpose in ("", "draw/DiscreteLaplace(scale=Fraction(2, 1))", "privatize/0123456789abcdef0123456789abcdef"):
            for path in ((), (0,), (1, 300)):
                root = Words(seed) if not purpose else Words.resolve(seed, *purpose.split("/", 1))
                for place in path:
                    root = root.part(place)
                key = root._key
                words = root.stream().words(3)
                vectors.append(
                    {
                        "seed": str(seed),
                        "purpose": purpose,
                        "path": texts(path),
                        "key": key.hex(),
                        "words": texts(words),
                    }
                )
    return vectors


def digests() -> list[dict[str, Any]]:
    """Texts of values to their canonical text and their digest, and sealed documents."""
    bodies = (
        '{ "b": 1152921504606846976, "a": [1.5, null] }',
        '{"b": true, "B": false, "é": "é\\u00e9\\n\\"\\\\", "": {}}',
        "[0.1, 1.0, -0.0, 1e22, 1e16, 123456789012345.0, 1e15, 0.0001, 0.00001, 2.5e-7, 1e-323, 3]",
        "[9007199254740991, 9007199254740992, -9007199254740991, -9007199254740992]",
        '{"text": "9007199254740993", "z": [], "control": "\\u0001\\u001f\\u007f\\u2028", "pair": "\\ud83d\\ude00"}',
    )
    plain = []
    for body in bodies:
        value = json.loads(body)
        plain.append({"text": body, "canonical": documents.canonical(value), "digest": documents.digest(value)})
    plan = Plan({"smokes": ["no", "yes"], "age": ["young", "old", "älter"]}, 1.0, "SMP[GRR]")
    asked = oracle("GRR", epsilon=1.0, labels=["a", "b"])
    release = Release({"n": Count(epsilon=0.5), "sexes": Histogram("sex", domain=["F", "M"], epsilon=0.25)})
    sealed = [
        plan.to_json(),
        asked.tally(asked.privatize(["a"] * 30 + ["b"] * 20, rng=SEED)).to_json(),
        release.to_json(),
    ]
    designs = [oracle(name, epsilon=1.0, k=2 if name == "Warner" else 6) for name in ("Warner", "GRR", "OUE", "OLH")]
    designs += [number("laplace", epsilon=1.0, bounds=(0, 40)), release]
    plain += [
        {
            "text": json.dumps(design.to_dict()),
            "canonical": documents.canonical(design.to_dict()),
            "digest": design.digest,
        }
        for design in designs
    ]
    return plain + [{"sealed": text, "digest": json.loads(text)["digest"]} for text in sealed]


def reports() -> list[dict[str, Any]]:
    """Cards, and words to reports: boundaries of each law, and random words."""
    city = [f"city {place}" for place in range(11)]
    labels = {"sex": ["F", "M"], "colour": ["red", "green", "blue"], "city": city}
    prior = {"sex": [0.7, 0.3], "colour": [5, 1, 1], "city": list(range(1, 12))}
    again = Repeat(12, epochs=4, epoch_epsilon=2.5)
    singles: tuple[Any, ...] = (
        oracle("Warner", epsilon=1.5),
        oracle("GRR", epsilon=1.0, k=13),
        oracle("SUE", epsilon=1.0, k=11),
        oracle("OUE", epsilon=1.0, domain=Categories(labels=["red", "green", "blue"], missing="category")),
        oracle("OLH", epsilon=1.0, k=20),
        LocalHashing(epsilon=1.0, k=20, pool=5),
        oracle("SS", epsilon=1.0, k=13),
        oracle("HR", epsilon=1.0, k=20),
        oracle("PGR", epsilon=1.0, k=100),
        *(number(name, epsilon=1.0, bounds=(0, 40)) for name in ("laplace", "duchi", "piecewise", "hybrid")),
        number("staircase", epsilon=1.0, bounds=(0, 40), clamped=True),
        number("square-wave", epsilon=1.0, bounds=(0, 40)),
    )
    plans = (
        Plan(labels, 1.2, "SPL[ADP]"),
        Plan(labels, 1.2, SMP("GRR", weights={"sex": 1, "colour": 2, "city": 7})),
        Plan(labels, 1.2, "RS+FD[OUE-z]"),
        Plan(labels, 1.2, "RS+FD[GRR]"),
        Plan(labels, 1.2, RSRFD("OUE-r", prior=prior)),
        Plan({"city": city}, 1.2, "OLH", repeat=again),
        Plan(labels, 1.2, "SMP[OUE]", repeat=again),
        Plan({"smokes": Categories(labels=[False, True], missing="category")}, 1.0, "GRR", public={"sex": ["F", "M"]}),
    )
    # The Fano plane: sets that no rule describes are listed. And windows so wide that reports take 2, 4 and 8 bytes.
    lines = tuple(tuple(sorted((value + step) % 7 for step in (1, 2, 4))) for value in range(7))
    rules = [Listed(7, lines), *(Window(values=3, width=2**size) for size in (9, 20, 40))]
    laws = [TwoLevelLaw.calibrate(1.0, sets) for sets in rules]
    open_law = TwoLevelLaw.calibrate(2.0, Parity(parities=3, bits=48, prefix=24, share=430))
    several_blocks = oracle("HR", epsilon=3.0, k=50)
    answers = [CardQuestion("answer", tuple(map(str, range(law.sets.capacity))), law) for law in laws]
    cards = [design.card("answer") for design in (*singles, several_blocks)] + [plan.card() for plan in plans]
    cards += [Card(documents.digest(answer.name), "one", (answer,)) for answer in answers]
    cards.append(Card(documents.digest("problem"), "one", (CardQuestion("problem", (), open_law),)))
    return [{"card": card.to_bytes().decode(), "digest": card.digest, "vectors": _chosen(card)} for card in cards]


def _chosen(card: Card) -> list[dict[str, Any]]:
    """Every so-manieth vector with a boundary, and some with random words."""
    vectors = card.vectors(4, rng=SEED)
    edged = vectors[:-4]
    return [vector.to_dict() for vector in (*edged[:: max(1, len(edged) // 24)], *vectors[-4:])]


def noise() -> list[dict[str, Any]]:
    """Words to noise, and seeds to noise."""
    laws: tuple[Any, ...] = (
        *(DiscreteLaplace(Fraction(*scale)) for scale in ((1, 1), (2, 1), (7, 3), (1, 3), (10**6 + 3, 7), (2**40, 1))),
        *(DiscreteGaussian(Fraction(*sigma2)) for sigma2 in ((1, 1), (25, 4), (1, 9), (10**10, 1), (2, 7), (30, 1))),
        StaircaseNoise(step=1, inner=1, outside=2**63, decay=2**62),
        StaircaseNoise.calibrate(sensitivity=100, epsilon=1.0),
        StaircaseNoise.calibrate(sensitivity=100, epsilon=5.0),
    )
    vectors = [{**_law(law), "draws": list(_edge_draws(law)), "seeded": _seeded(law)} for law in laws]
    return vectors + _capped()


def _capped() -> list[dict[str, Any]]:
    """Draws beyond 2⁶², from scales that bruit does not offer: with the largest that it does they take 2²² words."""
    top, step = 2**61, 2**60
    more, enough = int(kernels._SHARES[3]), int(kernels._SHARES[2])
    signs = (0, 2**63)
    far = [[sign, *[more] * count, enough] for sign in signs for count in (1, 2, 3, 5)]
    outer = [[0, *[0] * count, 2**63, place] for count in (1, 2, 3, 6) for place in (2, 2 * step - 2, 2 * step - 1)]
    scales = {"step": str(step), "inner": str(step), "outside": str(2**63), "decay": str(2**63)}
    chances = np.uint64(2**63), np.uint64(2**63)
    return [
        {
            "law": "laplace",
            "scale": ratio(Fraction(top)),
            "draws": [_drawn(kernels.laplace, words, (top, 1)) for words in far],
        },
        {
            "law": "staircase",
            **scales,
            "draws": [_drawn(kernels.staircase, words, ((step, step), chances)) for words in outer],
        },
    ]


def _law(law: Any) -> dict[str, Any]:
    if isinstance(law, DiscreteLaplace):
        return {"law": "laplace", "scale": ratio(law.scale)}
    if isinstance(law, DiscreteGaussian):
        return {"law": "gaussian", "sigma2": ratio(law.sigma2)}
    fields = {name: str(getattr(law, name)) for name in ("step", "inner", "outside", "decay")}
    return {"law": "staircase", **fields}


def _edge_draws(law: Any) -> Iterator[dict[str, Any]]:
    entropy = Entropy(SEED)
    kernel, parameters = law._kernel()
    starts = [[*entropy.words(place).tolist(), edge] for edge in EDGES for place in range(PLACES)] + [[]] * 6
    for start in starts:
        yield _drawn(kernel, [*start, *entropy.words(4096).tolist()], parameters)


def _drawn(kernel: Any, start: list[int], parameters: Any) -> dict[str, Any]:
    """One draw, and the words that it took."""
    words, out = np.array(start, np.uint64), np.zeros(1, np.int64)
    done, used = kernel(words, 0, out, *parameters)
    if not done:
        raise RuntimeError("A draw of noise took more words than there are.")
    return {"words": texts(words[:used]), "noise": str(out[0])}


def calibration() -> list[dict[str, Any]]:
    """ε, of which some are not what their decimal text says, and sensitivities to scales of Laplace noise."""
    pairs = [(0.7, 1), (1.1, 1), (0.1, 3), (0.3, 1), (0.001, 7), (2.5, 10**6), (1 / 3, 2), (7.0, 12), (1e-6, 1)]
    return [
        {
            "epsilon": epsilon,
            "sensitivity": str(change),
            "scale": ratio(DiscreteLaplace.calibrate(change, epsilon).scale),
        }
        for epsilon, change in pairs
    ]


def _seeded(law: Any) -> dict[str, Any]:
    return {"seed": str(SEED), "design": repr(law), "noise": texts(law.draw(20, rng=SEED))}


def choices() -> list[dict[str, Any]]:
    """Steps to weights, and bytes to choices."""
    vectors = []
    steps = (Fraction(1), Fraction(1, 2), Fraction(1, 40), Fraction(1, 700), Fraction(7, 3), Fraction(100))
    cases = ((5,), (1, 0, 2), (0, 0, 0, 1), (3, 10**15, 7, 2**70, 1))
    for step in steps:
        choice = Exponential(step)
        entropy = Entropy(SEED)
        draws = []
        for sizes in cases:
            many = len(choice.weights(len(sizes) - 1))
            kept = [*sizes[: many - 1], sum(sizes[many - 1 :])]
            for start in (b"", bytes(64), b"\xff" * 14, b""):
                source = RecordedBytes(start, entropy)
                score, offset = choice.draw(kept, source)  # type: ignore[arg-type]
                draws.append(
                    {"sizes": texts(sizes), "bytes": source.used.hex(), "score": str(score), "offset": str(offset)}
                )
        weights = choice.weights(3000)
        places = sorted({0, 1, 2, 3, 10, len(weights) - 1})
        table = {str(place): str(weights[place]) for place in places if place < len(weights)}
        vectors.append({"step": ratio(step), "weights": table, "settled": len(weights) < 3001, "draws": draws})
    return vectors


def places() -> list[dict[str, Any]]:
    """Histograms and trees of quantiles to places."""
    counts: tuple[tuple[int, ...], ...] = (
        (0, 3, 1, 0, 0, 9, 2, 2, 0, 1),
        (0, 0, 0, 0),
        (50, 0, 1, 49, 700, 3),
    )
    grid = {10: (0, 9), 4: (0, 3), 6: (0, 5)}
    quartiles = (0.25, 0.5, 0.75)
    vectors = []
    for cells in counts:
        bounds = Grid(*grid[len(cells)])
        statistics: tuple[Any, ...] = (
            Median(bounds=bounds, epsilon=1.0),
            Quantiles(quantiles=quartiles, bounds=bounds, epsilon=1.0, method="approximate"),
            Quantiles(quantiles=quartiles, bounds=bounds, epsilon=0.1, method="approximate", neighbours="replace"),
            Quantiles(quantiles=(0.1, 0.9), bounds=bounds, epsilon=2.0, method="exponential"),
            Quantiles(quantiles=(0.0, 1 / 3), bounds=(0.0, 1.0), cells=len(cells), epsilon=1.0, method="exponential"),
            Quantiles(quantiles=(0.4,), bounds=(0.0, 1.0), cells=len(cells), epsilon=0.01, method="exponential"),
        )
        for statistic in statistics:
            entropy = Entropy(SEED)
            draws = []
            for start in (b"", bytes(96), b"\xff" * 40, b"", b""):
                source = RecordedBytes(start, entropy)
                drawn = statistic.draw_places(RecordPoints(np.array(cells)), source)
                draws.append({"bytes": source.used.hex(), "places": texts(drawn)})
            vectors.append(
                {
                    "counts": texts(cells),
                    "points": statistic.on_points,
                    "forest": [_tree(tree) for tree in statistic.forest],
                    "draws": draws,
                }
            )
    return vectors


def _tree(node: Node | None) -> dict[str, Any] | None:
    if node is None:
        return None
    return {
        "quantile": str(node.place),
        "share": ratio(node.share),
        "grain": str(node.grain),
        "step": ratio(node.choice.step),
        "left": _tree(node.left),
        "right": _tree(node.right),
    }


def trees() -> list[dict[str, Any]]:
    """Quantiles, ε, neighbours and a method to what is drawn in which order."""
    deciles = tuple(place / 10 for place in range(1, 10))
    many = tuple(place / 41 for place in range(1, 41))
    requests: tuple[tuple[tuple[float, ...], float, Any, Any], ...] = (
        ((0.5,), 0.7, "add-remove", "approximate"),
        ((0.5,), 1.1, "replace", "approximate"),
        ((0.75, 0.25, 0.5, 0.25), 1.1, "add-remove", "approximate"),
        ((0.25, 0.5, 0.75), 0.05, "replace", "approximate"),
        (deciles, 1.0, "add-remove", "approximate"),
        (deciles, 0.7, "replace", "approximate"),
        ((0.05, 0.5, 0.52, 0.999), 3.0, "add-remove", "approximate"),
        (many, 1.1, "add-remove", "approximate"),
        ((0.0, 1 / 3, 1.0), 0.7, "add-remove", "exponential"),
        ((0.1, 0.9), 0.1, "replace", "exponential"),
    )
    vectors = []
    for quantiles, epsilon, neighbours, method in requests:
        settings: dict[str, Any] = {"epsilon": epsilon, "neighbours": neighbours, "method": method}
        statistic = Quantiles(quantiles=quantiles, bounds=Grid(0, 9), **settings)
        forest = [_tree(tree) for tree in statistic.forest]
        vectors.append({"quantiles": list(quantiles), **settings, "forest": forest})
    return vectors


def joint() -> list[dict[str, Any]]:
    """Histograms to the places of quantiles that are drawn all at once."""
    requests: tuple[tuple[tuple[int, ...], tuple[Fraction, ...], float, Any], ...] = (
        ((0, 3, 1, 0, 0, 9, 2, 2, 0, 1), (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)), 1.0, "add-remove"),
        ((2, 0, 0, 2), (Fraction(1, 3), Fraction(2, 3)), 0.7, "replace"),
        ((0, 0), (Fraction(1, 10), Fraction(9, 10)), 1.1, "add-remove"),
        ((30, 1, 40), (Fraction(1, 2), Fraction(501, 1000)), 20.0, "replace"),
        ((5, 60, 5), (Fraction(1, 100), Fraction(99, 100)), 40.0, "add-remove"),
    )
    vectors = []
    for counts, quantiles, epsilon, neighbours in requests:
        points = RecordPoints(np.array(counts))
        law = JointLaw.calibrate(quantiles, epsilon, neighbours, len(counts) << PLACE_BITS)
        entropy = Entropy(SEED)
        draws = []
        # The floor is far below the roundings of the other weights, so that it is tried where these are exact.
        floor = b"" if any(counts) else _floor(points, law)
        for start in (b"", floor, b"", b"\xff" * 20, b"", b"", b""):
            source = RecordedBytes(start, entropy)
            places = draw_jointly(points, law, source)  # type: ignore[arg-type]
            draws.append({"bytes": source.used.hex(), "places": texts(places)})
        vectors.append(
            {
                "counts": texts(counts),
                "quantiles": [ratio(quantile) for quantile in quantiles],
                "epsilon": epsilon,
                "neighbours": neighbours,
                "rate": ratio(law.rate),
                "floor_bits": str(law.floor_bits),
                "reach": str(law.reach),
                "draws": draws,
            }
        )
    return vectors


def _floor(points: RecordPoints, law: JointLaw) -> bytes:
    """The bytes with which the floor decides: they fall into the middle of its weight."""
    chain = Chain(points, law)
    weight, floor = chain.totals(ExactWeights(chain.last()))
    bits = (weight + floor - 1).bit_length()
    size = (bits + 7) // 8
    return ((weight + floor // 2) << (8 * size - bits)).to_bytes(size, "little")


def bulk() -> list[dict[str, Any]]:
    """A seed to the reports of many people at once, of whom some are stated: where a block or a slice begins."""
    designs: tuple[tuple[Any, int, tuple[int, ...]], ...] = (
        (oracle("GRR", epsilon=1.1, k=13), 65_560, (*range(8), *range(65_530, 65_560))),
        (oracle("GRR", epsilon=0.7, k=300), 40, tuple(range(40))),
        (oracle("OUE", epsilon=1.1, k=11), 21_860, (*range(8), *range(21_840, 21_860))),
        (oracle("SUE", epsilon=0.7, k=70), 30, tuple(range(30))),
        (oracle("OLH", epsilon=1.1, k=20), 30, tuple(range(30))),
    )
    vectors = []
    for design, people, stated in designs:
        card = design.card("answer")
        reports = design.privatize(np.arange(people) * 7 % design.size, rng=SEED)
        number_reports = reports.ndim == 1 and reports.dtype.kind == "u"
        written = {str(i): str(reports[i]) if number_reports else reports[i].tobytes().hex() for i in stated}
        vectors.append(
            {
                "card": card.to_bytes().decode(),
                "seed": str(SEED),
                "people": str(people),
                "reports": written,
            }
        )
    return vectors


def releases() -> list[dict[str, Any]]:
    """Whole releases: a document, counts and a seed to what is published."""
    vectors = []
    table = {"sex": ["F", "M", "F"] * 400, "wage": [float(place % 11) for place in range(1200)]}
    for epsilon in (0.05, 0.5, 0.314, 0.7, 1.1):
        middle = Median("wage", bounds=Grid(0, 10), epsilon=epsilon)
        sexes = Histogram("sex", domain=["F", "M"], epsilon=epsilon)
        release = Release({"n": Count(epsilon=epsilon), "sexes": sexes, "middle": middle})
        raw = release.fold(table)
        results = release.publish(raw, rng=SEED)
        vectors.append(
            {
                "document": release.to_json(),
                "seed": str(SEED),
                "counts": {"n": ["1200"], "sexes": ["800", "400"], "middle": texts(np.bincount(np.arange(1200) % 11))},
                "published": {
                    "n": texts(results["n"].values),
                    "sexes": texts(results["sexes"].values),
                    "middle": texts(results["middle"].values.astype(int)),
                },
                "forest": [_tree(tree) for tree in middle.forest],
            }
        )
    return vectors


def texts(numbers: Any) -> list[str]:
    """Whole numbers as decimal texts."""
    return [str(int(value)) for value in numbers]


def ratio(value: Fraction) -> list[str]:
    """Numerator and denominator."""
    return [str(value.numerator), str(value.denominator)]


FILES = {
    "keystream": keystream,
    "digests": digests,
    "reports": reports,
    "noise": noise,
    "calibration": calibration,
    "choices": choices,
    "places": places,
    "trees": trees,
    "joint": joint,
    "bulk": bulk,
    "releases": releases,
}


def text(name: str) -> str:
    """The text of one file, with a line for each vector."""
    head = json.dumps({"format": FORMAT, "about": name})[:-1]
    lines = ",\n".join(json.dumps(vector, ensure_ascii=False) for vector in FILES[name]())
    return f'{head}, "vectors": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in FILES:
        (FOLDER / f"{name}.json").write_text(text(name), encoding="utf-8")
