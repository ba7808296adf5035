import { describe, expect, it } from "vitest";
import type { EventKind, NetworkEvent } from "../src/api/types";
import { clusters } from "../src/watch/marks";

const event = (at: number, kind: EventKind): NetworkEvent => ({ at_us: at * 1e6, kind, text: `${kind} ${at}`, of: "", name: "" });

describe("marks", () => {
  it("stand where something happened, if that can be seen", () => {
    const found = clusters([event(5, "started"), event(50, "paused"), event(200, "stopped")], 10, 110, 10);
    expect(found.map((mark) => [mark.at, mark.kind])).toEqual([[50, "paused"]]);
  });

  it("become one where there is no room for two, in the colour of the worst", () => {
    const found = clusters([event(20, "started"), event(24, "failed"), event(29, "modified"), event(31, "paused")], 0, 100, 10);
    expect(found.map((mark) => [mark.at, mark.kind, mark.events.length])).toEqual([[20, "failed", 3], [31, "paused", 1]]);
  });
});
