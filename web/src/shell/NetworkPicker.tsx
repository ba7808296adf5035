// Which network is open, and all that could be.

import { RefusedError } from "../api/client";
import { kept, keptNames } from "../state/kept";
import { useStore } from "../state/store";
import { Icon } from "./Icon";
import { Menu, type MenuGroup } from "./Menu";
import { Stage } from "./Stage";
import { mayChange } from "./may";

export function NetworkPicker() {
  const networks = useStore((state) => state.networks);
  const name = useStore((state) => (state.isOpen ? state.drawing.document.network : null));
  const network = useStore((state) => state.network);
  const may = useStore(mayChange);
  const { open, startNew, showDialog, say } = useStore.getState();
  if (name === null) return null;

  const hosted = new Set(networks.map((one) => one.name));
  const drawn = [...new Set([...keptNames(), ...(network === null ? [name] : [])])].filter((one) => !hosted.has(one));
  const groups: MenuGroup[] = [
    {
      heading: "On the server",
      items: networks.map((one) => ({
        label: one.name,
        detail: <Stage quiet stage={one.stage} />,
        checked: one.name === network,
        act: () => {
          open(one.name).catch((error: RefusedError) => say("bad", error.message));
        },
      })),
    },
    {
      heading: "Not deployed",
      items: drawn.map((one) => ({
        label: one,
        checked: network === null && one === name,
        act: () => {
          const found = kept(one);
          if (one !== name && found) startNew(one, found.drawing);
        },
      })),
    },
    {
      items: [
        { label: "New network…", icon: "plus", act: () => showDialog("new") },
        { label: "Import…", icon: "into", act: () => showDialog("import") },
      ],
    },
    {
      items: network === null ? [] : [
        {
          label: `Remove ${network}…`,
          icon: "bin",
          danger: true,
          disabled: !may,
          act: () => showDialog("remove"),
        },
      ],
    },
  ];
  return (
    <Menu className="quiet picker" groups={groups} label={`Network: ${name}`} title="Choose a network">
      <span className="picker-name">{name}</span>
      <Icon name="down" />
    </Menu>
  );
}
