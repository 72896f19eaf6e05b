"""A second group shows who does not follow: from the plan to the result."""

import numpy as np

import bruit


def test_two_groups_are_planned_collected_and_read(run, tmp_path):
    ask = ("plan", "cheats=no,yes", "-e", 2, "-n", 40_000)
    shown = run(*ask, "--check-compliance", 0.5, "-o", "plan.json").out
    assert "second plan: plan.2.json" in shown
    assert "ε = 2 " in shown
    for place, name in enumerate(("plan.json", "plan.2.json")):
        plan = bruit.Plan.load(tmp_path / name)
        reports = plan.privatize({"cheats": ["no"] * 12_600 + ["yes"] * 5_400}, rng=place)["cheats"]
        always = plan.tally({"cheats": np.concatenate([reports, np.zeros(2_000, np.uint8)])})
        (tmp_path / f"tally{place}.json").write_text(always.to_json())
    files = ("tally0.json", "tally1.json", "--plan", "plan.json", "--second-plan", "plan.2.json")
    body = run("analyse", "compliance", *files, "--json").json()
    assert body["quantities"][1]["low"] < 0.1 < body["quantities"][1]["high"]
    assert "send no whatever the device draws" in run("analyse", "compliance", *files).out
    assert "10.0 %" in run("analyse", "compliance", "tally0.json", "--plan", "plan.json").out


def test_what_would_show_nothing_is_refused_and_nothing_is_written(run, tmp_path):
    ask = ("plan", "cheats=no,yes", "-e", 2, "-o", "plan.json", "--check-compliance")
    assert "do not identify" in run(*ask, 2, code=2).err
    assert "must be below --epsilon" in run(*ask, 3, code=2).err
    several = ("plan", "a=0,1", "b=0,1", "-e", 2, "--check-compliance", 1, "--method", "SMP[GRR]")
    assert "one question" in run(*several, code=2).err
    assert list(tmp_path.iterdir()) == []
