// Plain data that somebody brings, as a document that can be drawn.

import { type Json, type NetworkDocument, SECTIONS } from "./document";

type Mapping = Record<string, Json>;

/** Everything that may be wrong with a network stays, for the check to find; what has another shape cannot be drawn. */
export function asDocument(plain: unknown): NetworkDocument {
  if (!isMapping(plain)) throw new Error("This is no network document: it is not a mapping.");
  const { network } = plain;
  const document: Mapping = { ...plain, aurora: plain.aurora ?? 1, network: typeof network === "string" ? network : "untitled" };
  for (const section of SECTIONS) {
    const found = plain[section];
    if (found === undefined) continue;
    if (found === null) delete document[section];
    else document[section] = elements(section, found);
  }
  return document as unknown as NetworkDocument;
}

function elements(section: string, found: Json): Mapping {
  if (!isMapping(found)) throw new Error(`This is no network document: ${section} is not a mapping of names.`);
  return Object.fromEntries(
    Object.entries(found).map(([name, element]) => {
      const made = element ?? {};
      if (!isMapping(made)) throw new Error(`This is no network document: ${name} in ${section} is not a mapping.`);
      if (section === "boxes") return [name, { ...made, kind: String(made.kind ?? ""), in: names(made.in) }];
      if (section === "outputs") return [name, { ...made, from: typeof made.from === "string" ? made.from : "" }];
      if (section === "superboxes") return [name, { ...made, boxes: names(made.boxes) }];
      if (section === "streams") return [name, { ...made, schema: isMapping(made.schema) ? made.schema : {} }];
      return [name, made];
    }),
  );
}

function names(value: Json | undefined): string | string[] {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
