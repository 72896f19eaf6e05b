"""Heavy hitters: the law of a report by enumeration, answers against a plain count, and who is named for nothing."""

import math
from fractions import Fraction

import numpy as np
import pytest

from bruit.domains import OpenText
from bruit.domains.open_text import SIGNS
from bruit.errors import BruitError, DataError, DesignError, FormatError, LimitError, MissingError, ParameterTypeError
from bruit.estimation.intervals import exceeded_limit
from bruit.open_answers import FrequentAnswers, HeavyHitters, OpenReports, heavy_hitters
from bruit.testing import check_canary, check_law, check_single_use
from bruit.testing.hostile import ITEMS


def small(epsilon=1.0, letters=1, kind=HeavyHitters):
    return kind(epsilon, domain=OpenText(letters=letters))


# The law.


class Enumerated:
    """A design whose few messages are written down: the group, the bits of the word that count, and the bucket."""

    gives, CODES = "frequency", (3, 4, 9, 48)

    def __init__(self, design):
        self.design, self.size = design, len(self.CODES)
        self.epsilon, self.digest = design.epsilon, design.digest
        self.domain = OpenTexts(len(self.CODES))
        self.widths = [bits + design.bucket_bits - 1 for bits in design.bits]

    def privatize(self, values, rng=None):
        return self.design.privatize([SIGNS[self.CODES[value]] for value in values], rng=rng)

    def message(self, reports):
        first = heavy_hitters.in_first_group(reports["id"])
        words, t = reports["id"] >> np.uint64(10), self.design.bucket_bits
        halves, wholes = (words & np.uint64((1 << width) - 1) for width in self.widths)
        place = np.where(first, halves, wholes + np.uint64(1 << self.widths[0]))
        return ((place << np.uint64(t)) | reports["bucket"]).astype(np.int64)

    def matrix(self):
        return [self.row(code) for code in self.CODES]

    def row(self, code):
        """P(group)·P(word)·P(bucket | bucket of the code), one after the other."""
        law, t, row = self.design.law, self.design.bucket_bits, []
        groups = [(Fraction(430, 1024), code >> 3), (Fraction(594, 1024), code)]
        for (share, value), width in zip(groups, self.widths, strict=True):
            for word in range(1 << width):
                own = sum(((word >> i & value).bit_count() % 2) << i for i in range(t))
                row += [share / (1 << width) * law.probability(inside=y == own) for y in range(1 << t)]
        return row


class OpenTexts:
    """What `check_law` asks of a domain."""

    labels = None

    def __init__(self, k):
        self.k, self.names = k, range(k)


class GroupByValue(HeavyHitters):
    """A planted defect: the group is a bit of the text."""

    def _randomize(self, codes, entropy, out):
        super()._randomize(codes, entropy, out)
        first = codes % 2 == 0
        out["id"] = np.where(first, out["id"] & ~np.uint64(1023), out["id"] | np.uint64(1023))


class Shown(HeavyHitters):
    """A planted defect: the bucket as it is."""

    def _randomize(self, codes, entropy, out):
        super()._randomize(codes, entropy, out)
        out["bucket"] = self.buckets(out["id"], codes)


class Narrow(HeavyHitters):
    """A planted defect: one bit of the word is missing."""

    def buckets(self, ids, codes):
        return super().buckets(ids & ~(np.uint64(1) << np.uint64(10 + self.bits[1])), codes)


def test_reports_have_the_law_of_group_word_and_bucket():
    design = Enumerated(small())
    assert all(sum(row) == 1 for row in design.matrix())
    check_law(design, most=1_200_000)


@pytest.mark.parametrize("defect", [GroupByValue, Shown, Narrow])
def test_a_planted_defect_breaks_the_law(defect):
    with pytest.raises(AssertionError, match="do not follow"):
        check_law(Enumerated(small(kind=defect)), most=1_200_000)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_the_stated_epsilon_is_the_largest_ratio_over_all_reports(epsilon):
    design = small(epsilon)
    rows = Enumerated(design).matrix()
    ratio = max(a / b for first in rows for second in rows for a, b in zip(first, second, strict=True))
    assert ratio == design.law.ratio
    assert epsilon * (1 - 1e-9) <= design.guarantee.epsilon <= epsilon
    assert design.guarantee.epsilon == pytest.approx(math.log(ratio), rel=1e-15)


