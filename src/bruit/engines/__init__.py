"""The front door for data: the same fold over arrays, frames, files, streams and Spark, in constant memory.

An engine knows two things only: that it has a function of a batch, and that results add. What it reads with (pyarrow,
narwhals, pyspark) is imported when such data are handed over, and not before.
"""

from bruit.engines.batch import BATCH
from bruit.engines.csv_options import TextOptions
from bruit.engines.discover import read_schema
from bruit.engines.queries import Query, is_query, query
from bruit.engines.running import all_metadata, fold, map, metadata_of
from bruit.engines.sources import Source, batches, is_spark, read
from bruit.engines.written import write_table

__all__ = [
    "BATCH",
    "Query",
    "Source",
    "TextOptions",
    "all_metadata",
    "batches",
    "fold",
    "is_query",
    "is_spark",
    "map",
    "metadata_of",
    "query",
    "read",
    "read_schema",
    "write_table",
]
