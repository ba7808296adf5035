// What is asked before something ends.

import { useState } from "react";
import { useStore } from "../state/store";
import { Dialog } from "./Dialog";

interface ConfirmProps {
  title: string;
  text: string;
  verb: string;
  act: () => Promise<void>;
  done: string;
  onClose: () => void;
}

function Confirm({ title, text, verb, act, done, onClose }: ConfirmProps) {
  const { say } = useStore.getState();
  const [isBusy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    try {
      await act();
      say("good", done);
    } catch (error) {
      say("bad", (error as Error).message);
    }
    onClose();
  };
  return (
    <Dialog
      footer={
        <>
          <button data-first onClick={onClose} type="button">
            Cancel
          </button>
          <button className="danger" disabled={isBusy} type="submit">
            {isBusy ? `${verb} …` : verb}
          </button>
        </>
      }
      onClose={onClose}
      onSubmit={() => void go()}
      title={title}
    >
      <p>{text}</p>
    </Dialog>
  );
}

export function StopDialog({ onClose }: { onClose: () => void }) {
  const [name] = useState(() => useStore.getState().network ?? "");
  const { act } = useStore.getState();
  return (
    <Confirm
      act={() => act("stop")}
      done={`${name} is stopped`}
      onClose={onClose}
      text="It takes what is enqueued first. Open windows are kept only if the server has a state folder."
      title={`Stop ${name}?`}
      verb="Stop"
    />
  );
}

export function RemoveDialog({ onClose }: { onClose: () => void }) {
  const [name] = useState(() => useStore.getState().network ?? "");
  const { remove } = useStore.getState();
  return (
    <Confirm
      act={remove}
      done={`${name} is removed. The drawing is still here.`}
      onClose={onClose}
      text="The server takes what is enqueued, stops the network and hosts it no more. The drawing stays in this browser."
      title={`Remove ${name} from the server?`}
      verb="Remove"
    />
  );
}
