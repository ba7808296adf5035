// Into which superbox what is selected goes, or out of all of them.

import { useMemo } from "react";
import { Sign } from "../editor/Sign";
import { elementId, splitId } from "../model/document";
import { isMember } from "../model/edits";
import { homeOf, scopesOf } from "../model/scopes";
import { useStore } from "../state/store";
import { putInto } from "./grouping";
import { Picker } from "./Picker";
import { targetsOfCommands } from "./selecting";

const TOP = "";

export function IntoDialog({ onClose }: { onClose: () => void }) {
  const members = useMemo(() => targetsOfCommands().filter(isMember), []);
  const document = useStore((state) => state.drawing.document);
  const scope = useStore((state) => state.scope);
  const choices = useMemo(() => {
    const own = new Set(members.filter((id) => id.startsWith("superboxes/")).map((id) => splitId(id)[1]));
    const others = [...scopesOf(document).superboxes.keys()].filter((name) => {
      const chain = [...homeOf(document, elementId("superboxes", name)), name];
      return name !== scope.at(-1) && !chain.some((one) => own.has(one));
    });
    const icon = <Sign family="superbox" />;
    return [
      ...(scope.length > 0 ? [{ key: TOP, label: document.network, detail: "out of all superboxes", icon }] : []),
      ...others.map((name) => ({
        key: name,
        label: name,
        detail: homeOf(document, elementId("superboxes", name)).join(" › "),
        icon,
      })),
    ];
  }, [document, members, scope]);
  const [only] = members;
  const what = only && members.length === 1 ? splitId(only)[1] : `${members.length} elements`;
  return (
    <Picker
      choices={members.length > 0 ? choices : []}
      onChoose={(key) => {
        onClose();
        putInto(members, key === TOP ? null : key);
      }}
      onClose={onClose}
      placeholder="Into which superbox?"
      title={`Move ${what} into`}
    />
  );
}
