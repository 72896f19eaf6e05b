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

from bruit.datasets.catalogue import Column, Entry, entries
from bruit.datasets.dataset import Dataset, load

#: The names that `load` knows.
names: tuple[str, ...] = tuple(entries())

__all__ = ["Column", "Dataset", "Entry", "entries", "load", "names"]
