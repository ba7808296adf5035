"""The catalog: networks with all their versions, statistics, bookmarks and layout, in an SQLite file open to all.

``catalog`` is what the rest of Aurora uses. ``tables`` and ``triggers`` are the file's schema, ``database`` opens it.
``parts`` takes networks apart into rows and puts them together again; ``history`` keeps versions; ``review`` finds what
other programs brought. ``search``, ``statistics``, ``picture`` and ``exchange`` each serve one kind of question.
"""

from aurora.catalog.catalog import Catalog
from aurora.catalog.records import Bookmark, Candidate, Change, Found, Sample, Version

__all__ = ["Bookmark", "Candidate", "Catalog", "Change", "Found", "Sample", "Version"]
