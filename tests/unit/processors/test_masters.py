"""Master URLs: what Spark is given, how many tasks run at once, and what is refused."""

from __future__ import annotations

import os

import pytest

from aurora.errors import InputError
from aurora.processors.spark.masters import Master


@pytest.mark.parametrize(
    ("text", "spark_url", "slots", "is_local"),
    [
        ("local", "local[1,4]", 1, True),
        ("local[3]", "local[3,4]", 3, True),
        (" local[ 3 ] ", "local[3,4]", 3, True),
        ("local[3,1]", "local[3,1]", 3, True),
        ("local[2, 7]", "local[2,7]", 2, True),
        ("local-cluster[2,3,1024]", "local-cluster[2,3,1024]", 6, True),
        ("spark://host:7077", "spark://host:7077", None, False),
        ("spark://one:7077,two:7077", "spark://one:7077,two:7077", None, False),
        ("yarn", "yarn", None, False),
        ("k8s://https://host:6443", "k8s://https://host:6443", None, False),
    ],
)
def test_legal(text: str, spark_url: str, slots: int | None, is_local: bool) -> None:
    assert Master.parse(text) == Master(spark_url, slots, is_local)


def test_a_star_is_the_processors_that_we_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 2, 5}, raising=False)
    assert Master.parse("local[*]") == Master("local[3,4]", 3, True)
    assert Master.parse("local[*,2]").spark_url == "local[3,2]"


def test_a_star_where_the_system_has_no_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert Master.parse("local[*]").slots == 5


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lokal",
        "local[]",
        "local[0]",
        "local[2,0]",
        "local[-1]",
        "local[2",
        "local[2]x",
        "local-cluster[2,1]",
        "local-cluster[0,1,1024]",
        "spark://host",
        "spark:host:7077",
        "yarn-client",
        "k8s://",
        "mesos://host:5050",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        Master.parse(text)
    message = str(refused.value)
    assert repr(text) in message
    for form in ("local[N]", "local[*]", "local-cluster[", "spark://", "yarn", "k8s://"):
        assert form in message
