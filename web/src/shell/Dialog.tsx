// A dialog over the page. It closes with Esc, with its button, and by a click beside it.

import { type FormEvent, type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { Icon } from "./Icon";
import "./Dialog.css";

interface DialogProps {
  title: string;
  onClose: () => void;
  /** Buttons at the lower end. */
  footer?: ReactNode;
  /** If given, all of it is a form that Enter submits. */
  onSubmit?: () => void;
  wide?: boolean;
  children: ReactNode;
}

/** What has `data-first` gets the focus. */
export function Dialog({ title, onClose, footer, onSubmit, wide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();

  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    shown?.querySelector<HTMLElement>("[data-first]")?.focus();
    // Closing it gives the focus back to where it was.
    return () => shown?.close();
  }, []);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit?.();
  };

  return (
    <dialog
      aria-labelledby={heading}
      className={wide ? "dialog dialog-wide" : "dialog"}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
      onClose={(event) => {
        if (!event.currentTarget.open) onClose();
      }}
      ref={dialog}
    >
      <form className="dialog-frame" noValidate onSubmit={submit}>
        <div className="dialog-head">
          <h2 className="grow" id={heading}>
            {title}
          </h2>
          <button aria-label="Close" className="quiet dialog-close" onClick={onClose} type="button">
            <Icon name="close" />
          </button>
        </div>
        <div className="dialog-body">{children}</div>
        {footer && <div className="dialog-foot">{footer}</div>}
      </form>
    </dialog>
  );
}
