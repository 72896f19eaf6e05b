"""`bruit plan --sheet`: a page beside the plan."""


def test_a_page_for_an_ethics_board_is_written_beside_the_plan(run, tmp_path):
    ended = run("plan", "smokes=no,yes", "-e", 1, "-n", 500, "--sheet", "fr", "--title", "Tabac", "-o", "plan.json")
    page = (tmp_path / "plan.fr.html").read_text()
    assert "<h1>Tabac</h1>" in page
    assert "73 sur 100" in page
    assert "plan.fr.html" in ended.err
    again = run("plan", "smokes=no,yes", "-e", 1, "--sheet", "fr", code=2)
    assert "plan.fr.html exists" in again.err


def test_an_unknown_language_is_refused_before_anything_is_written(run, tmp_path):
    assert "--sheet must be" in run("plan", "smokes=no,yes", "-e", 1, "--sheet", "de", "-o", "p.json", code=2).err
    assert list(tmp_path.iterdir()) == []
