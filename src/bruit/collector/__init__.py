"""The collector: takes reports over HTTP, counts them, forgets them, and shows estimates."""

from bruit.collector.store import Opened, Outcome, Store, StoredTotals, open_store

__all__ = ["Opened", "Outcome", "Store", "StoredTotals", "open_store"]
