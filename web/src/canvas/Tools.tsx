// The drawing's own tools: arranging, superboxes, bookmarks, and how it is looked at.

import { useStore as useFlowStore } from "@xyflow/react";
import { align, distribute, type Side } from "../model/arrange";
import type { ElementId } from "../model/document";
import { isMember, move } from "../model/edits";
import { Menu } from "../shell/Menu";
import { keyCaps, withKeys } from "../shell/shortcuts";
import { useStore } from "../state/store";
import { goToBookmark, removeBookmark, useBookmarking } from "./bookmarking";
import { fit, flow, motion, zoomBy } from "./flow";
import { groupSelection, ungroupSelection } from "./grouping";
import { ToolIcon, type ToolName } from "./icons";
import { standingNodes } from "./scene";
import { ZOOM_STEP } from "./keys";

interface ToolProps {
  icon: ToolName;
  label: string;
  keys?: string;
  pressed?: boolean;
  disabled?: boolean;
  act: () => void;
}

function Tool({ icon, label, keys, pressed, disabled = false, act }: ToolProps) {
  return (
    <button
      aria-label={label}
      aria-pressed={pressed}
      className="quiet tool"
      disabled={disabled}
      onClick={act}
      title={keys ? withKeys(label, keys) : label}
      type="button"
    >
      <ToolIcon name={icon} />
    </button>
  );
}

function arrange(label: string, moves: Record<string, { x: number; y: number }>): void {
  useStore.getState().edit(label, (drawing) => move(drawing, moves as Record<ElementId, { x: number; y: number }>));
}

const SIDES: readonly [Side, string][] = [
  ["left", "Align left"],
  ["centre", "Align centres"],
  ["right", "Align right"],
  ["top", "Align top"],
  ["middle", "Align middles"],
  ["bottom", "Align bottom"],
];

export function Tools({ onLayOut }: { onLayOut: () => void }) {
  const count = useStore((state) => state.selection.length);
  const canGroup = useStore((state) => state.selection.some(isMember));
  const canUngroup = useStore((state) => state.selection.some((id) => id.startsWith("superboxes/")));
  const isSnapping = useStore((state) => state.isSnapping);
  const hasMap = useStore((state) => state.hasMap);
  const { setSnapping, setMap } = useStore.getState();
  const selected = () => standingNodes(useStore.getState().selection);
  return (
    <div aria-label="Drawing" className="tools" role="toolbar">
      <Tool act={onLayOut} icon="layout" keys="L" label="Lay out" />
      <Menu
        align="right"
        className="quiet tool"
        groups={[
          {
            items: SIDES.map(([side, label]) => ({
              label,
              disabled: count < 2,
              act: () => arrange(label, align(selected(), side)),
            })),
          },
          {
            items: (
              [
                ["x", "Distribute across"],
                ["y", "Distribute down"],
              ] as const
            ).map(([axis, label]) => ({
              label,
              disabled: count < 3,
              act: () => arrange(label, distribute(selected(), axis)),
            })),
          },
          { items: [{ label: "Snap to grid", checked: isSnapping, act: () => setSnapping(!isSnapping) }] },
        ]}
        label="Arrange"
        title="Align and distribute"
      >
        <ToolIcon name="align" />
      </Menu>
      <Tool act={groupSelection} disabled={!canGroup} icon="group" keys="Mod+G" label="Group into a superbox" />
      <Tool act={ungroupSelection} disabled={!canUngroup} icon="ungroup" keys="Mod+Shift+G" label="Ungroup" />
      <Bookmarks />
      <Tool act={() => setMap(!hasMap)} icon="map" keys="M" label="Map" pressed={hasMap} />
    </div>
  );
}

function Bookmarks() {
  const bookmarks = useStore((state) => state.bookmarks);
  const add = { label: "Add bookmark…", detail: <kbd>B</kbd>, act: () => useBookmarking.setState({ isNaming: true }) };
  return (
    <Menu
      align="right"
      className="quiet tool"
      groups={[
        { items: [add] },
        {
          heading: "Go to",
          items: bookmarks.map((mark, at) => ({
            label: mark.name,
            detail: at < 9 ? <kbd>{keyCaps(`${at + 1}`)}</kbd> : mark.scope,
            act: () => void goToBookmark(mark),
          })),
        },
        {
          heading: "Remove",
          items: bookmarks.map((mark) => ({
            label: `Remove ${mark.name}`,
            icon: "bin" as const,
            danger: true,
            act: () => void removeBookmark(mark.name),
          })),
        },
      ]}
      label="Bookmarks"
      title="Bookmarks"
    >
      <ToolIcon name="bookmark" />
    </Menu>
  );
}

export function Zoom() {
  const zoom = useFlowStore((state) => Math.round(state.transform[2] * 100));
  return (
    <div aria-label="Zoom" className="tools zoom" role="toolbar">
      <Tool act={() => zoomBy(1 / ZOOM_STEP)} icon="minus" keys="-" label="Zoom out" />
      <button
        aria-label={`Zoom ${zoom} percent; show at 100 percent`}
        className="quiet tool zoom-share"
        onClick={() => void flow()?.zoomTo(1, { duration: motion() })}
        title={withKeys("100 %", "0")}
        type="button"
      >
        {zoom} %
      </button>
      <Tool act={() => zoomBy(ZOOM_STEP)} icon="plus" keys="+" label="Zoom in" />
      <Tool act={() => fit()} icon="fit" keys="F" label="Show all" />
    </div>
  );
}
