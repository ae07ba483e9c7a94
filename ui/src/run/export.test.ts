import { describe, expect, it } from "vitest";
import { withProject } from "./export";

describe("the exported events of a run", () => {
  const lines = new Blob(['{"event_id":"a"}\n{"event_id":"b"}\n'], { type: "application/x-ndjson" });

  it("name the project in the first event", async () => {
    const file = withProject(lines, 'the "shop"');
    const events = (await file.text()).trim().split("\n").map((line) => JSON.parse(line) as object);
    expect(events).toEqual([{ project: 'the "shop"', event_id: "a" }, { event_id: "b" }]);
    expect(file.type).toBe(lines.type);
  });

  it("are the lines alone if the project is unknown", () => {
    expect(withProject(lines, undefined)).toBe(lines);
  });

  it("are an empty file for a run without events", () => {
    const empty = new Blob([]);
    expect(withProject(empty, "shop")).toBe(empty);
  });
});
