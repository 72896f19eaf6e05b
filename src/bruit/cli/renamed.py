"""Old commands and options, and how each is written now: an error about an old one names the new one.

The table on the page *Command line* is made from this module. An entry may go one version after the change.
"""

from __future__ import annotations

#: Old command -> how it is called now.
COMMANDS = {
    "regress": "bruit analyse regress",
    "compliance": "bruit analyse compliance",
    "difference": "bruit analyse difference",
    "compare": "bruit choose, with the questions, as in bruit choose sex=F,M smokes=no,yes -e 1",
    "people": "bruit size",
    "bounds": "bruit limits",
}

_SHOW = "Write --show for how many rows are shown."
_PERSON = "Write --person COLUMN:{}, as in --person user_id:{}."

#: Command as it is called now -> old option -> what to write.
OPTIONS: dict[str, dict[str, str]] = {
    "estimate": {"--rows": _SHOW},
    "analyse regress": {"--rows": _SHOW},
    "analyse difference": {"--rows": _SHOW},
    "result": {"--rows": _SHOW},
    "survey links": {"--sheet": "Write --slips, as in --slips slips.html."},
    "limits": {"--nobody": "Write --missing drop."},
    "continual start": {"--budget-delta": "Write it behind the ε of --budget, as in --budget 2,1e-6."},
    "release": {
        "--variance": 'Write --statistic "variance: age=0..120".',
        "--bounds": 'Write --statistic "bounds: income".',
        "--cross": 'Write --statistic "tables: sex=F,M & smokes=no,yes".',
        "--table": 'Write --statistic "tables: sex=F,M & smokes=no,yes & age=17..90 tables=sex,smokes;sex,age".',
        "--weight": 'Write --statistic "mean: age=0..120 weighted_by=stands_for=0..5".',
        "--at": 'Write --statistic "quantiles: income=0..1000 at=0.1:0.9:0.1".',
        "--method": 'Write --statistic "median: income=0..1000 method=exponential".',
        "--rows": _PERSON.format("rows=N", "rows=10"),
        "--groups": _PERSON.format("groups=N", "groups=3,rows_per_group=1"),
        "--rows-per-group": _PERSON.format("rows_per_group=N", "groups=3,rows_per_group=1"),
        "--nobody": "Write --missing COLUMN=POLICY with the column of --person, as in --missing user_id=drop.",
        "--no-group": "Write --missing COLUMN=category with the column of --by, as in --missing sex=category.",
        "--budget-delta": "Write it behind the ε of --budget, as in --budget 2,1e-6.",
        "--budget-rho": "Start the ledger with bruit ledger new my.ledger --rho 0.02.",
        "--zcdp": "Start the ledger with bruit ledger new my.ledger --epsilon 1 --delta 1e-6 --zcdp.",
        "--expected-rows": "Write -n, as in --dry-run -n 1000.",
        "--force": "Write an ! behind the file that is replaced, as in -o x.csv!",
        "--level": "The results have the level 0.95; bruit result my.ledger 0 --level 0.9 shows another.",
        "--show": "bruit result my.ledger 0 --show 5 shows 5 rows; bruit release shows 20, or all if nothing "
        "keeps them.",
    },
}
