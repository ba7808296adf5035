// The dialog that is open, if one is.

import type { ComponentType } from "react";
import type { DialogName } from "../state/page";
import { useStore } from "../state/store";
import { RemoveDialog, StopDialog } from "./ConfirmDialogs";
import { DeployDialog } from "./DeployDialog";
import { HelpDialog } from "./HelpDialog";
import { ImportDialog } from "./ImportDialog";
import { NewDialog } from "./NewDialog";
import { SearchDialog } from "./SearchDialog";

const DIALOGS: Record<DialogName, ComponentType<{ onClose: () => void }>> = {
  new: NewDialog,
  import: ImportDialog,
  deploy: DeployDialog,
  stop: StopDialog,
  remove: RemoveDialog,
  search: SearchDialog,
  help: HelpDialog,
};

export function Dialogs() {
  const dialog = useStore((state) => state.dialog);
  const { showDialog } = useStore.getState();
  if (dialog === null) return null;
  const Shown = DIALOGS[dialog];
  return <Shown onClose={() => showDialog(null)} />;
}
