"""Finding elements by words, tag, kind, network and column.

``findable`` is a view over the tables. Where SQLite has FTS5, ``search_index`` holds a copy that is searched by words;
elsewhere words are looked for with LIKE. A program without FTS5 cannot keep the index up, so it marks it as stale, and
the next one that can makes it anew.
"""

from __future__ import annotations

import sqlite3

from aurora.catalog.records import Found

_KINDS = {
    "streams": ("'stream'", "stream_parameters", "stream"),
    "boxes": ("kind", "box_parameters", "box"),
    "outputs": ("'output'", "output_parameters", "output"),
    "superboxes": ("'superbox'", "superbox_parameters", "superbox"),
    "connection_points": ("'connection_point'", "connection_point_parameters", "connection_point"),
    "sources": ("kind", "source_parameters", "source"),
    "sinks": ("kind", "sink_parameters", "sink"),
}


def _joined(column: str, table: str, where: str, order: str) -> str:
    rows = f"SELECT * FROM {table} WHERE {where} ORDER BY {order}"
    return f"COALESCE((SELECT group_concat({column}, char(10)) FROM ({rows})), '')"


def _select(section: str, kind: str, parameters: str, one: str) -> str:
    own = f"network = e.network AND section = '{section}' AND element = e.name"
    return (
        f"SELECT e.network AS network, '{section}' AS section, e.name AS element, {kind} AS kind, e.description AS "
        f"description, e.manual AS manual, {_joined('tag', 'tags', own, 'position')} AS tags, "
        f"{_joined('name', 'carried_columns', own, 'port, position')} AS columns, "
        + _joined("name || ' ' || value", parameters, f"network = e.network AND {one} = e.name", "position")
        + f" AS parameters FROM {section} e"
    )


_OF_NETWORK = "network = e.name AND section = 'network'"
FINDABLE = (
    "CREATE VIEW findable AS\n"
    "SELECT e.name AS network, 'network' AS section, e.name AS element, 'network' AS kind, "
    f"e.description AS description, e.manual AS manual, {_joined('tag', 'tags', _OF_NETWORK, 'position')} AS tags, "
    "'' AS columns, '' AS parameters FROM networks e\nUNION ALL\n"
    + "\nUNION ALL\n".join(_select(section, *names) for section, names in _KINDS.items())
    + ";"
)

_INDEX = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS search_index USING fts5(network UNINDEXED, section UNINDEXED, element, kind, "
    "description, manual, tags, columns, parameters)"
)
_WEIGHTS = "0, 0, 10, 4, 5, 1, 8, 4, 1"


def full_text_available(sql: sqlite3.Connection) -> bool:
    try:
        sql.execute("CREATE VIRTUAL TABLE temp.probe USING fts5(text)")
        sql.execute("DROP TABLE temp.probe")
    except sqlite3.OperationalError:
        return False
    return True


def index_state(sql: sqlite3.Connection) -> str:
    """``fresh``, ``stale``, or nothing if there is no index."""
    row = sql.execute("SELECT value FROM settings WHERE name = 'search_index'").fetchone()
    return "" if row is None else str(row[0])


def _note_state(sql: sqlite3.Connection, state: str) -> None:
    sql.execute("INSERT OR REPLACE INTO settings (name, value) VALUES ('search_index', ?)", (state,))


def rebuild(sql: sqlite3.Connection) -> None:
    sql.execute(_INDEX)
    sql.execute("DELETE FROM search_index")
    sql.execute("INSERT INTO search_index SELECT * FROM findable")
    _note_state(sql, "fresh")


def refresh(sql: sqlite3.Connection, network: str, *, full_text: bool) -> None:
    """Brings the index up to what the tables say of the network."""
    if full_text:
        sql.execute("DELETE FROM search_index WHERE network = ?", (network,))
        sql.execute("INSERT INTO search_index SELECT * FROM findable WHERE network = ?", (network,))
    elif index_state(sql):
        _note_state(sql, "stale")


def find(
    sql: sqlite3.Connection,
    text: str,
    *,
    tag: str | None,
    kind: str | None,
    network: str | None,
    column: str | None,
    full_text: bool,
) -> list[Found]:
    words = text.encode("utf-8", "replace").decode().replace("\0", " ").split()
    # A word without letters and digits is none to the index, and would be ignored there.
    known = all(any(character.isalnum() for character in word) for word in words)
    indexed = full_text and known and index_state(sql) == "fresh"
    source = "search_index" if indexed else "findable"
    conditions, values = ["1"], []
    if indexed and words:
        conditions.append("search_index MATCH ?")
        values.append(" ".join(f'"{word.replace(chr(34), chr(34) * 2)}"*' for word in words))
    else:
        everything = "element || char(10) || kind || char(10) || description || char(10) || manual || char(10) || tags"
        everything += " || char(10) || columns || char(10) || parameters"
        for word in words:
            conditions.append(f"({everything}) LIKE ? ESCAPE '!'")
            values.append("%" + word.replace("!", "!!").replace("%", "!%").replace("_", "!_") + "%")
    own = f"x.network = {source}.network AND x.section = {source}.section AND x.element = {source}.element"
    if tag is not None:
        conditions.append(f"EXISTS (SELECT 1 FROM tags x WHERE {own} AND x.tag = ? COLLATE NOCASE)")
        values.append(tag)
    if column is not None:
        conditions.append(f"EXISTS (SELECT 1 FROM carried_columns x WHERE {own} AND x.name = ?)")
        values.append(column)
    if network is not None:
        conditions.append(f"{source}.network = ?")
        values.append(network)
    if kind is not None:
        conditions.append("(kind = ? COLLATE NOCASE OR (section = 'boxes' AND ? = 'box' COLLATE NOCASE))")
        values += [kind, kind]
    order = f"bm25(search_index, {_WEIGHTS}), rowid" if indexed and words else "network, section, element"
    query = f"SELECT network, section, element, kind, description FROM {source} WHERE "
    rows = sql.execute(f"{query}{' AND '.join(conditions)} ORDER BY {order}", values).fetchall()
    return [
        Found(row["network"], row["section"], row["element"], row["kind"], row["description"], _tags(sql, row))
        for row in rows
    ]


def _tags(sql: sqlite3.Connection, row: sqlite3.Row) -> tuple[str, ...]:
    query = "SELECT tag FROM tags WHERE network = ? AND section = ? AND element = ? ORDER BY position"
    return tuple(tag for (tag,) in sql.execute(query, tuple(row[:3])))
