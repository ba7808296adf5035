// The manual: the page of what is selected, or one that was looked for.

import { useEffect, useMemo, useRef, useState } from "react";
import { type Described, type ElementId, splitId } from "../model/document";
import { change, element } from "../model/edits";
import { Icon } from "../shell/Icon";
import { useStore } from "../state/store";
import { Markdown } from "./Markdown";
import { type ManualPage, pageOf, searchPages } from "./markdown";
import { ManualText } from "./ManualText";
import { useKind } from "./useKind";
import "./manual.css";
import "./panels.css";

const FOLDERS: Record<string, string> = { reference: "Reference", "how-to": "How to", boxes: "Boxes" };

export function ManualPanel() {
  const manual = useStore((state) => state.manual);
  const opened = useStore((state) => state.manualPage);
  const selection = useStore((state) => state.selection);
  const connection = useStore((state) => state.connection);
  const kind = useKind();
  const { loadManual, openManual } = useStore.getState();
  const [asked, setAsked] = useState("");
  useEffect(() => {
    // Asked again when the server is back; that it does not answer is said elsewhere.
    if (manual === null && connection === "live") loadManual().catch(() => undefined);
  }, [manual, connection, loadManual]);
  const hits = useMemo(() => searchPages(manual ?? [], asked), [manual, asked]);
  const address = opened ?? kind?.manual ?? null;
  const [name = "", heading = ""] = address?.split("#") ?? [];
  const page = manual?.find((one) => one.name === name);
  const only = selection.length === 1 ? selection[0] : undefined;
  const open = (to: string | null) => {
    setAsked("");
    openManual(to);
  };
  return (
    <div className="panel manual">
      <div className="manual-search" role="search">
        <Icon name="search" />
        <input
          aria-label="Search the manual"
          onChange={(event) => setAsked(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") setAsked("");
            else if (event.key === "Enter" && hits[0]) open(hits[0].page.name);
          }}
          placeholder="Search the manual"
          type="search"
          value={asked}
        />
      </div>
      {asked.trim() !== "" ? (
        <ul aria-label="Pages found" className="manual-hits">
          {hits.map((hit) => (
            <li key={hit.page.name}>
              <button className="quiet manual-hit" onClick={() => open(hit.page.name)} type="button">
                <span className="manual-hit-title">
                  {hit.page.title}
                  <span className="muted"> {folderOf(hit.page)}</span>
                </span>
                <span className="muted manual-excerpt">
                  {hit.heading && `${hit.heading}: `}
                  {hit.excerpt}
                </span>
              </button>
            </li>
          ))}
          {hits.length === 0 && <p className="muted">No page has these words.</p>}
        </ul>
      ) : (
        <>
          {address !== null && (
            <nav aria-label="Manual" className="manual-path">
              <button className="quiet" onClick={() => open("")} type="button">
                All pages
              </button>
              {page && <span className="muted">{folderOf(page)}</span>}
              {opened !== null && kind && opened !== kind.manual && (
                <>
                  <span className="grow" />
                  <button className="quiet" onClick={() => open(null)} type="button">
                    {kind.title}
                  </button>
                </>
              )}
            </nav>
          )}
          {only && opened === null && <OwnManual id={only} key={only} />}
          {page ? <Page heading={heading} manual={manual ?? []} open={open} page={page} /> : <Contents manual={manual ?? []} open={open} />}
        </>
      )}
    </div>
  );
}

/** What people wrote about this one element. */
function OwnManual({ id }: { id: ElementId }) {
  const document = useStore((state) => state.drawing.document);
  const { edit } = useStore.getState();
  const found = element(document, id) as Described | undefined;
  const [, name] = splitId(id);
  if (!found) return null;
  const set = (text: string, merge: string) =>
    edit(
      `Change manual of ${name}`,
      (drawing) =>
        change(drawing, id, (before) => {
          const { manual: _, ...rest } = before as Described;
          return (text === "" ? rest : { ...before, manual: text }) as never;
        }),
      merge,
    );
  return <ManualText label={`Manual of ${name}`} onChange={set} value={found.manual ?? ""} />;
}

interface PageProps {
  page: ManualPage;
  heading: string;
  manual: readonly ManualPage[];
  open: (page: string) => void;
}

function Page({ page, heading, manual, open }: PageProps) {
  const root = useRef<HTMLElement>(null);
  useEffect(() => {
    const target = heading ? root.current?.querySelector<HTMLElement>(`[data-slug="${CSS.escape(heading)}"]`) : null;
    if (target) {
      target.scrollIntoView({ block: "start" });
      target.focus({ preventScroll: true });
    } else root.current?.closest(".side-body")?.scrollTo(0, 0);
  }, [page, heading]);
  const lead = (link: string) => {
    const to = pageOf(link, page.name);
    return to && manual.some((one) => one.name === to.name) ? to : null;
  };
  return (
    <article aria-label={page.title} className="manual-page" ref={root}>
      <Markdown
        follow={(link) => {
          const to = lead(link);
          if (to) open(to.heading ? `${to.name}#${to.heading}` : to.name);
        }}
        leads={(link) => lead(link) !== null}
        text={page.text}
      />
    </article>
  );
}

/** All pages, by folder. */
function Contents({ manual, open }: { manual: readonly ManualPage[]; open: (page: string) => void }) {
  const folders = new Map<string, ManualPage[]>();
  for (const page of manual) folders.set(folderOf(page), [...(folders.get(folderOf(page)) ?? []), page]);
  return (
    <div className="manual-contents">
      {[...folders].map(([folder, pages]) => (
        <section key={folder}>
          {folder !== "" && <h3>{folder}</h3>}
          <ul>
            {pages.map((page) => (
              <li key={page.name}>
                <button className="quiet panel-link" onClick={() => open(page.name)} type="button">
                  {page.title}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function folderOf(page: ManualPage): string {
  const folder = page.name.split("/").at(-2);
  return folder === undefined ? "" : (FOLDERS[folder] ?? folder);
}
