"""Whether the server is alive, and whether it is ready: what those ask who start, stop and watch it."""

from __future__ import annotations

from typing import Any

from aurora.server.host import Host


def readiness(host: Host, *, stopping: bool) -> tuple[bool, dict[str, Any]]:
    """Ready is a server that takes tuples: it is not stopping, and no network has failed.

    A network that somebody stopped or paused is no reason to start the server anew.
    """
    stages = {hosted.name: hosted.stage for hosted in host}
    ready = not stopping and "failed" not in stages.values()
    return ready, {"ready": ready, "stopping": stopping, "networks": stages}
