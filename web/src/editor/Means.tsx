// What a parameter means: a line of Markdown, whose links lead to the manual page of the kind.

import { Fragment, type ReactNode } from "react";
import { useStore } from "../state/store";
import { type Inline, inline, pageOf } from "./markdown";
import { useKind } from "./useKind";

export function Means({ text }: { text: string }) {
  const page = useKind()?.manual ?? "reference/document.md";
  const { openManual } = useStore.getState();
  const show = (parts: readonly Inline[]): ReactNode =>
    parts.map((part, at) => {
      if (part.kind === "code") return <code key={at}>{part.text}</code>;
      if (part.kind === "link") {
        const to = pageOf(part.to, page.split("#")[0] ?? page);
        if (!to) return <Fragment key={at}>{show(part.inside)}</Fragment>;
        return (
          <a
            href="#manual"
            key={at}
            onClick={(event) => {
              event.preventDefault();
              openManual(to.heading ? `${to.name}#${to.heading}` : to.name);
            }}
          >
            {show(part.inside)}
          </a>
        );
      }
      if (part.kind === "break") return <br key={at} />;
      return <Fragment key={at}>{"inside" in part ? show(part.inside) : part.text}</Fragment>;
    });
  return <>{show(inline(text))}</>;
}
