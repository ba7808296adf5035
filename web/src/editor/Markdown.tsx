// Markdown as elements of the page. Nothing in it is taken as HTML.

import { Fragment, type ReactNode, useMemo } from "react";
import { type Block, type Inline, parseMarkdown } from "./markdown";
import "./markdown.css";

interface Props {
  text: string;
  /** Called for links to other pages and headings; those to the web open by themselves. */
  follow?: (link: string) => void;
  /** Whether a link leads to a page that is there; others are shown as words. */
  leads?: (link: string) => boolean;
  /** How far headings are pushed down, so that they fit the page around them. */
  below?: number;
}

export function Markdown({ text, follow, leads, below = 1 }: Props) {
  const parsed = useMemo(() => parseMarkdown(text), [text]);
  const shown = { follow, leads, below };
  return <div className="markdown">{parsed.map((block, at) => <Fragment key={at}>{renderBlock(block, shown)}</Fragment>)}</div>;
}

type Shown = Pick<Props, "below"> & { follow: Props["follow"] | undefined; leads: Props["leads"] | undefined };

function renderBlock(block: Block, shown: Shown): ReactNode {
  const line = (parts: readonly Inline[]) => renderInline(parts, shown);
  switch (block.kind) {
    case "heading": {
      const level = Math.min(6, block.level + (shown.below ?? 0));
      const Tag = `h${level}` as "h2";
      return (
        <Tag data-slug={block.slug} tabIndex={-1} className={`markdown-h${block.level}`}>
          {line(block.inside)}
        </Tag>
      );
    }
    case "paragraph":
      return <p>{line(block.inside)}</p>;
    case "code":
      return (
        <pre tabIndex={0} aria-label={block.language ? `${block.language} code` : "Code"}>
          <code>{block.text}</code>
        </pre>
      );
    case "list": {
      const Tag = block.ordered ? "ol" : "ul";
      return (
        <Tag>
          {block.items.map((item, at) => (
            <li key={at}>
              {item.map((inner, index) =>
                inner.kind === "paragraph" ? (
                  <span key={index}>{line(inner.inside)}</span>
                ) : (
                  <Fragment key={index}>{renderBlock(inner, shown)}</Fragment>
                ),
              )}
            </li>
          ))}
        </Tag>
      );
    }
    case "table":
      return (
        // It may be wider than the panel; whoever has no mouse scrolls it too.
        <div aria-label="Table" className="markdown-table" role="group" tabIndex={0}>
          <table>
            <thead>
              <tr>{block.head.map((cell, at) => <th key={at}>{line(cell)}</th>)}</tr>
            </thead>
            <tbody>
              {block.rows.map((row, at) => (
                <tr key={at}>{row.map((cell, index) => <td key={index}>{line(cell)}</td>)}</tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "quote":
      return (
        <blockquote>
          {block.inside.map((inner, at) => <Fragment key={at}>{renderBlock(inner, shown)}</Fragment>)}
        </blockquote>
      );
    case "rule":
      return <hr />;
  }
}

function renderInline(parts: readonly Inline[], shown: Shown): ReactNode {
  return parts.map((part, at) => {
    switch (part.kind) {
      case "text":
        return <Fragment key={at}>{part.text}</Fragment>;
      case "code":
        return <code key={at}>{part.text}</code>;
      case "strong":
        return <strong key={at}>{renderInline(part.inside, shown)}</strong>;
      case "em":
        return <em key={at}>{renderInline(part.inside, shown)}</em>;
      case "break":
        return <br key={at} />;
      case "link":
        return <Fragment key={at}>{renderLink(part.to, renderInline(part.inside, shown), shown)}</Fragment>;
    }
  });
}

function renderLink(to: string, inside: ReactNode, { follow, leads }: Shown): ReactNode {
  if (/^(https?:|mailto:)/i.test(to)) {
    return (
      <a href={to} target="_blank" rel="noreferrer noopener">
        {inside}
      </a>
    );
  }
  if (!follow || leads?.(to) === false) return inside;
  return (
    <a
      href="#manual"
      onClick={(event) => {
        event.preventDefault();
        follow(to);
      }}
    >
      {inside}
    </a>
  );
}
