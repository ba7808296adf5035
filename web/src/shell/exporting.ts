// The drawing as YAML, for files and other programs.

import { api, RefusedError } from "../api/client";
import { useStore } from "../state/store";

export async function downloadYaml(): Promise<void> {
  await withYaml((text, name) => {
    download(text, `${name}.yaml`, "application/yaml");
    return `${name}.yaml was written`;
  });
}

export function download(text: string, file: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = file;
  link.click();
  URL.revokeObjectURL(url);
}

export async function copyYaml(): Promise<void> {
  await withYaml(async (text, name) => {
    await copy(text);
    return `${name} is on the clipboard, as YAML`;
  });
}

async function withYaml(use: (text: string, name: string) => string | Promise<string>): Promise<void> {
  const { drawing, say } = useStore.getState();
  try {
    say("good", await use((await api.format(drawing.document)).yaml, drawing.document.network));
  } catch (error) {
    say("bad", error instanceof RefusedError ? error.message : "The browser does not allow it");
  }
}

/** Browsers let pages without encryption use the clipboard only in the old way. */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("not allowed");
}
