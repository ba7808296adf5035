// Several elements at once: what they have in common, and what can be done with all of them.

import { duplicate } from "../canvas/copying";
import { groupSelection } from "../canvas/grouping";
import { removeSelection } from "../canvas/removing";
import { type Described, type ElementId, splitId } from "../model/document";
import { change, element } from "../model/edits";
import { kindOf } from "../model/forms";
import { Icon } from "../shell/Icon";
import { useStore } from "../state/store";
import { WordsControl } from "./fields/basic";
import { Sign } from "./Sign";

export function SeveralForm({ ids }: { ids: readonly ElementId[] }) {
  const document = useStore((state) => state.drawing.document);
  const palette = useStore((state) => state.palette);
  const { edit, select } = useStore.getState();
  const tags = ids.map((id) => new Set((element(document, id) as Described | undefined)?.tags ?? []));
  const common = [...(tags[0] ?? [])].filter((tag) => tags.every((own) => own.has(tag)));
  const retag = (after: readonly string[]) => {
    const fresh = after.filter((tag) => !common.includes(tag));
    const gone = common.filter((tag) => !after.includes(tag));
    edit(`Change tags of ${ids.length} elements`, (drawing) =>
      ids.reduce(
        (made, id) =>
          change(made, id, (before) => {
            const { tags: own = [], ...rest } = before as Described;
            const kept = [...own.filter((tag) => !gone.includes(tag)), ...fresh.filter((tag) => !own.includes(tag))];
            return (kept.length === 0 ? rest : { ...before, tags: kept }) as never;
          }),
        drawing,
      ),
    );
  };
  return (
    <div className="form">
      <header className="panel-head">
        <h2 className="panel-title">{ids.length} elements</h2>
      </header>
      <ul className="panel-list">
        {ids.map((id) => {
          const kind = kindOf(palette, document, id);
          return (
            <li key={id}>
              <button className="quiet panel-one" onClick={() => select([id])} type="button">
                <Sign family={kind?.family ?? "other"} />
                <span className="grow">{splitId(id)[1]}</span>
                <span className="muted">{kind?.title}</span>
              </button>
            </li>
          );
        })}
      </ul>
      <div className="field">
        <div className="field-head">
          <label className="field-label" htmlFor="several-tags">
            Tags that all of them have
          </label>
        </div>
        <WordsControl
          ids={{ id: "several-tags", "aria-describedby": undefined, "aria-invalid": undefined }}
          label="Tags that all of them have"
          onChange={(after) => retag(after as string[])}
          value={common}
        />
      </div>
      <div className="row panel-actions">
        <button onClick={groupSelection} type="button">
          <Sign family="superbox" /> Group
        </button>
        <button onClick={duplicate} type="button">
          <Icon name="copy" /> Duplicate
        </button>
        <button className="danger" onClick={removeSelection} type="button">
          <Icon name="bin" /> Delete
        </button>
      </div>
    </div>
  );
}
