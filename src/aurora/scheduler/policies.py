"""All policies, by name."""

from __future__ import annotations

from aurora.scheduler.applications import Applications
from aurora.scheduler.buckets import Buckets
from aurora.scheduler.by_qos import ByQoS
from aurora.scheduler.feedback import Feedback
from aurora.scheduler.plan import Policy
from aurora.scheduler.planning import Planner
from aurora.scheduler.round_robin import RoundRobin, TupleAtATime
from aurora.scheduler.settings import SchedulerSettings
from aurora.scheduler.spanner import Spanner
from aurora.scheduler.state import Topology
from aurora.scheduler.train_rules import TrainRule

__all__ = ["SchedulerSettings", "TrainRule", "make_policy"]

_POLICIES: dict[str, type[Planner]] = {
    "round_robin": RoundRobin,
    "tuple_at_a_time": TupleAtATime,
    "applications": Applications,
    "spanner": Spanner,
    "qos": ByQoS,
    "feedback": Feedback,
    "buckets": Buckets,
}


def make_policy(settings: SchedulerSettings, topology: Topology) -> Policy:
    """The policy that the settings name, for a network that it has not seen yet.

    >>> make_policy(SchedulerSettings("round_robin"), Topology.build({"a": []}, {"out": "a"})).name
    'round_robin'
    """
    return _POLICIES[settings.policy](settings, topology)
