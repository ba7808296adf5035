// Beside the pointer while an arrow is dragged: why it cannot end here.

import { useConnection } from "@xyflow/react";
import { useEffect } from "react";
import { leave, useAttempt } from "./attempt";

export function ConnectionHint() {
  const pointer = useConnection((connection) => (connection.inProgress ? connection.pointer : null));
  const isOverPort = useConnection((connection) => connection.inProgress && connection.toHandle !== null);
  const refused = useAttempt((state) => state.refused);
  const isAsking = useAttempt((state) => state.isAsking);
  useEffect(() => {
    if (!isOverPort) leave();
  }, [isOverPort]);
  if (!pointer || (!refused && !isAsking)) return null;
  return (
    <div
      className={refused ? "connection-hint connection-refused" : "connection-hint"}
      style={{ transform: `translate(${pointer.x + 14}px, ${pointer.y + 14}px)` }}
    >
      {refused ?? "Checking …"}
    </div>
  );
}
