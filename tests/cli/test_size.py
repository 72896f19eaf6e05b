"""`bruit size`: people, ε or width, whichever is unknown."""


def test_a_whole_plan_is_solved_for_what_is_unknown(run):
    ask = ("size", "smokes=no,yes", "degree=none,school,college")
    needed = run(*ask, "-e", 1, "--half-width", 0.02, "--json").json()
    assert needed["people"] == 32_185
    assert needed["unknown"] == "n"
    assert run(*ask, "-n", 32_185, "--half-width", 0.02, "--json").json()["epsilon"] == 1.0
    shown = run(*ask, "-n", 32_185, "-e", 1)
    assert "0.02" in shown.out
    assert "looked for: the widths" in shown.out


def test_groups_are_told_apart_by_how_they_are_known(run):
    shown = run("size", "--difference", "0.3,0.2", "-e", 1).out
    assert "3,472" in shown
    assert "9,552" in shown
    assert "nan" not in shown
    assert run("size", "--difference", "0.3,0.2", "-e", 1, "-n", 3472, "--json").json()["unknown"] == "power"


def test_each_mechanism_has_its_number_of_people(run):
    shown = run("size", "--k", 2, "-e", 1, "--half-width", 0.02).out
    assert "9,707" in shown


def test_mistakes_are_named(run):
    assert "Two of --epsilon" in run("size", "smokes=no,yes", "-e", 1, code=2).err
    assert "0.3,0.2" in run("size", "--difference", "30", "-e", 1, code=2).err
    for option in (("--method", "GRR"), ("--missing", "category")):  # neither means anything without questions
        assert (
            f"{option[0]} is for questions" in run("size", "--k", 9, "-e", 1, "--half-width", 0.1, *option, code=2).err
        )
    assert "smokes=no,yes" in run("size", code=2).err
    assert "leave it out" in run("size", "smokes=no,yes", "--k", 2, "-e", 1, "-n", 9, code=2).err
    assert "must be one number" in run("size", "smokes=no,yes", "-e", 1, "--half-width", "x", code=2).err
