// The drawing.

import { ReactFlowProvider } from "@xyflow/react";
import { useState } from "react";
import { elements } from "../model/edits";
import type { GraphNode } from "../model/graph";
import { SECTIONS } from "../model/document";
import { useStore } from "../state/store";
import { AddDialog, type Adding } from "./AddDialog";
import { addBookmark, suggestedBookmark, useBookmarking } from "./bookmarking";
import { ConnectDialog } from "./ConnectDialog";
import { Drawing } from "./Drawing";
import { groupAs, suggestedName, useGrouping } from "./grouping";
import { IntoDialog } from "./IntoDialog";
import { checkElementName, NameDialog } from "./NameDialog";
import "@xyflow/react/dist/base.css";
import "./canvas.css";

/** What is asked of people while they draw. */
export type Asking =
  | { what: "connect"; from: GraphNode }
  | ({ what: "add" } & Adding)
  | { what: "into" }
  | null;

export function Canvas() {
  const [asking, setAsking] = useState<Asking>(null);
  const announced = useStore((state) => state.announced);
  const close = () => setAsking(null);
  return (
    <section aria-label="Drawing" className="canvas">
      <ReactFlowProvider>
        <Drawing onAsk={setAsking} />
      </ReactFlowProvider>
      {asking?.what === "connect" && <ConnectDialog from={asking.from} onClose={close} />}
      {asking?.what === "add" && <AddDialog {...asking} onClose={close} />}
      {asking?.what === "into" && <IntoDialog onClose={close} />}
      <GroupDialog />
      <BookmarkDialog />
      <div aria-live="polite" className="visually-hidden" role="status">
        {announced}
      </div>
    </section>
  );
}

function GroupDialog() {
  const members = useGrouping((state) => state.members);
  if (!members) return null;
  const close = () => useGrouping.setState({ members: null });
  const { document } = useStore.getState().drawing;
  const isTaken = (name: string) => SECTIONS.some((section) => name in elements(document, section));
  return (
    <NameDialog
      check={(name) => checkElementName(name, isTaken)}
      label={`Name of the superbox for ${members.length === 1 ? "1 element" : `${members.length} elements`}`}
      onClose={close}
      onName={(name) => {
        close();
        groupAs(members, name);
      }}
      suggested={suggestedName()}
      title="Group into a superbox"
      verb="Group"
    />
  );
}

function BookmarkDialog() {
  const isNaming = useBookmarking((state) => state.isNaming);
  if (!isNaming) return null;
  const close = () => useBookmarking.setState({ isNaming: false });
  return (
    <NameDialog
      check={(name) => (name === "" ? "Give it a name." : name.includes("/") ? "A name has no slash." : "")}
      label="Name of this view"
      onClose={close}
      onName={(name) => {
        close();
        void addBookmark(name);
      }}
      suggested={suggestedBookmark()}
      title="Add a bookmark"
      verb="Add"
    />
  );
}
