"""The plan of a publication as a page to be signed, before anything is read or spent."""

from __future__ import annotations

from dataclasses import replace

import bruit
from bruit.pages import Page, Section, render
from bruit.publications.bill import Bill
from bruit.tables import Table

__all__ = ["plan_page"]

_SIGNED = (
    "By signing, you agree that these numbers of this table are drawn once and shown to anybody, at this cost.",
    "Name: ______________________________",
    "Date: _______________  Signature: ______________________________",
)


def plan_page(bill: Bill) -> str:
    """What would be published, how exactly, what it costs, and a place to sign."""
    plan, table = bill.plan, bill.prospects()
    notes = tuple(f"{note[:1].upper()}{note[1:]}." for note in table.notes)
    described = tuple(f"{item.name}: {item.description}" for item in plan.requests if item.description)
    numbers = Section("What would be published, and how exactly", described, _untitled(table))
    budget = Section("What it costs", (*notes, *plan.budget_remarks(bill.lines)))
    return render(
        Page(
            f"Plan: {plan.title}",
            f"Of the table {plan.table}. No data were read, and nothing is spent until this is run.",
            (numbers, budget, Section("Agreed", _SIGNED)),
            footer=f"Publication {bill.digest}, planned with bruit {bruit.__version__}. A changed file differs.",
        )
    )


def _untitled(table: Table) -> Table:
    return replace(table, title="", notes=())
