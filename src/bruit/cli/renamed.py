"""Old commands and options, and how each is written now; whoever types an old one is told the new one.

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

#: Command as it is called now -> old option -> what to write.
OPTIONS: dict[str, dict[str, str]] = {
    "estimate": {"--rows": _SHOW},
    "analyse regress": {"--rows": _SHOW},
    "analyse difference": {"--rows": _SHOW},
    "result": {"--rows": _SHOW},
    "limits": {"--nobody": "Write --missing drop."},
}
