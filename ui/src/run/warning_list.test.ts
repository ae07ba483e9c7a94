import { describe, expect, test } from "vitest";
import type { Warning } from "../api/names";
import { WarningList } from "./warning_list";

const warning = (id: string, count: number) => ({ warning_id: id, count }) as Warning;
const shown = (list: WarningList) => list.list().map((w) => `${w.warning_id}×${w.count}`);

describe("the warnings of a stream", () => {
  test("grow in their place, are added at the end, and go", () => {
    const list = new WarningList();
    expect(list.take({ warnings: [warning("a", 3), warning("b", 3)], warnings_reset: true })).toBe(true);
    expect(list.take({ warnings: [warning("a", 4), warning("c", 3)] })).toBe(true);
    expect(shown(list)).toEqual(["a×4", "b×3", "c×3"]);
    expect(list.take({ warnings: [], warnings_cleared: ["b"] })).toBe(true);
    expect(shown(list)).toEqual(["a×4", "c×3"]);
  });

  test("stay as they are when a message tells none", () => {
    const list = new WarningList();
    list.take({ warnings: [warning("a", 3)], warnings_reset: true });
    expect(list.take({ warnings: [] })).toBe(false);
    expect(list.take({ warnings: null })).toBe(false);
    expect(shown(list)).toEqual(["a×3"]);
  });

  test("are replaced by those of a new connection, so that warnings cleared in between disappear", () => {
    const list = new WarningList();
    list.take({ warnings: [warning("a", 3), warning("b", 3)], warnings_reset: true });
    expect(list.take({ warnings: [warning("b", 5)], warnings_reset: true })).toBe(true);
    expect(shown(list)).toEqual(["b×5"]);
    expect(list.take({ warnings: [], warnings_reset: true })).toBe(true);
    expect(shown(list)).toEqual([]);
  });
});
