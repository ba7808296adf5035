import { describe, expect, it } from "vitest";
import { inline, pageOf, parseMarkdown, plainText, safeLink, searchPages, slugOf } from "../src/editor/markdown";

describe("blocks", () => {
  it("headings have names to link to", () => {
    expect(parseMarkdown("<!-- made -->\n\n# The `filter` box\n\n## Order and lateness")).toMatchObject([
      { kind: "heading", level: 1, slug: "the-filter-box" },
      { kind: "heading", level: 2, slug: "order-and-lateness" },
    ]);
    expect(slugOf("Under overload!")).toBe("under-overload");
    expect(slugOf("connection_points")).toBe("connection_points");
  });

  it("paragraphs go on over lines and end before a list", () => {
    const [first, second] = parseMarkdown("one\ntwo\n- three");
    expect(first).toEqual({ kind: "paragraph", inside: [{ kind: "text", text: "one\ntwo" }] });
    expect(second).toMatchObject({ kind: "list", ordered: false });
  });

  it("code is kept as it is", () => {
    expect(parseMarkdown("```yaml\na: 1\n\n# no *heading*\n```")).toEqual([
      { kind: "code", language: "yaml", text: "a: 1\n\n# no *heading*" },
    ]);
    expect(parseMarkdown("    run(plan)")).toEqual([{ kind: "code", language: "", text: "run(plan)" }]);
    expect(parseMarkdown("```\nopen")).toEqual([{ kind: "code", language: "", text: "open" }]);
  });

  it("lists nest, and items go on", () => {
    const [list] = parseMarkdown("1. one\n   goes on\n   - inner\n2. two\n\nafter");
    expect(list).toMatchObject({ kind: "list", ordered: true });
    if (list?.kind !== "list") throw new Error();
    expect(list.items).toHaveLength(2);
    expect(list.items[0]?.map((block) => block.kind)).toEqual(["paragraph", "list"]);
  });

  it("tables have cells, with bars that are escaped", () => {
    const [table] = parseMarkdown("| a | b |\n| --- | --- |\n| `x \\| y` | 2<br>3 |");
    if (table?.kind !== "table") throw new Error();
    expect(table.head.map(plainText)).toEqual(["a", "b"]);
    expect(table.rows[0]).toEqual([
      [{ kind: "code", text: "x | y" }],
      [{ kind: "text", text: "2" }, { kind: "break" }, { kind: "text", text: "3" }],
    ]);
  });
});

describe("text", () => {
  it("has emphasis, code and links", () => {
    expect(inline("a *b* **c** `d` [e `f`](g.md#h)")).toEqual([
      { kind: "text", text: "a " },
      { kind: "em", inside: [{ kind: "text", text: "b" }] },
      { kind: "text", text: " " },
      { kind: "strong", inside: [{ kind: "text", text: "c" }] },
      { kind: "text", text: " " },
      { kind: "code", text: "d" },
      { kind: "text", text: " " },
      { kind: "link", to: "g.md#h", inside: [{ kind: "text", text: "e " }, { kind: "code", text: "f" }] },
    ]);
  });

  it("has names with underscores, and signs that are escaped", () => {
    expect(inline("group_by and order_by \\*")).toEqual([{ kind: "text", text: "group_by and order_by *" }]);
  });

  it("runs nothing: HTML is text, and links lead to pages only", () => {
    expect(inline("<img src=x onerror=alert(1)>")).toEqual([{ kind: "text", text: "<img src=x onerror=alert(1)>" }]);
    expect(inline("[x](javascript:alert(1))").some((part) => part.kind === "link")).toBe(false);
    expect(["javascript:a", "data:text/html,x", "//evil.example", "vbscript:x"].map(safeLink)).toEqual([null, null, null, null]);
    expect(["https://a.b/c", "#x", "../a/b.md#c"].map(safeLink)).toEqual(["https://a.b/c", "#x", "../a/b.md#c"]);
  });

  it("takes no time for hostile input", () => {
    const long = `${"*a ".repeat(5_000)}${"[".repeat(5_000)}${"`".repeat(5_000)}${"> ".repeat(5_000)}`;
    const start = performance.now();
    parseMarkdown(long);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

describe("pages", () => {
  it("are found from where a link stands", () => {
    expect(pageOf("group_by.md", "reference/boxes/filter.md")).toEqual({ name: "reference/boxes/group_by.md", heading: "" });
    expect(pageOf("../expressions.md#aggregates", "reference/boxes/filter.md")).toEqual({ name: "reference/expressions.md", heading: "aggregates" });
    expect(pageOf("#windows", "reference/boxes/tumble.md")).toEqual({ name: "reference/boxes/tumble.md", heading: "windows" });
    expect(pageOf("../../src/aurora/x.py", "how-to/a.md")).toBe(null);
  });

  it("are searched by all words, titles first", () => {
    const pages = [
      { name: "a.md", title: "Union", text: "# Union\n\nmerges\n\n## Ties\n\nafter a join, ties are settled" },
      { name: "b.md", title: "Join", text: "# Join\n\npairs of tuples" },
    ];
    expect(searchPages(pages, "join").map((hit) => hit.page.name)).toEqual(["b.md", "a.md"]);
    expect(searchPages(pages, "join")[1]).toMatchObject({ heading: "Ties" });
    expect(searchPages(pages, "join ties").map((hit) => hit.page.name)).toEqual(["a.md"]);
    expect(searchPages(pages, "  ")).toEqual([]);
  });
});
