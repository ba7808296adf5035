"""The tables of a catalog, as SQL. docs/reference/catalog.md says what each is for.

Columns of text refuse anything else, so that a program that writes a number or bytes into a name is told so at once.
A ``position`` may be left out: what has none comes last. Tables are not STRICT, since older SQLites cannot open those.
"""

from __future__ import annotations

import re

NOW_US = "CAST(ROUND((julianday('now') - 2440587.5) * 86400000000.0) AS INTEGER)"


def _expanded(sql: str) -> str:
    """Writes out the types of columns: ``X name!`` is text that must be given, ``X text!`` is empty if it is not."""
    finite = "typeof(\\1) = 'real' AND abs(\\1) <= 1.7976931348623157e308"
    sql = re.sub(r"(\w+) name!", r"\1 TEXT NOT NULL CHECK (typeof(\1) = 'text')", sql)
    sql = re.sub(r"(\w+) text!", r"\1 TEXT NOT NULL DEFAULT '' CHECK (typeof(\1) = 'text')", sql)
    sql = re.sub(r"(\w+) real!( DEFAULT \d)?", rf"\1 REAL NOT NULL\2 CHECK ({finite})", sql)
    sql = re.sub(r"(\w+) time!", r"\1 INTEGER NOT NULL DEFAULT (NOW_US) CHECK (typeof(\1) = 'integer')", sql)
    return sql.replace("NOW_US", NOW_US)


HISTORY = _expanded("""
CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    network name!,
    number INTEGER CHECK (number IS NULL OR (typeof(number) = 'integer' AND number >= 1)),
    state TEXT NOT NULL DEFAULT 'proposed' CHECK (state IN ('proposed', 'accepted', 'refused', 'removed')),
    document text!,
    author text!,
    at_us time!,
    why text!,
    UNIQUE (network, number)
);
CREATE INDEX versions_proposed ON versions (id) WHERE state = 'proposed';
CREATE TABLE current_versions (
    network TEXT PRIMARY KEY NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id)
);
CREATE TABLE problems (
    version INTEGER NOT NULL REFERENCES versions (id),
    position INTEGER NOT NULL,
    id name!,
    severity TEXT NOT NULL CHECK (severity IN ('error', 'warning')),
    element text!,
    path TEXT NOT NULL DEFAULT '[]',
    line INTEGER,
    found text!,
    choices TEXT NOT NULL DEFAULT '[]',
    way_out text!,
    PRIMARY KEY (version, position)
) WITHOUT ROWID;
CREATE TABLE changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_us time!,
    network name!,
    what TEXT NOT NULL
        CHECK (what IN ('edited', 'proposed', 'accepted', 'refused', 'removed', 'layout', 'bookmarks')),
    detail text!,
    pending INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX changes_pending ON changes (network, id) WHERE pending = 1;
CREATE TABLE own_writes (active INTEGER NOT NULL);
INSERT INTO own_writes (active) VALUES (0);
CREATE TABLE settings (name TEXT PRIMARY KEY NOT NULL, value NOT NULL);
""")

