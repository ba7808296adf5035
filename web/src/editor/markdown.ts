// Markdown to a tree: headings, paragraphs, lists, code, tables, quotes; emphasis, code, links. HTML is not understood, and shown as text.

export type Inline =
  | { kind: "text" | "code"; text: string }
  | { kind: "strong" | "em"; inside: Inline[] }
  | { kind: "link"; to: string; inside: Inline[] }
  | { kind: "break" };

export type Block =
  | { kind: "heading"; level: number; inside: Inline[]; slug: string }
  | { kind: "paragraph"; inside: Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "list"; ordered: boolean; items: Block[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "quote"; inside: Block[] }
  | { kind: "rule" };

const FENCE = /^(\s*)(```+|~~~+)\s*(\S*)/;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const ITEM = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/;
const RULE = /^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const DIVIDER = /^\s*\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*$/;
const DEEPEST = 8;

export function parseMarkdown(text: string): Block[] {
  const lines = text.replace(/\r\n?/g, "\n").replace(/<!--[\s\S]*?-->/g, "").split("\n");
  return blocks(lines, 0);
}

function blocks(lines: readonly string[], depth: number): Block[] {
  const found: Block[] = [];
  let at = 0;
  const line = (index: number) => lines[index] ?? "";
  while (at < lines.length) {
    const here = line(at);
    if (here.trim() === "") {
      at += 1;
      continue;
    }
    const fence = FENCE.exec(here);
    if (fence) {
      const [, indent = "", mark = "```", language = ""] = fence;
      const inside: string[] = [];
      for (at += 1; at < lines.length && !line(at).trim().startsWith(mark); at += 1) {
        inside.push(line(at).startsWith(indent) ? line(at).slice(indent.length) : line(at));
      }
      at += 1;
      found.push({ kind: "code", language, text: inside.join("\n") });
      continue;
    }
    const heading = HEADING.exec(here);
    if (heading) {
      const [, marks = "#", title = ""] = heading;
      found.push({ kind: "heading", level: marks.length, inside: inline(title), slug: slugOf(title) });
      at += 1;
      continue;
    }
    if (RULE.test(here) && !ITEM.test(here)) {
      found.push({ kind: "rule" });
      at += 1;
      continue;
    }
    if (here.includes("|") && DIVIDER.test(line(at + 1)) && line(at + 1).includes("-")) {
      const head = cells(here).map((cell) => inline(cell));
      const rows: Inline[][][] = [];
      for (at += 2; at < lines.length && line(at).includes("|") && line(at).trim() !== ""; at += 1) {
        rows.push(cells(line(at)).map((cell) => inline(cell)));
      }
      found.push({ kind: "table", head, rows });
      continue;
    }
    if (/^\s*>/.test(here) && depth < DEEPEST) {
      const inside: string[] = [];
      for (; at < lines.length && /^\s*>/.test(line(at)); at += 1) inside.push(line(at).replace(/^\s*> ?/, ""));
      found.push({ kind: "quote", inside: blocks(inside, depth + 1) });
      continue;
    }
    if (/^(?: {4}|\t)/.test(here)) {
      const inside: string[] = [];
      for (; at < lines.length && (/^(?: {4}|\t)/.test(line(at)) || line(at).trim() === ""); at += 1) {
        inside.push(line(at).replace(/^(?: {4}|\t)/, ""));
      }
      found.push({ kind: "code", language: "", text: inside.join("\n").trimEnd() });
      continue;
    }
    if (ITEM.test(here) && depth < DEEPEST) {
      const [list, next] = listAt(lines, at, depth);
      found.push(list);
      at = next;
      continue;
    }
    const inside: string[] = [];
    for (; at < lines.length && line(at).trim() !== "" && !(inside.length > 0 && startsBlock(lines, at)); at += 1) {
      inside.push(line(at).trim());
    }
    found.push({ kind: "paragraph", inside: inline(inside.join("\n")) });
  }
  return found;
}

function startsBlock(lines: readonly string[], at: number): boolean {
  const here = lines[at] ?? "";
  return FENCE.test(here) || HEADING.test(here) || ITEM.test(here) || /^\s*>/.test(here);
}

function listAt(lines: readonly string[], start: number, depth: number): [Block, number] {
  const first = ITEM.exec(lines[start] ?? "");
  const indent = first?.[1]?.length ?? 0;
  const ordered = /\d/.test(first?.[2] ?? "");
  const items: Block[][] = [];
  let at = start;
  while (at < lines.length) {
    const match = ITEM.exec(lines[at] ?? "");
    if (!match || (match[1]?.length ?? 0) !== indent || /\d/.test(match[2] ?? "") !== ordered) break;
    const width = (lines[at] ?? "").length - (match[3] ?? "").length;
    const inside = [match[3] ?? ""];
    for (at += 1; at < lines.length; at += 1) {
      const here = lines[at] ?? "";
      const isDeeper = /^\s*/.exec(here)?.[0].length ?? 0;
      if (here.trim() === "") {
        const next = lines[at + 1] ?? "";
        if (next.trim() === "" || (/^\s*/.exec(next)?.[0].length ?? 0) < indent + 2) break;
        inside.push("");
      } else if (isDeeper > indent || (!startsBlock(lines, at) && inside.at(-1) !== "")) {
        inside.push(here.slice(Math.min(isDeeper, width)));
      } else break;
    }
    items.push(blocks(inside, depth + 1));
    while (at < lines.length && (lines[at] ?? "").trim() === "" && ITEM.test(lines[at + 1] ?? "")) at += 1;
  }
  return [{ kind: "list", ordered, items }, at];
}

