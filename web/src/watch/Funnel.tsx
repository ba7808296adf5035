// The sign for a place where tuples are dropped.

export function Funnel() {
  return (
    <svg aria-hidden="true" className="funnel" height="12" viewBox="0 0 12 12" width="12">
      <path d="M1 1.5h10L7.2 6.2v4.3l-2.4-1.4V6.2Z" fill="currentColor" />
    </svg>
  );
}
