"""The process that Spark forks Python workers from; Spark starts it by the name of this module.

Two things make steps of a live stream short. What workers need is imported here, once, so that a fresh worker (the
first, one in place of another that died, one after a quiet minute) is there in milliseconds. And what has been imported
is frozen: after every task PySpark collects garbage, which otherwise goes through all of these modules each time.

Forking is safe as long as nobody here has used Polars, because its threads would be missing in the children. Importing
it starts none of them; ``session.py`` switches off the background threads of the memory allocators, which would be
missing too.
"""

from __future__ import annotations

import gc

import pyarrow.ipc
import pyspark.daemon
import pyspark.worker

import aurora.boxes
import aurora.processors.local
import aurora.processors.spark.session

__all__ = ["aurora", "main", "pyarrow"]


def main() -> None:
    gc.collect()
    gc.freeze()
    pyspark.daemon.manager()


if __name__ == "__main__":
    main()
