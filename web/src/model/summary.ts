// What an element does, in one line, from the parameters that its author gave.

import { asList, type Box, type ConnectionPoint, type Json, type Stream } from "./document";

const NOT_SAID = new Set(["kind", "in", "description", "tags", "manual"]);

/** The parameter that says most: a predicate, the computed columns, a window. */
export function summarise(box: Box): string {
  const parts: string[] = [];
  const told = box.where ?? box.on;
  if (told) parts.push(plain(told));
  if (isRecord(box.routes)) parts.push(pairs(box.routes, ": "));
  if (isRecord(box.window)) parts.push(windowOf(box.window));
  for (const key of ["every", "within", "rate"]) if (box[key] != null) parts.push(`${key} ${plain(box[key])}`);
  const code = box.class ?? box.function;
  if (code) parts.push(plain(code));
  if (given(box.columns)) parts.push(`by ${plain(box.columns)}`);
  const computed = { ...record(box.compute), ...record(box.extend) };
  if (given(computed)) parts.push(pairs(computed, " = "));
  if (isRecord(box.rename)) parts.push(pairs(box.rename, " → "));
  if (given(box.drop)) parts.push(`without ${plain(box.drop)}`);
  if (given(box.group_by)) parts.push(`by ${plain(box.group_by)}`);
  if (given(box.order_by)) parts.push(`order ${plain(box.order_by)}`);
  if (box.slack != null) parts.push(`slack ${plain(box.slack)}`);
  if (parts.length === 0) {
    for (const [key, value] of Object.entries(box)) {
      if (!NOT_SAID.has(key) && given(value)) parts.push(`${key} ${plain(value)}`);
    }
  }
  return parts.filter(Boolean).join(" · ");
}

export function columnsOf(element: Stream | ConnectionPoint): string {
  return Object.keys(record(element.schema)).join(", ");
}

function windowOf(window: Record<string, Json>): string {
  const advance = window.advance == null ? "" : ` / ${plain(window.advance)}`;
  const timeout = window.timeout == null ? "" : `, timeout ${plain(window.timeout)}`;
  return `${plain(window.size)}${advance}${timeout}`;
}

function pairs(of: Record<string, Json>, between: string): string {
  return Object.entries(of)
    .map(([key, value]) => `${key}${between}${plain(value)}`)
    .join(", ");
}

function plain(value: Json | undefined): string {
  if (Array.isArray(value)) return asList(value as string[]).join(", ");
  if (isRecord(value)) return pairs(value, " ");
  return value === undefined || value === null ? "" : String(value).replace(/\s+/g, " ").trim();
}

function given(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "" || value === false) return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

function isRecord(value: Json | undefined): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}

function record(value: unknown): Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, Json>) : {};
}
