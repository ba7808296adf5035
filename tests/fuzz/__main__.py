"""Looks for expressions on which evaluation fails: ``python -m tests.fuzz --count 1000000``."""

from __future__ import annotations

import argparse
import resource
import sys

from rich.progress import track

from tests.fuzz.expressions import Finding, tried


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000, help="how many expressions are drawn")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first of them")
    parser.add_argument("--findings", type=int, default=20, help="how many findings end the campaign")
    options = parser.parse_args()
    found: list[Finding] = []
    for seed in track(range(options.first, options.first + options.count), "expressions"):
        finding = tried(seed)
        if finding is not None:
            print(finding, flush=True)
            found.append(finding)
        if len(found) >= options.findings:
            break
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{seed - options.first + 1:,} expressions, {len(found)} findings, at most {peak_mb:,} MB")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
