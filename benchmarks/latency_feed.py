"""The load of the latency benchmark: ticks at a steady rate, served to one reader over a loopback socket.

    python -m benchmarks.latency_feed --seconds 20 --log FILE

Prints the port it listens on. The first reader gets a line for every tick, in the same bytes whoever reads::

    birth in µs,ticker,price,volume,event time in ms

The birth is read from the machine's clock just before the line is sent. The event time is the birth's millisecond; one
tick in a hundred is up to 150 ms late, so a slack of 200 ms loses none. What was sent is written to the log at the end.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import socket
import sys
import time
from array import array
from pathlib import Path

import numpy as np

from benchmarks import ticks

RATE_PER_S = 5_000
LATEST_MS = 150
PATIENCE_S = 90
SEND_BUFFER_BYTES = 16 << 20
_PR_SET_TIMERSLACK = 29


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, required=True, help="how long to send")
    parser.add_argument("--log", type=Path, required=True, help="where to write what was sent (.npz)")
    options = parser.parse_args()
    count = int(options.seconds * RATE_PER_S)
    data = ticks.ticks(count, seed=7)
    random = np.random.default_rng(7)
    late_ms = np.where(random.random(count) < 0.01, random.integers(1, LATEST_MS + 1, count), 0)
    middles = [f",{ticker},{price:.2f},{volume}," for ticker, price, volume, _ in data.iter_rows()]
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE_S)
        print(server.getsockname()[1], flush=True)
        try:
            reader, _ = server.accept()
        except TimeoutError:
            sys.exit(f"nobody connected for {PATIENCE_S} s")
        with reader:
            births_us, stamps_ms = send(reader, middles, late_ms.tolist())
    sent = len(births_us)
    np.savez(
        options.log,
        birth_us=np.frombuffer(births_us, np.int64),
        ts_ms=np.frombuffer(stamps_ms, np.int64),
        ticker=data["ticker"].to_numpy().astype("U4")[:sent],
        price=data["price"].to_numpy()[:sent],
        volume=data["volume"].to_numpy()[:sent],
    )


def send(reader: socket.socket, middles: list[str], late_ms: list[int]) -> tuple[array[int], array[int]]:
    """Every line when it is due, one by one; births and event times of those that went out."""
    _wake_on_time()
    gc.collect()
    gc.disable()
    reader.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # A reader that falls behind must not hold the births back, or its delay would not be seen.
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    births_us, stamps_ms = array("q"), array("q")
    clock, step_ns = time.time_ns, 1_000_000_000 // RATE_PER_S
    due_ns = clock()
    last_us = 0
    for middle, late in zip(middles, late_ms, strict=True):
        due_ns += step_ns
        if (early_ns := due_ns - clock()) > 0:
            time.sleep(early_ns / 1e9)
        while (birth_us := clock() // 1_000) <= last_us:  # births tell ticks apart
            pass
        last_us = birth_us
        stamp_ms = birth_us // 1_000 - late
        try:
            reader.sendall(f"{birth_us}{middle}{stamp_ms}\n".encode())
        except OSError:
            break  # the reader has gone; it will be asked why
        births_us.append(birth_us)
        stamps_ms.append(stamp_ms)
    return births_us, stamps_ms


def _wake_on_time() -> None:
    """Linux lets a sleeper oversleep by 50 µs unless told otherwise."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1)


if __name__ == "__main__":
    main()
