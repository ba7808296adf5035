"""Triggers: they log what other programs change, keep rows together, and refuse what would break the history.

Aurora's own writes set ``own_writes.active`` for the time of their transaction, which no other program ever sees; so
only the writes of others are logged as edits.
"""

from __future__ import annotations

from collections.abc import Iterator

OWNED: dict[str, tuple[str, tuple[str, ...]]] = {
    "streams": ("stream", ("stream_columns", "stream_parameters")),
    "boxes": ("box", ("arcs", "box_parameters")),
    "outputs": ("output", ("output_parameters", "qos_graphs", "qos_points")),
    "superboxes": ("superbox", ("superbox_boxes", "superbox_parameters")),
    "connection_points": ("connection_point", ("connection_point_columns", "connection_point_parameters")),
    "sources": ("source", ("source_parameters",)),
    "sinks": ("sink", ("sink_parameters",)),
}
"""For each section, the column by which other tables name its elements, and those tables."""

PART_TABLES = ("networks", *OWNED, *(table for _, tables in OWNED.values() for table in tables), "tags")

_OTHERS = "WHEN NOT EXISTS (SELECT 1 FROM own_writes WHERE active = 1)"


def triggers() -> str:
    return "\n".join([*_logs(), *_cascades(), *_guards()])


def _trigger(name: str, when: str, body: str, condition: str = "") -> str:
    return f"CREATE TRIGGER {name} {when} {_OTHERS}{condition} BEGIN {body} END;"


def _log(network: str, what: str, detail: str, pending: int = 0) -> str:
    return f"INSERT INTO changes (network, what, detail, pending) VALUES ({network}, '{what}', {detail}, {pending});"


def _logs() -> Iterator[str]:
    for table in PART_TABLES:
        key = "name" if table == "networks" else "network"
        old, new = (_log(f"{row}.{key}", "edited", f"'{table}'", 1) for row in ("OLD", "NEW"))
        yield _trigger(f"{table}_inserted", f"AFTER INSERT ON {table}", new)
        yield _trigger(f"{table}_deleted", f"AFTER DELETE ON {table}", old)
        yield _trigger(f"{table}_updated", f"AFTER UPDATE ON {table}", new)
        yield _trigger(f"{table}_moved", f"AFTER UPDATE ON {table}", old, f" AND OLD.{key} IS NOT NEW.{key}")
    for table in ("layout", "bookmarks"):
        for operation, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
            log = _log(f"{row}.network", table, "''")
            yield f"CREATE TRIGGER {table}_{operation.lower()} AFTER {operation} ON {table} BEGIN {log} END;"


def _cascades() -> Iterator[str]:
    """A deleted or renamed element takes its own rows along; what reads it by name is left for the check to find."""
    for section, (column, tables) in OWNED.items():
        own = [(table, f"network = OLD.network AND {column} = OLD.name", column) for table in tables]
        tags = f"network = OLD.network AND section = '{section}' AND element = OLD.name"
        every = [*own, ("tags", tags, "element")]
        deletes = " ".join(f"DELETE FROM {table} WHERE {where};" for table, where, _ in every)
        renames = " ".join(f"UPDATE {table} SET {name} = NEW.name WHERE {where};" for table, where, name in every)
        yield _trigger(f"{section}_take_along", f"AFTER DELETE ON {section}", deletes)
        yield _trigger(f"{section}_rename", f"AFTER UPDATE OF name ON {section}", renames, " AND OLD.name <> NEW.name")
    everything = " ".join(f"DELETE FROM {table} WHERE network = OLD.name;" for table in PART_TABLES[1:])
    yield _trigger("networks_take_along", "AFTER DELETE ON networks", everything)
    yield (
        "CREATE TRIGGER versions_take_along AFTER DELETE ON versions "
        "BEGIN DELETE FROM problems WHERE version = OLD.id; END;"
    )


def _refusal(name: str, when: str, condition: str, why: str) -> str:
    return _trigger(name, when, f"SELECT RAISE(ABORT, '{why}');", condition)


def _guards() -> Iterator[str]:
    number = "(SELECT COALESCE(MAX(number), 0) + 1 FROM versions WHERE network = NEW.network)"
    yield _trigger(
        "versions_proposed",
        "AFTER INSERT ON versions",
        f"UPDATE versions SET number = {number} WHERE id = NEW.id AND number IS NULL; "
        + _log("NEW.network", "proposed", "(SELECT number FROM versions WHERE id = NEW.id)"),
    )
    yield _refusal(
        "versions_only_proposed",
        "BEFORE INSERT ON versions",
        " AND NEW.state <> 'proposed'",
        "insert versions with the state proposed: Aurora checks them and decides",
    )
    yield _refusal(
        "versions_unchanged",
        "BEFORE UPDATE OF id, network, number, state, document ON versions",
        " AND NOT (OLD.number IS NULL AND NEW.id = OLD.id AND NEW.network = OLD.network"
        " AND NEW.state = OLD.state AND NEW.document = OLD.document)",
        "a version does not change: insert a new one",
    )
    yield _refusal(
        "versions_current_kept",
        "BEFORE DELETE ON versions",
        " AND OLD.id IN (SELECT version FROM current_versions)",
        "this version is the current one: make another one current first",
    )
    for operation in ("INSERT", "UPDATE", "DELETE"):
        yield _refusal(
            f"current_versions_{operation.lower()}",
            f"BEFORE {operation} ON current_versions",
            "",
            "insert a row into versions instead: Aurora checks it and makes it current",
        )
    yield _refusal(
        "networks_keep_names",
        "BEFORE UPDATE OF name ON networks",
        " AND OLD.name <> NEW.name",
        "a network keeps its name: insert it under another one and delete this one",
    )
