"""A study is a value, a claim finds its verdict, and results answer what studies ask of them."""

import dataclasses

import numpy as np
import pytest

from bruit.errors import ParameterError
from bruit_studies import Block, Claim, NoData, Plot, Study, StudyResults, Verdict, confirmed, not_judged
from bruit_studies.results import summarise


def _study(**changes):
    fields = {
        "name": "one",
        "title": "One",
        "question": "?",
        "method": "!",
        "trial": lambda *, x, rng: {"y": x},
        "quick": [Block({"x": [1, 2]}, 3)],
    }
    return Study(**{**fields, **changes})


RESULTS = StudyResults(
    "one",
    {"method": ["a", "a", "b", "b"], "x": [1, 2, 1, 2], "y": [1.0, 3.0, 5.0, None]},
    skipped={"The file is not here.": 2},
)


def test_trials_are_every_combination_as_often_as_asked():
    trials = _study().trials("quick")
    assert [(trial.factors["x"], trial.repetition) for trial in trials] == [
        (1, 0),
        (1, 1),
        (1, 2),
        (2, 0),
        (2, 1),
        (2, 2),
    ]
    assert [trial.place for trial in trials] == list(range(6))


def test_the_full_size_is_the_quick_one_unless_given():
    assert _study().trials("full") == _study().trials("quick")


def test_a_stream_depends_on_study_version_seed_factors_and_repetition():
    study = _study()
    trials = study.trials("quick")
    streams = [study.stream(trial, seed) for trial in trials for seed in (0, 1)]
    streams += [_study(name="two").stream(trials[0], 0), _study(version=2).stream(trials[0], 0)]
    assert len({stream.bytes(8) for stream in streams}) == len(streams)


def test_a_stream_does_not_depend_on_the_place_of_a_trial_in_the_study():
    more = _study(quick=[Block({"x": [0]}), Block({"x": [1, 2]}, 3)])
    first, same = _study().trials("quick")[0], more.trials("quick")[1]
    assert _study().stream(first, 0).bytes(8) == more.stream(same, 0).bytes(8)


def test_the_definition_changes_with_what_is_tried_and_with_nothing_else():
    study = _study()
    assert study.definition("quick") == _study(title="Another").definition("quick")
    others = [_study(quick=[Block({"x": [1, 2]}, 4)]), _study(quick=[Block({"x": [1, 3]}, 3)]), _study(version=2)]
    assert study.definition("quick") not in {other.definition("quick") for other in others}


def test_two_blocks_with_a_combination_in_common_are_refused():
    with pytest.raises(ParameterError, match="in common"):
        _study(quick=[Block({"x": [1]}), Block({"x": [1, 2]})]).trials("quick")


@pytest.mark.parametrize(
    "make",
    [
        lambda: _study(name="Not a name"),
        lambda: _study(quick=[]),
        lambda: Block({"trial": [1]}),
        lambda: Block({"x": [1]}, 0),
        lambda: Claim("id", "s", "no such document", "§1", lambda results: confirmed("x")),
        lambda: Claim("id", "s", "student project", "", lambda results: confirmed("x")),
        lambda: Verdict("perhaps", "x"),
        lambda: confirmed(" "),
    ],
)
def test_a_bad_value_is_refused_at_birth(make):
    with pytest.raises(ParameterError):
        make()


def test_a_study_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        _study().name = "two"


def test_where_keeps_the_rows_with_a_value_or_one_of_several():
    assert RESULTS.where(method="a", x=2.0)["y"].tolist() == [3.0]
    assert len(RESULTS.where(method=["a", "b"], x=1)) == 2


def test_by_gives_groups_in_order_of_appearance():
    assert [key for key, _ in RESULTS.by("method")] == ["a", "b"]
    assert [key for key, _ in RESULTS.by("method", "x")] == [("a", 1.0), ("a", 2.0), ("b", 1.0), ("b", 2.0)]


def test_a_summary_is_mean_deviation_and_students_interval():
    numbers = [1.0, 2.0, 4.0, 9.0]
    found = summarise(numbers)
    assert found.mean == 4.0
    assert found.sd == pytest.approx(np.std(numbers, ddof=1))
    # Student's 0.975 quantile with 3 degrees of freedom is 3.182446.
    assert found.high - found.mean == pytest.approx(3.182446 * found.sd / 2, rel=1e-6)


def test_what_is_missing_does_not_count():
    assert RESULTS.where(method="b").summary("y").count == 1


def test_a_curve_is_sorted_by_its_factor():
    found = StudyResults("one", {"x": [2, 1, 2, 1], "y": [4.0, 1.0, 6.0, 3.0]}).curve("y", "x")
    assert found.x.tolist() == [1, 2]
    assert found.mean.tolist() == [2, 5]


def test_quantiles_are_those_of_numpy():
    assert RESULTS.quantiles("y", (0.0, 0.5, 1.0)).tolist() == [1, 3, 5]


def test_what_is_not_there_is_told():
    with pytest.raises(NoData, match="method = c"):
        RESULTS.where(method="c")
    with pytest.raises(NoData, match="no column"):
        RESULTS.summary("z")
    with pytest.raises(NoData, match="'y'"):
        RESULTS.where(method="b", x=2).mean("y")


def test_a_claim_without_its_data_is_not_judged_and_says_why():
    claim = Claim(
        "c", "s", "student project", "§1", lambda results: confirmed("x", mean=results.where(method="c").mean("y"))
    )
    verdict = claim.verdict(RESULTS)
    assert verdict.kind == "not judged"
    assert "method = c" in verdict.sentence
    assert "The file is not here." in verdict.sentence
    assert claim.verdict(None) == not_judged("This study has not been run.")


def test_a_figure_without_title_labels_or_words_is_refused():
    from bruit_studies import drawing

    def bare(results):
        return drawing.axes("", x="x", y="y")

    def unlabelled(results):
        return drawing.describe(drawing.axes("Title", x="", y="y"), "words")

    def whole(results):
        return drawing.describe(drawing.axes("Title", x="x", y="y"), "words")

    for draw in (bare, unlabelled):
        with pytest.raises(ParameterError):
            Plot("p", "c", draw).figure(RESULTS)
    assert Plot("p", "c", whole).figure(RESULTS).axes[0].get_title(loc="left") == "Title"


def test_names_of_lines_stand_apart_and_within_the_axes():
    from bruit_studies.drawing import _spread

    places = _spread(np.array([0.0, 0.01, 0.02, 0.9, 1.0, 1.0]), 0.1)
    assert np.diff(np.sort(places)).min() >= 0.1 - 1e-12
    assert places.min() >= 0
    assert places.max() <= 1
