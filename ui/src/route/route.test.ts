import { describe, expect, it } from "vitest";
import { placeOf, runPath } from "./route.svelte";

describe("a place", () => {
  const places: [string, ReturnType<typeof placeOf>][] = [
    ["/", { page: "runs", run: "", tab: "timeline" }],
    ["/runs/a%2Fb", { page: "run", run: "a/b", tab: "timeline" }],
    ["/runs/r/graph", { page: "run", run: "r", tab: "graph" }],
    ["/runs/r/what-if/", { page: "run", run: "r", tab: "what-if" }],
    ["/runs/r/waterfall", { page: "run", run: "r", tab: "waterfall" }],
    ["/runs/r/nothing", { page: "lost", run: "", tab: "timeline" }],
    ["/runs/r/graph/x", { page: "lost", run: "", tab: "timeline" }],
    ["/runs/%zz", { page: "run", run: "%zz", tab: "timeline" }],
    ["/compare", { page: "compare", run: "", tab: "timeline" }],
    ["/overview", { page: "overview", run: "", tab: "timeline" }],
    ["/rules", { page: "rules", run: "", tab: "timeline" }],
    ["/audit", { page: "audit", run: "", tab: "timeline" }],
    ["/suggestions", { page: "suggestions", run: "", tab: "timeline" }],
    ["/elsewhere", { page: "lost", run: "", tab: "timeline" }],
    ["/overview/x", { page: "lost", run: "", tab: "timeline" }],
  ];
  it.each(places)("%s", (path, place) => expect(placeOf(path)).toEqual(place));

  it.each([".", "..", ".~", "..~~", "/", "/~", "//", "...", "~", "a.~", "%2E"])("of a run that is called %s keeps its name", (id) => {
    expect(placeOf(new URL(runPath(id, "graph"), "http://x").pathname)).toEqual({ page: "run", run: id, tab: "graph" });
  });

  it("has an address that leads back to it", () => {
    expect(runPath("a/b?c", "graph")).toBe("/runs/a%2Fb%3Fc/graph");
    expect(placeOf(new URL(runPath("a/b?c", "graph"), "http://x").pathname).run).toBe("a/b?c");
    expect(new URL(runPath("r", "timeline", "e&1"), "http://x").searchParams.get("event")).toBe("e&1");
  });
});