def test_a_report_supports_other_texts_with_exactly_one_chance_in_g():
    design = small(2.0)
    t = design.bucket_bits
    own, width = design.law, design.bits[1] + t - 1
    words = np.arange(1 << width, dtype=np.uint64) << np.uint64(10) | np.uint64(1023)
    mine = design.buckets(words, np.full(words.size, 9))
    for other in (8, 1, 63):
        theirs = design.buckets(words, np.full(words.size, other))
        same = Fraction(int((mine == theirs).sum()), words.size)
        assert same * own.probability(inside=True) + (1 - same) * own.probability(inside=False) == design.q
    assert design.q == Fraction(1, 1 << t)


@pytest.mark.parametrize(("epsilon", "t"), [(0.1, 1), (1.0, 2), (2.0, 3), (4.0, 6), (5.0, 7), (20.0, 7)])
@pytest.mark.filterwarnings("ignore::bruit.errors.WeakPrivacyWarning")
def test_buckets_are_those_of_least_variance_and_fit_a_word(epsilon, t):
    design = HeavyHitters(epsilon)
    assert design.bucket_bits == t
    assert design.bits[1] + t - 1 <= 54


def test_words_are_used_once_and_seeds_repeat():
    design = small()
    check_single_use({"privatize": lambda entropy: design.privatize(["a", "b"] * 100, rng=entropy)})
    people = ["a"] * 140_000  # three blocks
    assert (design.privatize(people, rng=1) == design.privatize(people, rng=1)).all()
    assert (design.privatize(people, rng=1) != design.privatize(people, rng=2)).any()
    assert len(np.unique(design.privatize(people, rng=1)["id"])) == len(people)


# What is found.


