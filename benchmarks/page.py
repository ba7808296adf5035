"""How smooth the page stays with a thousand boxes, beside an empty page in the same browser and the same run.

    python -m benchmarks.page [--quick] [--boxes 1000]

A server in a process of its own runs the network on the local processor; tuples come in all the time, and the page
shows statistics every second. A mouse then pans and drags at full size, zooms in and out, and pans with all boxes in
sight. The page's own ``requestAnimationFrame`` notes the time from frame to frame. The empty page gets the same
gestures.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import yaml
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright
from rich.console import Console
from rich.table import Table

from tests.page.browser import chromium, install

BOXES = 1_000
SECONDS = 9.0
ROUNDS = 3
STREAMS = 20
SIZE: ViewportSize = {"width": 1440, "height": 900}
RESULTS = Path(__file__).parent / "results"
MIDDLE = (640.0, 330.0)
"""On the drawing, whatever stands around it."""

RECORD = """
() => {
  window.frames = [];
  let last = performance.now();
  const tick = (now) => {
    window.frames.push(now - last);
    last = now;
    window.recording = requestAnimationFrame(tick);
  };
  window.recording = requestAnimationFrame(tick);
}
"""
STOP = "() => { cancelAnimationFrame(window.recording); return window.frames.slice(2); }"

Gesture = Callable[[Page, float], None]


def network(boxes: int) -> dict[str, Any]:
    """Chains of boxes beside each other, which here and there take in a few tuples of the chain above."""
    length = round(boxes / STREAMS / 1.2)
    streams = {f"in_{row}": {"schema": {"key": "string", "x": "double"}} for row in range(STREAMS)}
    made: dict[str, Any] = {}
    for row in range(STREAMS):
        arc = f"in_{row}"
        for step in range(length):
            name = f"box_{row}_{step}"
            kind = (row + step) % 5
            if kind == 4 and row and step:
                made[f"few_{row}_{step}"] = {"kind": "filter", "in": f"box_{row - 1}_{step - 1}", "where": "x > 0.999"}
                made[name] = {"kind": "union", "in": [arc, f"few_{row}_{step}"]}
            elif kind == 3:
                made[name] = {"kind": "map", "in": arc, "extend": {"x": "x * 1.0"}}
            else:
                made[name] = {"kind": "filter", "in": arc, "where": "x >= 0"}
            arc = name
    for number in range(boxes - len(made)):
        made[f"more_{number}"] = {"kind": "filter", "in": f"box_{number % STREAMS}_{length - 1}", "where": "x > 0.5"}
    outputs = {f"out_{row}": {"from": f"box_{row}_{length - 1}"} for row in range(STREAMS)}
    columns = {"key": {"choice": ["a", "b", "c"]}, "x": {"uniform": [0, 1]}}
    sources = {
        f"feed_{row}": {"kind": "generator", "into": f"in_{row}", "rate": 1, "columns": columns}
        for row in range(STREAMS)
    }
    return {"aurora": 1, "network": "large", "streams": streams, "boxes": made, "outputs": outputs, "sources": sources}


@contextmanager
def server(boxes: int) -> Iterator[str]:
    """The address of a server that runs the network."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.yaml"
        file.write_text(yaml.safe_dump(network(boxes), sort_keys=False))
        command = [
            sys.executable,
            "-c",
            "from aurora.cli import main; main()",
            "serve",
            str(file),
            "--processor",
            "local",
        ]
        process = subprocess.Popen(
            [*command, "--port", str(port), "--flight-port", "0"], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/health/live", process)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes], timeout_s: float = 60) -> None:
    end_s = time.monotonic() + timeout_s
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > end_s:
                raise SystemExit("the server did not start") from None
            time.sleep(0.1)


def _until(seconds: float) -> Iterator[float]:
    """The share of the time that has gone by, again and again."""
    began_s = time.monotonic()
    while (gone_s := time.monotonic() - began_s) < seconds:
        yield gone_s / seconds


FREE = """
([x, y]) => {
  for (let far = 0; far < 300; far += 10) {
    for (const [dx, dy] of [[far, 0], [0, far], [-far, 0], [0, -far], [far, far], [-far, -far]]) {
      if (document.elementFromPoint(x + dx, y + dy)?.matches(".react-flow__pane")) return [x + dx, y + dy];
    }
  }
  return [x, y];
}
"""


def pan(page: Page, seconds: float) -> None:
    """Takes hold where nothing is drawn."""
    x, y = page.evaluate(FREE, MIDDLE)
    page.mouse.move(x, y)
    page.mouse.down()
    for share in _until(seconds):
        turn = share * seconds * 2.5
        page.mouse.move(x + 220 * math.sin(turn), y + 140 * math.sin(turn * 1.3))
    page.mouse.up()


def zoom(page: Page, seconds: float) -> None:
    """Four times out and in again, over a factor of about ten."""
    page.mouse.move(*MIDDLE)
    for share in _until(seconds):
        page.mouse.wheel(0, 40 if share * 8 % 2 < 1 else -40)


def drag(page: Page, seconds: float) -> None:
    """Moves a box about. On the empty page the mouse does the same over nothing."""
    x, y = MIDDLE
    found = page.locator(".react-flow__node-element").all()
    boxes = [box for box in (one.bounding_box() for one in found) if box]
    inside = [box for box in boxes if abs(box["x"] - x) < 300 and abs(box["y"] - y) < 150]
    if inside:
        x, y = inside[0]["x"] + 60, inside[0]["y"] + 14
    page.mouse.move(x, y)
    page.mouse.down()
    for share in _until(seconds):
        turn = share * seconds * 2.5
        page.mouse.move(x + 90 * math.sin(turn), y + 60 * math.cos(turn * 1.3))
    page.mouse.up()


GESTURES: dict[str, Gesture] = {"pan": pan, "drag": drag, "zoom": zoom, "pan all in sight": pan}


def frames(page: Page, gesture: Gesture, seconds: float) -> list[float]:
    page.bring_to_front()
    page.evaluate(RECORD)
    gesture(page, seconds)
    found: list[float] = page.evaluate(STOP)
    return found


def opened(browser: Browser, url: str) -> tuple[Page, float]:
    """The page, and how long it took until the drawing was there."""
    page = browser.new_page(viewport=SIZE)
    began_s = time.monotonic()
    page.goto(url)
    page.locator(".react-flow__node-element, .remote-nodes").first.wait_for(state="attached", timeout=120_000)
    ready_s = time.monotonic() - began_s
    page.wait_for_timeout(2_000)
    return page, ready_s


def look(page: Page, *, whole: bool, count: int) -> None:
    """All of the drawing, or its middle at full size."""
    page.bring_to_front()
    page.mouse.click(*page.evaluate(FREE, MIDDLE))
    page.keyboard.press("f")
    page.wait_for_timeout(800)
    if not whole:
        page.keyboard.press("0")
        page.wait_for_timeout(800)
    elif (shown := int(page.locator(".remote-nodes").get_attribute("data-count") or 0)) < count:
        raise SystemExit(f"only {shown} of more than {count} elements are in sight")


def measure(browser: Browser, url: str, seconds: float, count: int) -> tuple[dict[str, Any], float]:
    """Frame times of every gesture on both pages, in turns, since the machine may be busier now than then."""
    empty = browser.new_page(viewport=SIZE)
    empty.set_content("<!doctype html><title>empty</title>")
    page, ready_s = opened(browser, url)
    found: dict[str, Any] = {}
    for name, gesture in GESTURES.items():
        times: dict[str, list[float]] = {"page": [], "empty": []}
        for _ in range(ROUNDS):
            look(page, whole=name == "pan all in sight", count=count)
            times["page"] += frames(page, gesture, seconds / ROUNDS)
            times["empty"] += frames(empty, gesture, seconds / ROUNDS)
        found[name] = {side: summary(noted) for side, noted in times.items()}
    return found, ready_s


def summary(times: list[float]) -> dict[str, float]:
    return {"median_ms": round(median(times), 2), "p95_ms": round(quantiles(times, n=20)[-1], 2), "frames": len(times)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--quick", action="store_true", help="a second or two for each gesture, and no result is written"
    )
    parser.add_argument("--boxes", type=int, default=BOXES)
    options = parser.parse_args()
    seconds = ROUNDS * 0.5 if options.quick else SECONDS
    path = chromium()
    if path is None:
        missing = install()
        path = chromium()
        if path is None:
            raise SystemExit(missing)
    with server(options.boxes) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        found, ready_s = measure(browser, url, seconds, options.boxes)
        version = browser.version
        browser.close()
    table = Table("gesture", "page: median, p95 ms", "empty page: median, p95 ms", "ratio of medians", "of p95")
    for name, sides in found.items():
        own, other = sides["page"], sides["empty"]
        ratios = {key: round(own[f"{key}_ms"] / other[f"{key}_ms"], 2) for key in ("median", "p95")}
        sides["ratio"] = ratios
        table.add_row(
            name,
            f"{own['median_ms']:.1f}, {own['p95_ms']:.1f}",
            f"{other['median_ms']:.1f}, {other['p95_ms']:.1f}",
            f"{ratios['median']:.2f}",
            f"{ratios['p95']:.2f}",
        )
    console = Console()
    console.print(table)
    console.print(f"{options.boxes} boxes were drawn {ready_s:.1f} s after the page was asked for", highlight=False)
    if not options.quick:
        machine = {"cores": os.cpu_count(), "chromium": version, "boxes": options.boxes, "seconds_per_gesture": seconds}
        text = json.dumps({**machine, "ready_s": round(ready_s, 2), "gestures": found}, indent=2)
        (RESULTS / "page.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
