"""The page: files that were built into the package, as a browser loads them.

They hold no secrets, so nobody needs a token for them. What may be asked for is a plain name, never a path.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response

FOLDER = Path(__file__).parent / "page"
_INDEX = "index.html"
_ASSETS = "assets"
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_PACKED_ALREADY = (".png", ".woff2")
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_SAFE = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_MISSING = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Aurora</title>
<h1>The page has not been built</h1>
<p>The server runs, and answers at <a href="api/v1/docs">/api/v1</a>. To have the page, run <code>make page</code>
in the folder of Aurora's sources, then load this again.</p></html>
"""


@dataclass(frozen=True)
class _File:
    version: tuple[int, int]
    content: bytes
    packed: bytes | None
    tag: str


class PageFiles:
    """The files of a folder that ``npm run build`` filled. They are read once, and again when they have changed."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._files: dict[str, _File] = {}

    @property
    def built(self) -> bool:
        return (self._folder / _INDEX).is_file()

    def index(self, asked: Headers) -> Response:
        """The page itself: a browser asks each time whether it is still the same."""
        file = self._file(_INDEX)
        if file is None:
            return Response(_MISSING, 503, {**_SAFE, "cache-control": "no-store"}, media_type="text/html")
        return _answer(file, ".html", asked, cache="no-cache")

    def asset(self, name: str, asked: Headers) -> Response | None:
        """What the page loads; None if there is no such file. Its name changes with its content, so it may be kept."""
        if not _NAME.fullmatch(name) or Path(name).suffix not in _MEDIA:
            return None
        file = self._file(f"{_ASSETS}/{name}")
        if file is None:
            return None
        return _answer(file, Path(name).suffix, asked, cache="public, max-age=31536000, immutable")

    def _file(self, name: str) -> _File | None:
        path = self._folder / name
        try:
            found = path.stat()
            version = (found.st_mtime_ns, found.st_size)
            known = self._files.get(name)
            if known is None or known.version != version:
                content = path.read_bytes()
                packed = None if path.suffix in _PACKED_ALREADY else gzip.compress(content, mtime=0)
                tag = hashlib.sha256(content).hexdigest()[:24]
                known = self._files[name] = _File(version, content, packed, tag)
        except OSError:
            return None
        return known


def _answer(file: _File, suffix: str, asked: Headers, *, cache: str) -> Response:
    packed = file.packed if takes_gzip(asked.get("accept-encoding", "")) else None
    tag = f'"{file.tag}"' if packed is None else f'"{file.tag}-gzip"'
    headers = {**_SAFE, "cache-control": cache, "etag": tag, "vary": "accept-encoding"}
    if has_tag(asked.get("if-none-match", ""), tag):
        return Response(None, 304, headers)
    if packed is not None:
        headers["content-encoding"] = "gzip"
    return Response(file.content if packed is None else packed, 200, {**headers, "content-type": _MEDIA[suffix]})


def takes_gzip(accepted: str) -> bool:
    """Whether an ``Accept-Encoding`` header allows gzip.

    >>> takes_gzip("br, gzip;q=0.5"), takes_gzip("gzip;q=0"), takes_gzip("")
    (True, False, False)
    """
    for one in accepted.lower().split(","):
        name, _, weight = one.partition(";")
        if name.strip() in ("gzip", "*"):
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)
    return False


def has_tag(known: str, tag: str) -> bool:
    """Whether an ``If-None-Match`` header names the tag.

    >>> has_tag('W/"a", "b"', '"a"'), has_tag('"b"', '"a"')
    (True, False)
    """
    return known.strip() == "*" or tag in (one.strip().removeprefix("W/") for one in known.split(","))