def crowd(people=6000):
    """Texts of two letters: two frequent ones, and all others alike."""
    signs = SIGNS[3:29]
    others = [a + b for a in signs for b in signs]
    return ["zz"] * (people // 3) + ["no"] * (people // 5) + [others[i % 676] for i in range(people * 7 // 15)]


def plain(design, reports):
    """All codes that the second group supports more often than chance, counted one by one."""
    second = reports[~heavy_hitters.in_first_group(reports["id"])]
    assert design.bits == (6, 12)  # so that all prefixes are kept
    limit = int(exceeded_limit(len(second), float(design.q), 0.05 / 4096))
    codes = {code: int((design.buckets(second["id"], np.full(len(second), code)) == second["bucket"]).sum())
             for code in range(4096)}  # fmt: skip
    frequent = {code: count for code, count in codes.items() if count > limit}
    return {design.domain.text(code): (count, len(second)) for code, count in frequent.items()}


class CertifiedByTheFirst(HeavyHitters):
    """A planted defect: the group that chose the prefixes certifies."""

    def groups(self, reports):
        first, _ = super().groups(reports)
        return first, first


def found(design, reports):
    answers = design.estimate(reports)
    return {text: (int(count), answers.certifying) for text, count in zip(answers.labels, answers.support, strict=True)}


def test_answers_are_those_that_a_plain_count_of_the_second_group_certifies():
    design = small(2.0, letters=2)
    reports = design.privatize(crowd(), rng=3)
    assert {"zz", "no"} <= found(design, reports).keys()
    assert found(design, reports) == plain(design, reports)
    assert found(small(2.0, 2, CertifiedByTheFirst), reports) != plain(design, reports)


def test_prefixes_are_those_with_the_most_support_in_the_first_group():
    design = small(2.0, letters=3)
    reports = design.privatize(crowd(), rng=3)
    first, _ = design.groups(reports)
    counts = [int((design.buckets(first["id"], np.full(len(first), code << 9)) == first["bucket"]).sum())
              for code in range(512)]  # fmt: skip
    kept = design._prefixes(first)
    assert len(kept) == len(set(kept.tolist())) == 64
    assert sorted(np.take(counts, kept)) == sorted(counts)[-64:]


def test_shares_are_unbiased_and_their_errors_as_stated():
    design, errors, covered, narrow = small(2.0, letters=2), [], 0, 0
    people = crowd(3000)
    for trial in range(150):
        answers = design.estimate(design.privatize(people, rng=trial))
        place = answers.labels.index("zz")
        errors.append((answers.frequency[place] - 1 / 3) / answers.standard_error[place])
        covered += int(answers.interval()[place, 0] < 1 / 3 < answers.interval()[place, 1])
        narrow += int(answers.interval(0.5)[place, 0] < 1 / 3 < answers.interval(0.5)[place, 1])
    assert abs(np.mean(errors)) < 6 / math.sqrt(150)
    assert 0.7 < np.std(errors) < 1.4
    assert covered >= 127  # of 150 at .95: fewer once in a million
    assert narrow < 115  # the control, at .5


def false_names(runs=60):
    """In how many runs a text is certified that nobody has."""
    design, false = small(2.0, letters=2), 0
    for trial in range(runs):
        people = crowd(1000)
        answers = design.estimate(design.privatize(people, rng=1000 + trial))
        false += not set(answers.labels) <= set(people)
    return false


def test_a_text_that_nobody_has_is_seldom_certified(monkeypatch):
    assert false_names() <= 17  # of 60, each with chance .05 at most: 17 come once in ten million
    monkeypatch.setattr(heavy_hitters, "FALSE_NAMES", 5.0)
    assert false_names() > 17


@pytest.mark.parametrize(
    ("epsilon", "people"),
    [
        (1.0, (10_240, 40_100, 158_500, 983_000, 3_900_000)),
        (2.0, (2_300, 8_460, 32_300, 196_000, 776_000)),
        (4.0, (516, 1_510, 4_740, 24_100, 88_900)),
    ],
)
def test_the_people_that_a_share_needs(epsilon, people):
    design = HeavyHitters(epsilon)
    for share, needed in zip((0.2, 0.1, 0.05, 0.02, 0.01), people, strict=True):
        assert design.people_needed(share) == pytest.approx(needed, rel=0.03)
    assert design.people_needed(0.2, chance=0.99) > design.people_needed(0.2)
    with pytest.raises(LimitError, match="needs more than"):
        design.people_needed(1e-9)


def test_the_stated_number_of_people_finds_the_answer_as_often_as_stated():
    design = small(2.0, letters=2)
    n, hits = design.people_needed(0.1, chance=0.8), 0
    rare = [SIGNS[3 + i % 26] + SIGNS[3 + i // 26 % 26] for i in range(n - n // 10)]
    for trial in range(150):
        hits += "7z" in design.estimate(design.privatize(["7z"] * (n // 10) + rare, rng=trial)).labels
    assert abs(hits / 150 - 0.8) < 6 * math.sqrt(0.16 / 150)


def test_codes_of_no_text_are_not_shown():
    design = small(letters=2)
    assert design._is_text(0o1203)
    assert design._is_text(0o1200)
    assert not design._is_text(0o0012)
    assert not design._is_text(0o1202)  # a space at the end
    assert not design._is_text(0o0101)  # no letter that has a sign of its own
    assert not design._is_text(0)


# What comes from outside.


def test_honest_reports_count_among_hostile_ones():
    design = small()
    honest = list(design.privatize(["a"] * 20, rng=1))
    for item in ITEMS:
        alone, mixed = design.count([item]), design.count([item, *honest, item])
        assert alone.n + alone.refused == 1
        assert mixed.n == 20 + 2 * alone.n
        assert mixed.refused == 2 * alone.refused
    rows = np.array(honest[:2])
    rows["bucket"][0] = design.law.outcomes
    assert (design.count(rows).n, design.count(rows).refused) == (1, 1)
    assert design.estimate([*honest, None]).refused == 1


def test_reports_add_and_are_held_to_their_design():
    design, other = small(2.0, letters=2), small(1.0, letters=2)
    reports = design.privatize(crowd(), rng=3)
    halves = design.count(reports[:999]) + design.count([*reports[999:], b"x"])
    assert found(design, halves) == found(design, reports)
    assert halves.refused == 1
    for wrong in (lambda: other.estimate(halves), lambda: halves + other.count(reports)):
        with pytest.raises(DesignError, match="another design"):
            wrong()
    with pytest.raises(TypeError):
        halves + 1


def test_a_copy_of_a_report_is_refused():
    design = small(2.0, letters=2)
    reports = design.privatize(crowd(), rng=3)
    again = design.estimate(np.concatenate([reports, reports[:700]]))
    assert (again.n, again.refused) == (len(reports), 700)
    assert again.labels == design.estimate(reports).labels


@pytest.mark.parametrize("reports", [[], [None]])
def test_no_report_is_an_error(reports):
    with pytest.raises(DataError):
        small().estimate(reports)


def test_reports_of_one_group_alone_certify_nothing_or_what_they_hold():
    design = small(letters=2)
    reports = design.privatize(crowd(), rng=1)
    first, second = design.groups(reports)
    assert design.estimate(first).labels == ()
    assert design.estimate(first).interval().shape == (0, 2)
    assert "zz" in design.estimate(second).labels


def test_nothing_shows_a_text():
    design = small()
    check_canary(design.privatize, ["a", "b"])
    check_canary(design.estimate, [b"123456789"])
    with pytest.raises(MissingError):
        design.privatize(["a", ""])
    assert len(HeavyHitters(1.0, domain=OpenText(missing="drop")).privatize(["a", None])) == 1


def test_a_design_survives_its_document():
    design = small(2.0, letters=5)
    assert HeavyHitters.from_dict(design.to_dict()) == design
    assert design.digest != small(2.0, letters=4).digest
    hostile = [None, {}, [], {**design.to_dict(), "epsilon": -1}, {**design.to_dict(), "domain": {}},
               {**design.to_dict(), "mechanism": "GRR"}, {**design.to_dict(), "epsilon": True}]  # fmt: skip
    for body in hostile:
        with pytest.raises(FormatError):
            HeavyHitters.from_dict(body)


@pytest.mark.parametrize(("epsilon", "options"), [(0, {}), (-1, {}), ("x", {}), (1, {"domain": "text"})])
def test_a_design_that_cannot_be_is_refused(epsilon, options):
    with pytest.raises(BruitError):
        HeavyHitters(epsilon, **options)
    with pytest.raises(ParameterTypeError):
        HeavyHitters(1.0, domain=None)


def test_a_table_for_people_and_programs():
    design = small(2.0, letters=2)
    answers = design.estimate(design.privatize(crowd(), rng=3))
    assert isinstance(answers, FrequentAnswers)
    assert isinstance(design.count([]), OpenReports)
    assert answers.labels[0] == "zz"
    assert list(answers.to_frame("polars").columns) == ["label", "frequency", "standard_error", "lower", "upper"]
    assert answers.to_csv().startswith("label,frequency,standard_error,lower,upper\nzz,")
    assert "zz" in answers._repr_html_()
    assert answers.to_dict()["certifying"] == answers.certifying
    assert "No answer is shown" in repr(design.estimate(design.privatize(["a"] * 3, rng=1)))


def test_reports_that_can_certify_nothing_are_not_decoded(monkeypatch):
    """Eight reports of eight letters would take ten seconds for nothing."""
    design = HeavyHitters(2.0)
    reports = design.privatize(["noise"] * 8, rng=1)
    monkeypatch.setattr(HeavyHitters, "_support", lambda *_: pytest.fail("reports were decoded"))
    assert design.estimate(reports).labels == ()
    with pytest.raises(pytest.fail.Exception):  # the control
        design.estimate(design.privatize(["noise"] * 200, rng=1))
