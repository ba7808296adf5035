"""``python -m benchmarks.experiments [--only 5,6] [--quick]``."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # On trains of a few tuples, waking Polars' threads costs more than they do.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    from benchmarks.experiments.run import main

    sys.exit(main())