PARTS = _expanded("""
CREATE TABLE networks (name name! PRIMARY KEY, description text!, manual text!);
CREATE TABLE streams (
    network name!, position NUMERIC, name name!, description text!, manual text!, PRIMARY KEY (network, name)
);
CREATE TABLE stream_columns (
    network name!, stream name!, position NUMERIC, name name!, type name!, PRIMARY KEY (network, stream, name)
);
CREATE TABLE stream_parameters (
    network name!, stream name!, position NUMERIC,
    name name! CHECK (name NOT IN ('schema', 'description', 'tags', 'manual')),
    value, PRIMARY KEY (network, stream, name)
);
CREATE TABLE boxes (
    network name!, position NUMERIC, name name!, kind name!, description text!, manual text!,
    PRIMARY KEY (network, name)
);
CREATE TABLE arcs (network name!, box name!, position NUMERIC, source name!);
CREATE INDEX arcs_of_box ON arcs (network, box);
CREATE TABLE box_parameters (
    network name!, box name!, position NUMERIC,
    name name! CHECK (name NOT IN ('kind', 'in', 'description', 'tags', 'manual')),
    value, PRIMARY KEY (network, box, name)
);
CREATE TABLE outputs (
    network name!, position NUMERIC, name name!, source name!, description text!, manual text!,
    PRIMARY KEY (network, name)
);
CREATE TABLE output_parameters (
    network name!, output name!, position NUMERIC,
    name name! CHECK (name NOT IN ('from', 'description', 'tags', 'manual')),
    value, PRIMARY KEY (network, output, name)
);
CREATE TABLE qos_graphs (
    network name!, output name!, graph TEXT NOT NULL CHECK (graph IN ('latency', 'loss', 'value')), on_column TEXT,
    PRIMARY KEY (network, output, graph)
);
CREATE TABLE qos_points (network name!, output name!, graph name!, position NUMERIC, x NOT NULL, utility REAL NOT NULL);
CREATE INDEX qos_points_of_graph ON qos_points (network, output, graph);
CREATE TABLE superboxes (
    network name!, position NUMERIC, name name!, description text!, manual text!, PRIMARY KEY (network, name)
);
CREATE TABLE superbox_boxes (network name!, superbox name!, position NUMERIC, box name!);
CREATE INDEX superbox_boxes_of_superbox ON superbox_boxes (network, superbox);
CREATE TABLE superbox_parameters (
    network name!, superbox name!, position NUMERIC,
    name name! CHECK (name NOT IN ('boxes', 'description', 'tags', 'manual')),
    value, PRIMARY KEY (network, superbox, name)
);
CREATE TABLE connection_points (
    network name!, position NUMERIC, name name!, source TEXT, description text!, manual text!,
    PRIMARY KEY (network, name)
);
CREATE TABLE connection_point_columns (
    network name!, connection_point name!, position NUMERIC, name name!, type name!,
    PRIMARY KEY (network, connection_point, name)
);
CREATE TABLE connection_point_parameters (
    network name!, connection_point name!, position NUMERIC,
    name name! CHECK (name NOT IN ('on', 'schema', 'description', 'tags', 'manual')),
    value, PRIMARY KEY (network, connection_point, name)
);
CREATE TABLE sources (
    network name!, position NUMERIC, name name!, kind name!, stream name!, description text!, manual text!,
    PRIMARY KEY (network, name)
);
CREATE TABLE source_parameters (
    network name!, source name!, position NUMERIC,
    name name! CHECK (name NOT IN ('kind', 'into', 'description', 'tags', 'manual')),
    value, PRIMARY KEY (network, source, name)
);
CREATE TABLE sinks (
    network name!, position NUMERIC, name name!, kind name!, output name!, description text!, manual text!,
    PRIMARY KEY (network, name)
);
CREATE TABLE sink_parameters (
    network name!, sink name!, position NUMERIC,
    name name! CHECK (name NOT IN ('kind', 'from', 'description', 'tags', 'manual')),
    value, PRIMARY KEY (network, sink, name)
);
CREATE TABLE tags (
    network name!,
    section TEXT NOT NULL
        CHECK (section IN
            ('network', 'streams', 'boxes', 'outputs', 'superboxes', 'connection_points', 'sources', 'sinks')),
    element name!, position NUMERIC, tag name!
);
CREATE INDEX tags_of_element ON tags (network, section, element);
CREATE INDEX tags_by_tag ON tags (tag);
""")

DERIVED = _expanded("""
CREATE TABLE carried_columns (
    network name!, section name!, element name!, port name!, position INTEGER NOT NULL, name name!, type name!,
    PRIMARY KEY (network, section, element, port, name)
);
CREATE INDEX carried_columns_by_name ON carried_columns (name);
""")

BESIDE = _expanded("""
CREATE TABLE layout (
    network name!, section name!, element name!, x real!, y real!,
    PRIMARY KEY (network, section, element)
);
CREATE TABLE bookmarks (
    network name!, name name!, x real! DEFAULT 0, y real! DEFAULT 0, zoom real! DEFAULT 1,
    note text!, author text!, at_us time!, PRIMARY KEY (network, name)
);
CREATE TABLE series (
    id INTEGER PRIMARY KEY, network name!, what name!, element text!, metric name!,
    UNIQUE (network, what, element, metric)
);
CREATE TABLE samples (
    series INTEGER NOT NULL REFERENCES series (id), at_us INTEGER NOT NULL, value real!,
    PRIMARY KEY (series, at_us)
) WITHOUT ROWID;
CREATE VIEW statistics AS
    SELECT network, what, element, metric, at_us, value FROM series JOIN samples ON samples.series = series.id;
""")

SCOPES = _expanded("ALTER TABLE bookmarks ADD COLUMN scope text!;")
