"""The table of published protocols: what it ranks by, and what it says of each."""

import pytest

from bruit.errors import BruitError
from bruit.oracles import choose_panel


def test_rows_have_the_variances_and_epsilons_of_the_protocols():
    ranking = choose_panel(10, 1.0, 1, epoch_epsilon=2.0, rounds=4)
    rows = {row.name: row for row in ranking}
    assert [row.name for row in ranking][-1] == "fresh OUE"
    assert [row.mean_variance for row in ranking][:-1] == sorted(row.mean_variance for row in ranking[:-1])
    assert {name: round(row.variance, 2) for name, row in rows.items()} == {
        "L-OSUE": 3.68, "L-OUE": 4.47, "L-SOUE": 3.89, "L-SUE": 3.92, "L-GRR": 9.77, "LOLOHA": 4.2, "BiLOLOHA": 4.68,
        "fresh OUE": 3.68,
    }  # fmt: skip
    stored = {"fresh OUE": 0, "L-GRR": 1, "LOLOHA": 19, "BiLOLOHA": 18}
    for row in ranking:
        assert row.report_epsilon <= row.rounds_epsilon <= (row.epoch_epsilon or 5.0)
        assert row.stored_bytes == stored.get(row.name, 2)
        assert (row.panel is None) == ("offered for one round" in row.changes or row.name == "fresh OUE")
        assert (row.epoch_epsilon is None) == (row.changes == "follows them")
    assert ranking.best is ranking[0].panel
    assert rows["L-OSUE"].mean_variance == pytest.approx(1.46, abs=0.005)
    assert rows["fresh OUE"].mean_variance == pytest.approx(3.6827 / 4, abs=1e-4)
    assert rows["fresh OUE"].rounds_epsilon == pytest.approx(4.0)
    assert rows["LOLOHA"].rounds_epsilon > rows["fresh OUE"].rounds_epsilon


def test_the_table_says_what_exact_calibration_saves_and_what_l_adp_takes():
    text = repr(choose_panel(50, 1.0, epoch_epsilon=2.0, rounds=12))
    assert max(map(len, text.splitlines())) <= 100
    assert "L-ADP takes L-OSUE" in text
    assert " ".join(text.split()).count("tells 0.287 where 1 is allowed") == 1
    assert "0.038 of its variance" in " ".join(text.split())
    two_values = repr(choose_panel(2, 1.0, epoch_epsilon=2.0, rounds=2))
    assert "L-ADP takes L-GRR" in two_values
    assert "one report of L-GRR" not in two_values  # the formula is right for two values
    assert "ε of 6 for LOLOHA and 4 for BiLOLOHA" in two_values
    assert "links all reports" in " ".join(two_values.split())
    assert "for people who never change all their reports tell 2.000 at most; for others compare the ε of" in " ".join(
        two_values.split()
    )


def test_a_protocol_that_cannot_serve_is_left_out_with_its_reason():
    ranking = choose_panel(10**5, 1.9, epoch_epsilon=2.0, rounds=2)
    assert set(ranking.left_out) == {"L-OUE", "L-SOUE"}
    far = choose_panel(10**5, 1.0, epoch_epsilon=2.0, rounds=2)
    assert set(far.left_out) == {"L-GRR"}
    assert set(choose_panel(10, 2.0, epoch_epsilon=2.0, rounds=2).left_out) == {"LOLOHA", "BiLOLOHA", "L-OUE", "L-SOUE"}
    assert "left out: L-GRR" in repr(far)


def test_a_ranking_is_drawn():
    pytest.importorskip("matplotlib")
    axes = choose_panel(10, 1.0, epoch_epsilon=2.0, rounds=4).plot()
    assert next(label.get_text() for label in axes.get_yticklabels()) == "L-OSUE"


@pytest.mark.parametrize("bad", [{"k": 1}, {"rounds": 0}, {"epoch_epsilon": 0.5}, {"epsilon": 0}, {"n": 0}])
def test_a_bad_parameter_is_refused_and_leaves_nothing_out(bad):
    settings = {"k": 10, "epsilon": 1.0, "epoch_epsilon": 2.0, "rounds": 4, **bad}
    with pytest.raises(BruitError, match=next(iter(bad))):
        choose_panel(settings.pop("k"), settings.pop("epsilon"), settings.pop("n", None), **settings)
