// The tuples of one arc as they come: shown, filtered, plotted and exported.

import { useMemo, useState } from "react";
import { isPlottable, parseFilter, type Row, toCsv, toJsonLines } from "../model/tuples";
import { download } from "../shell/exporting";
import { Icon } from "../shell/Icon";
import { Menu } from "../shell/Menu";
import { useStore } from "../state/store";
import { TapPlot } from "./TapPlot";
import { clear, hold, useTapped } from "./tapping";
import { TupleTable } from "./TupleTable";

export function TapView({ arc }: { arc: string }) {
  const { columns, rows, state, reason, isHeld } = useTapped(arc);
  const [text, setText] = useState("");
  const [isNewestFirst, setNewestFirst] = useState(true);
  const [plotted, setPlotted] = useState("");
  const { draftInject, untap } = useStore.getState();
  const found = useMemo(() => {
    if (columns === null || text.trim() === "") return rows;
    const fits = parseFilter(text, columns);
    return rows.filter((row) => fits(row.tuple));
  }, [rows, text, columns]);

  if (columns === null) {
    return <p className="empty">{state === "lost" ? `${reason || "The connection is lost"}; trying again…` : "Waiting for the arrow…"}</p>;
  }
  const names = Object.keys(columns);
  const plottable = names.filter((name) => isPlottable(columns[name] ?? ""));
  const save = (kind: "csv" | "jsonl") => {
    const content = kind === "csv" ? toCsv(found, names) : toJsonLines(found);
    download(content, `${arc}.${kind}`, kind === "csv" ? "text/csv" : "application/x-ndjson");
  };
  const use = (row: Row) => draftInject({ arc, tuple: row.tuple });
  const order = isNewestFirst ? "Newest first" : "Newest last";

  return (
    <div className="tap">
      <div aria-label={`Tuples of ${arc}`} className="tap-tools" role="toolbar">
        <button
          aria-label="Let the table stand still"
          aria-pressed={isHeld}
          className="quiet"
          onClick={() => hold(arc, !isHeld)}
          title={isHeld ? "Show what comes again" : "Let the table stand still"}
          type="button"
        >
          <Icon name={isHeld ? "play" : "pause"} />
        </button>
        <button aria-label={order} className="quiet" onClick={() => setNewestFirst(!isNewestFirst)} title={order} type="button">
          <Icon name={isNewestFirst ? "up" : "down"} />
        </button>
        <input
          aria-label={`Filter tuples of ${arc}`}
          className="tap-filter"
          onChange={(event) => setText(event.target.value)}
          placeholder={`Words, or ${plottable[0] ?? names[0] ?? "x"} > …`}
          type="search"
          value={text}
        />
        {text.trim() !== "" && (
          <span className="tap-found">
            {found.length.toLocaleString()} of {rows.length.toLocaleString()}
          </span>
        )}
        <select
          aria-label="Plot a column"
          className="tap-plotted"
          disabled={plottable.length === 0}
          onChange={(event) => setPlotted(event.target.value)}
          value={plotted}
        >
          <option value="">No plot</option>
          {plottable.map((name) => (
            <option key={name} value={name}>
              Plot {name}
            </option>
          ))}
        </select>
        <Menu
          align="right"
          groups={[
            {
              items: [
                { label: "CSV", disabled: found.length === 0, act: () => save("csv") },
                { label: "Lines of JSON", disabled: found.length === 0, act: () => save("jsonl") },
              ],
            },
          ]}
          label="Download what is shown"
          title="Download what is shown"
        >
          <Icon name="into" />
        </Menu>
        <button aria-label="Clear the table" className="quiet" disabled={rows.length === 0} onClick={() => clear(arc)} title="Clear the table" type="button">
          <Icon name="bin" />
        </button>
        <button aria-label={`Stop looking at ${arc}`} className="quiet" onClick={() => untap(arc)} title="Stop looking" type="button">
          <Icon name="close" />
        </button>
      </div>
      {plotted !== "" && plotted in columns && <TapPlot arc={arc} column={plotted} columns={columns} rows={found} />}
      {rows.length === 0 ? (
        <p className="empty">Tuples show up here as they are put on {arc}.</p>
      ) : (
        <TupleTable columns={columns} isNewestFirst={isNewestFirst} label={`Tuples on ${arc}`} onUse={use} rows={found} />
      )}
    </div>
  );
}

/** How many tuples came over an arc since it was tapped. */
export function TapCount({ arc }: { arc: string }) {
  const { count, dropped, state, reason } = useTapped(arc);
  return (
    <span className="tap-count">
      {state === "open" ? `${count.toLocaleString()} ${count === 1 ? "tuple" : "tuples"}` : <span className="warn">{reason || "connecting"}…</span>}
      {dropped > 0 && (
        <span className="warn" title="They came faster than anybody can read. The network got all of them.">
          {` · ${dropped.toLocaleString()} not shown`}
        </span>
      )}
    </span>
  );
}
