// Documents that come from elsewhere: a file, or text that somebody pasted.

import { api } from "../api/client";
import { asDocument } from "../model/importing";
import { useStore } from "../state/store";

/** Draws a document. Where a network of its name runs, it becomes a change to that one, which can be undone. */
export async function importText(text: string): Promise<void> {
  const document = asDocument((await api.format(text)).document);
  const { networks, open, startNew, edit, say } = useStore.getState();
  const name = document.network;
  if (networks.some((one) => one.name === name)) {
    await open(name);
    edit(`Import ${name}`, ({ positions }) => ({ document, positions }));
    say("good", `${name} is drawn as in the document. Deploy it to have it run.`);
  } else {
    startNew(name, { document, positions: {} });
    say("good", `${name} is drawn. Deploy it to have it run.`);
  }
}

export async function readFiles(files: FileList): Promise<void> {
  const [file] = files;
  if (file) await importText(await file.text());
}
