"""The pages and pictures that come from the code show what the code says now."""

from __future__ import annotations

from docs.generate import pages, pictures


def test_they_are_those_that_make_docs_writes() -> None:
    stale = [
        path.name
        for path, text in (pages() | pictures()).items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    assert not stale, f"run `make docs`; these pages are not as the code is: {stale}"
