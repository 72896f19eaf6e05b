"""Reports of a plan go through files in constant memory, and come back as the same tally."""

import numpy as np
import pytest

import bruit
from bruit import engines
from bruit.collection import Plan, files
from bruit.errors import DesignError

SCHEMA = {"sex": ["F", "M"], "town": bruit.Categories(k=300), "age": bruit.Grid(17, 90)}


@pytest.mark.parametrize("method", ["SPL[GRR]", "SMP[GRR]", "SMP[ADP]", "SMP[OLH]", "RS+FD[GRR]", "RS+FD[OUE-z]"])
def test_a_file_of_reports_gives_the_tally_of_the_reports_in_memory(method, tmp_path):
    plan, n = Plan(SCHEMA, 2.0, method), 300_000 if method == "SMP[GRR]" else 5_000
    people = {
        "sex": np.where(np.arange(n) % 3 == 0, "F", "M"),
        "town": np.arange(n) % 300,
        "age": np.arange(n) % 74 + 17,
    }
    path = tmp_path / "reports.parquet"
    written = plan.privatize(people, to=path, rng=3)
    assert written == n
    assert engines.fold(path, plan.tally) == plan.tally(plan.privatize(people, rng=3))


def test_a_tally_of_another_plan_is_refused_where_it_is_read(tmp_path):
    plan, other = (Plan({"sex": ["F", "M"]}, epsilon) for epsilon in (1.0, 2.0))
    (tmp_path / "t.json").write_text(other.tally({"sex": [0, 1]}).to_json())
    assert other.tally(tmp_path / "t.json").n == 2
    with pytest.raises(DesignError, match="another plan"):
        plan.tally(tmp_path / "t.json")


def test_a_link_to_a_folder_of_reports_is_removed_and_the_folder_stays(tmp_path):
    (tmp_path / "old.parquet").mkdir()
    (tmp_path / "old.parquet" / "part").touch()
    (tmp_path / "link.parquet").symlink_to(tmp_path / "old.parquet", target_is_directory=True)
    files.remove(tmp_path / "link.parquet")
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["old.parquet", "part"]
