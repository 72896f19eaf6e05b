"""The page about page views: its commands give what it says, where the data are."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bruit.releases import Result

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "publish_page_views.md").read_text(encoding="utf-8")
FILES = ("msnbc.csv.gz", "msnbc_categories.csv", "nyc_green_taxi_2023-01.csv.gz")


@pytest.mark.audit
def test_the_page_of_page_views_is_published_end_to_end(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    folder = Path(os.environ.get("BRUIT_DATA", "nowhere"))
    if not all((folder / name).is_file() for name in FILES):
        pytest.skip(f"set BRUIT_DATA to the folder with {', '.join(FILES)}, which do not travel with bruit")
    for name in FILES:
        (tmp_path / name).symlink_to((folder / name).resolve())
    (statements,) = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    with duckdb.connect() as connection:
        connection.execute(f"SET file_search_path = '{tmp_path}'")
        for statement in statements.split(";"):
            text = re.sub(r"TO '(\w+\.\w+)'", rf"TO '{tmp_path}/\1'", statement.strip())
            if text:
                connection.execute(text)
        truth = dict(
            connection.execute("SELECT page, count(DISTINCT visitor) FROM 'views.parquet' GROUP BY page").fetchall()
        )
    commands = re.findall(r"^bruit .*", PAGE.replace("\\\n", ""), re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["limits", "release", "ledger", "result", "release"]
    for command in commands:
        program = [str(Path(sys.executable).with_name("bruit")), *shlex.split(command)[1:]]
        run = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
    (views,) = (tmp_path / "views.ledger.results").glob("count*.json")  # the profile of bruit limits is there too
    result = Result.load(views)
    # Laplace noise of scale 16 on 17 counts: |noise| is beyond 400 with a probability of 17·e⁻²⁵.
    assert max(abs(value - truth[label]) for label, value in zip(result.labels, result.values, strict=True)) < 400
    assert result.guarantee.neighbours == "person-add-remove"
    (taxi,) = (tmp_path / "taxi.ledger.results").iterdir()
    assert 110 < len(Result.load(taxi)) < 140
    assert np.min(Result.load(taxi).values) > 14
