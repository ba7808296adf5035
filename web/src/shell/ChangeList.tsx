// Changes of a document as people read them: which element, and each parameter before and after.

import { type Change, type ParameterChange, shown } from "../model/diff";
import { splitId } from "../model/document";
import { WORDS } from "./words";
import "./ChangeList.css";

const SIGNS: Record<Change["kind"], string> = { added: "+", removed: "−", renamed: "↪", changed: "~" };

export function ChangeList({ changes }: { changes: readonly Change[] }) {
  return (
    <ul className="changes">
      {changes.map((change) => (
        <li className={`change-${change.kind}`} key={`${change.kind} ${change.id ?? ""}`}>
          <div className="change-head">
            <span aria-hidden="true" className="change-sign">
              {SIGNS[change.kind]}
            </span>
            <span className="visually-hidden">{change.kind}</span>
            <strong>{nameOf(change)}</strong>
            {change.was && <span className="muted">was {change.was}</span>}
            <span className="muted">{kindOf(change)}</span>
          </div>
          {change.parameters.length > 0 && (
            <dl className="change-parameters">
              {change.parameters.filter(({ path }) => path !== "kind").map((parameter) => (
                <Parameter key={parameter.path} {...parameter} />
              ))}
            </dl>
          )}
        </li>
      ))}
    </ul>
  );
}

function Parameter({ path, before, after }: ParameterChange) {
  return (
    <div className="change-parameter">
      <dt>{path}</dt>
      <dd>
        {before !== undefined && <del>{shown(before)}</del>}
        {before !== undefined && after !== undefined && <span className="change-arrow"> → </span>}
        {after !== undefined && <ins>{shown(after)}</ins>}
      </dd>
    </div>
  );
}

function nameOf({ id }: Change): string {
  return id === null ? "The network itself" : splitId(id)[1];
}

function kindOf({ id, parameters }: Change): string {
  if (id === null) return "";
  const kind = parameters.find(({ path, before }) => path === "kind" && before === undefined)?.after;
  return typeof kind === "string" ? `${kind} ${WORDS[splitId(id)[0]]}` : WORDS[splitId(id)[0]];
}