function cells(line: string): string[] {
  const inside = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inside.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

// Every part has a limit, so that no text takes long.
const INLINE =
  /(?<code>(?<!`)(?<ticks>`{1,3})(?!`)(?<inner>[^`](?:[\s\S]{0,999}?[^`])??)\k<ticks>(?!`))|(?<strong>\*\*(?=\S)[\s\S]{1,999}?\*\*|__(?=\S)[\s\S]{1,999}?__)|(?<em>\*(?=[^\s*])[^*]{1,999}?\*|(?<!\w)_(?=[^\s_])[^_]{1,999}?_(?!\w))|(?<image>!?)\[(?<label>(?:[^[\]]|\[[^[\]]{0,99}\]){0,299})\]\((?<to>[^()\s]{0,499}(?:\([^()\s]{0,99}\)[^()\s]{0,99})?)(?:\s+"[^"]{0,199}")?\)|<(?<auto>https?:\/\/[^>\s]+)>|(?<break><br\s*\/?>|(?: {2}|\\)\n)|\\(?<escaped>[!-/:-@[-`{-~])/g;

export function inline(text: string, depth = 0): Inline[] {
  const found: Inline[] = [];
  const say = (said: string) => {
    const last = found.at(-1);
    if (said === "") return;
    if (last?.kind === "text") last.text += said;
    else found.push({ kind: "text", text: said });
  };
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const groups = match.groups ?? {};
    const inside = (part: string) => (depth < DEEPEST ? inline(part, depth + 1) : [{ kind: "text" as const, text: part }]);
    say(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (groups.code !== undefined) found.push({ kind: "code", text: (groups.inner ?? "").replaceAll("\n", " ") });
    else if (groups.strong !== undefined) found.push({ kind: "strong", inside: inside(groups.strong.slice(2, -2)) });
    else if (groups.em !== undefined) found.push({ kind: "em", inside: inside(groups.em.slice(1, -1)) });
    else if (groups.label !== undefined) {
      const to = groups.image ? null : safeLink(groups.to ?? "");
      if (to === null) found.push(...inside(groups.label));
      else found.push({ kind: "link", to, inside: inside(groups.label) });
    } else if (groups.auto !== undefined) found.push({ kind: "link", to: groups.auto, inside: [{ kind: "text", text: groups.auto }] });
    else if (groups.break !== undefined) found.push({ kind: "break" });
    else if (groups.escaped !== undefined) say(groups.escaped);
  }
  say(text.slice(at));
  return found;
}

/** Where a link may lead: to the web, to another page, to a heading. Anything that could run is not followed. */
export function safeLink(to: string): string | null {
  if (/^(https?:\/\/|mailto:)/i.test(to) || to.startsWith("#")) return to;
  return /^(?!\/)[\w./-]+(#[\w-]*)?$/.test(to) ? to : null;
}

/** The name of a heading, as links write it. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[`*_~]|\[|\]\([^)]*\)/g, (found) => (found === "_" ? "_" : ""))
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s+/g, "-");
}

export function plainText(parts: readonly Inline[]): string {
  return parts
    .map((part) => {
      if (part.kind === "break") return " ";
      return "inside" in part ? plainText(part.inside) : part.text;
    })
    .join("");
}

/** The page that a link of a page means, as `reference/boxes/filter.md` and the heading there; null for what is no page. */
export function pageOf(link: string, from: string): { name: string; heading: string } | null {
  const [path = "", heading = ""] = link.split("#");
  if (path === "") return { name: from, heading };
  if (!path.endsWith(".md")) return null;
  const steps = from.split("/").slice(0, -1);
  for (const step of path.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== ".") steps.push(step);
  }
  return { name: steps.join("/"), heading };
}

export interface ManualPage {
  name: string;
  title: string;
  text: string;
}

export interface Hit {
  page: ManualPage;
  /** The heading under which the words stand, and a piece of the text around them. */
  heading: string;
  excerpt: string;
}

const EXCERPT = 90;
const MOST_HITS = 30;

/** Some whole words around a place, without their marks. */
function excerptAt(text: string, at: number): string {
  const line = text.lastIndexOf("\n", at) + 1;
  const start = at - line > EXCERPT / 2 ? text.lastIndexOf(" ", at - EXCERPT / 3) + 1 : line;
  const end = text.slice(start).search(/\n\n|\n[-|#`]/);
  const words = text
    .slice(start, end < 0 ? undefined : start + end)
    .slice(0, 2 * EXCERPT)
    .replace(/[#*`|]|\[|\]\([^)]*\)?|^\s*-\s/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return words.length <= EXCERPT ? words : `${words.slice(0, words.lastIndexOf(" ", EXCERPT))} …`;
}

/** The pages that have all words, those with one in the title first, and where. */
export function searchPages(pages: readonly ManualPage[], asked: string): Hit[] {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const hits = pages.flatMap((page) => {
    const title = page.title.toLowerCase();
    const text = page.text.toLowerCase();
    if (!words.every((word) => title.includes(word) || text.includes(word))) return [];
    const exact = title === words.join(" ") ? 3 : 0;
    const titled = words.filter((word) => title.includes(word)).length;
    const at = Math.max(0, text.indexOf(words[0] ?? "", page.text.indexOf("\n")));
    const before = page.text.slice(0, at);
    const heading = /^#{2,6}\s+(.*)$/m.exec(before.slice(Math.max(0, before.lastIndexOf("\n#"))))?.[1] ?? "";
    return [{ hit: { page, heading, excerpt: excerptAt(page.text, at) }, score: exact + titled }];
  });
  return hits
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST_HITS)
    .map(({ hit }) => hit);
}
