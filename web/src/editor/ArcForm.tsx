// An arc: what it carries, who puts tuples on it, and who reads it.

import { asList, type ElementId, elementId, type NetworkDocument, producerOf } from "../model/document";
import { columnsOf } from "../model/forms";
import { reveal } from "../shell/reveal";
import { useStore } from "../state/store";
import { Sign } from "./Sign";

export function ArcForm({ arc }: { arc: string }) {
  const document = useStore((state) => state.drawing.document);
  const arcs = useStore((state) => state.checked?.arcs);
  const columns = columnsOf(arcs ?? {}, arc);
  const producer = producerIn(document, producerOf(arc));
  const readers = readersOf(document, arc);
  return (
    <div className="form">
      <header className="panel-head">
        <div className="panel-kind">
          <Sign family="map" />
          <span>Arc</span>
        </div>
        <h2 className="panel-title">{arc}</h2>
      </header>
      <section aria-label="Columns">
        {columns ? (
          <table className="panel-columns">
            <thead>
              <tr>
                <th scope="col">Column</th>
                <th scope="col">Type</th>
              </tr>
            </thead>
            <tbody>
              {Object.entries(columns).map(([name, type]) => (
                <tr key={name}>
                  <td className="mono">{name}</td>
                  <td className="muted">{type}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <p className="muted">Its columns are not known until what is in front of it is right.</p>
        )}
      </section>
      <section aria-label="Ends" className="panel-ends">
        {producer && <End ids={[producer]} label="From" />}
        <End ids={readers} label="To" />
      </section>
    </div>
  );
}

function End({ label, ids }: { label: string; ids: readonly ElementId[] }) {
  return (
    <div className="panel-end">
      <h3>{label}</h3>
      {ids.length === 0 && <span className="muted">nothing</span>}
      {ids.map((id) => (
        <button className="quiet panel-link" key={id} onClick={() => reveal(id)} type="button">
          {id.slice(id.indexOf("/") + 1)}
        </button>
      ))}
    </div>
  );
}

function producerIn(document: NetworkDocument, name: string): ElementId | null {
  for (const section of ["streams", "boxes", "connection_points"] as const) {
    if (name in (document[section] ?? {})) return elementId(section, name);
  }
  return null;
}

function readersOf(document: NetworkDocument, arc: string): ElementId[] {
  const bare = arc.endsWith(".out") ? arc.slice(0, -4) : arc;
  const reads = (given: string | string[] | undefined) => asList(given).some((one) => one === arc || one === bare || one === `${bare}.out`);
  return [
    ...Object.entries(document.boxes ?? {}).flatMap(([name, box]) => (reads(box.in) ? [elementId("boxes", name)] : [])),
    ...Object.entries(document.outputs ?? {}).flatMap(([name, output]) => (reads(output.from) ? [elementId("outputs", name)] : [])),
    ...Object.entries(document.connection_points ?? {}).flatMap(([name, point]) => (reads(point.on) ? [elementId("connection_points", name)] : [])),
  ];
}
