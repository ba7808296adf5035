// What everybody should know now: the server is gone, or the network has failed.

import { useStore } from "../state/store";
import { Icon } from "./Icon";
import "./Banners.css";

export function Banners() {
  const isLost = useStore((state) => state.connection === "lost");
  const failure = useStore((state) => (state.running?.stage === "failed" ? state.running.why : ""));
  const name = useStore((state) => state.running?.name ?? "");
  return (
    <>
      <div className="banners" role="status">
        {isLost && (
          <p className="banner banner-warn">
            <Icon name="plug" />
            <span>
              <strong>The connection is lost.</strong> What you see is from before; the page tries again by itself.
            </span>
            <span aria-hidden="true" className="banner-wait" />
          </p>
        )}
      </div>
      <div className="banners" role="alert">
        {failure && (
          <p className="banner banner-bad">
            <Icon name="error" />
            <span className="banner-text">
              <strong>{name} has failed.</strong> {failure.replace(/^it failed: /, "")}
            </span>
          </p>
        )}
      </div>
    </>
  );
}
