// Where one is: the network, and the superboxes that one has gone into.

import { useStore } from "../state/store";
import { leaveTo } from "./travelling";

export function Breadcrumb() {
  const network = useStore((state) => state.drawing.document.network);
  const scope = useStore((state) => state.scope);
  if (scope.length === 0) return null;
  const all = [network, ...scope];
  return (
    <nav aria-label="Superboxes" className="breadcrumb">
      <ol>
        {all.map((name, depth) => (
          <li key={`${depth} ${name}`}>
            {depth === scope.length ? (
              <span aria-current="page">{name}</span>
            ) : (
              <button className="quiet" onClick={() => leaveTo(depth)} title={`Go out to ${name}`} type="button">
                {name}
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
