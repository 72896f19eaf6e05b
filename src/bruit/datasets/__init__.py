"""Real tables to try things on, with their schema, licence and checksum.

`load` gives a table; all travel with bruit and need no network.
`entries` tells what each set is without opening it.

>>> from bruit import datasets
>>> adult = datasets.load("adult")
>>> len(adult), adult["marital-status"][0], adult.schema["sex"].labels
(48842, 'Never-married', ('Female', 'Male'))
>>> datasets.names
('adult', 'nursery', 'diabetes', 'iris', 'acs_employment')
"""

from typing import TYPE_CHECKING

from bruit._renamed import answering
from bruit.datasets.catalogue import CatalogueEntry, DatasetColumn, entries
from bruit.datasets.dataset import Dataset, load

#: The names that `load` knows.
names: tuple[str, ...] = tuple(entries())

__all__ = ["CatalogueEntry", "Dataset", "DatasetColumn", "entries", "load", "names"]

if not TYPE_CHECKING:  # a checker would take any name then
    __getattr__ = answering(__name__)
