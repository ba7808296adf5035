"""The page as files: what a browser gets over plain HTTP, and what nobody gets."""

from __future__ import annotations

import gzip
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from starlette.datastructures import Headers

from aurora.server.page_files import PageFiles
from aurora.server.service import Service
from tests.server.http_serving import TOKENS, asking

_LARGEST_FIRST_LOAD = 500_000


@pytest.fixture
def service(built_page: Path, serve: Callable[..., Service]) -> Service:
    return serve(tokens=TOKENS)


@pytest.fixture
def http(service: Service) -> Iterator[httpx.Client]:
    """Without a token: the page is for everybody."""
    with asking(service) as client:
        yield client


def _loaded_at_once(index: str) -> list[str]:
    """What the page asks for before it does anything."""
    return re.findall(r'(?:src|href)="\./(assets/[^"]+)"', index)


def test_the_page_is_asked_for_anew_each_time(http: httpx.Client) -> None:
    answer = http.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert '<div id="root">' in answer.text
    again = http.get("/", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert http.get("/", headers={"if-none-match": '"another"'}).status_code == 200


def test_what_it_loads_is_kept_for_ever(http: httpx.Client) -> None:
    media = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
    assets = _loaded_at_once(http.get("/").text)
    assert {Path(asset).suffix for asset in assets} == media.keys()
    for asset in assets:
        answer = http.get(f"/{asset}")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == media[Path(asset).suffix]
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        again = http.get(f"/{asset}", headers={"if-none-match": answer.headers["etag"]})
        assert again.status_code == 304


def test_browsers_are_told_to_use_nothing_from_elsewhere(http: httpx.Client) -> None:
    for path in ("/", f"/{_loaded_at_once(http.get('/').text)[0]}"):
        headers = http.get(path).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == "'self'"
        assert policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'"
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_what_can_be_packed_is_packed_for_those_who_take_it(http: httpx.Client) -> None:
    script = next(name for name in _loaded_at_once(http.get("/").text) if name.endswith(".js"))
    plain = http.get(f"/{script}", headers={"accept-encoding": "identity"})
    packed = http.get(f"/{script}", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert plain.headers["vary"] == packed.headers["vary"] == "accept-encoding"
    assert plain.headers["etag"] != packed.headers["etag"]
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < len(plain.content) / 2


def test_a_head_says_how_long_it_would_be(http: httpx.Client) -> None:
    answer = http.head("/")
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 0
    assert http.post("/").status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../index.html",
        "/assets/../../page_files.py",
        "/assets/..%2f..%2fpage_files.py",
        "/assets/%2e%2e/%2e%2e/app.py",
        "/assets/..%5c..%5capp.py",
        "/assets/%2fetc%2fpasswd",
        "/assets//etc/passwd",
        "/assets/",
        "/assets/.made_from",
        "/.made_from",
        "/index.html%00.js",
        "/assets/nothing-AAAAAAAA.js",
        "/page_files.py",
    ],
)
def test_nothing_else_can_be_had(service: Service, path: str) -> None:
    """As bytes on the wire, since clients put paths in order before they ask."""
    port = int(service.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n".encode())
        came = b"".join(iter(lambda: raw.recv(65_536), b""))
    assert came.split(b" ")[1] == b"404", came[:200]
    assert b"import " not in came
    assert b"root:" not in came


def test_the_page_is_open_and_what_it_asks_for_is_not(http: httpx.Client) -> None:
    assert http.get("/").status_code == 200
    assert http.get("/api/v1/server").status_code == 401


def test_the_first_load_is_small(http: httpx.Client, built_page: Path) -> None:
    """Packed, as browsers get it; the layout engine is fetched when it is first needed."""
    index = http.get("/").text
    sizes = {"index.html": len(gzip.compress(index.encode()))}
    waiting = _loaded_at_once(index)
    while waiting:
        name = waiting.pop()
        if name in sizes:
            continue
        content = (built_page / name).read_bytes()
        sizes[name] = len(gzip.compress(content))
        if name.endswith(".js"):
            # Scripts that this one cannot do without.
            needed = re.findall(r'(?:^|[;}])(?:import|export)[^;"\'()]*?["\']\./([^"\']+)["\']', content.decode())
            waiting += [f"assets/{other}" for other in needed]
    assert not any("elk" in name for name in sizes), sizes
    assert sum(sizes.values()) < _LARGEST_FIRST_LOAD, sizes


def test_without_a_page_the_server_says_how_to_build_it(tmp_path: Path) -> None:
    files = PageFiles(tmp_path)
    assert not files.built
    answer = files.index(Headers())
    assert answer.status_code == 503
    assert b"make page" in answer.body
    assert answer.headers["cache-control"] == "no-store"
    assert files.asset("index-AAAAAAAA.js", Headers()) is None


def test_a_page_that_is_built_anew_is_noticed(tmp_path: Path) -> None:
    index = tmp_path / "index.html"
    files = PageFiles(tmp_path)
    index.write_text("first")
    assert files.index(Headers()).body == b"first"
    index.write_text("the second one")
    assert files.index(Headers()).body == b"the second one"
    index.unlink()
    assert files.index(Headers()).status_code == 503
