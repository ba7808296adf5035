// Keeps a failure in one part of the page from taking the others with it.

import { Component, type ReactNode } from "react";
import { Icon } from "./Icon";

interface BoundaryProps {
  /** What has failed, if something does: "The drawing". */
  part: string;
  children: ReactNode;
}

export class Boundary extends Component<BoundaryProps, { failure: string | null }> {
  override state = { failure: null };

  static getDerivedStateFromError(error: unknown) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }

  override render() {
    if (this.state.failure === null) return this.props.children;
    return (
      <div className="empty stack" role="alert">
        <p className="bad">
          <Icon name="error" /> {this.props.part} cannot be shown.
        </p>
        <p className="mono">{this.state.failure}</p>
        <p>
          <button onClick={() => location.reload()} type="button">
            Load the page again
          </button>
        </p>
        <p>What you have drawn is kept.</p>
      </div>
    );
  }
}
