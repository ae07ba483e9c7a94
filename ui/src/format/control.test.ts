import { expect, it } from "vitest";
import type { ControlState, Order } from "../api/names";
import { controlText } from "./control";

const order = (number: number, act: Order["act"], ends?: number): Order => ({ number, run_id: "r", event_id: `e${number}`, act, at: "2026-01-01T00:00:00Z", ends });
const state = (part: Partial<ControlState>): ControlState => ({ listening: true, waiting: 0, paused: false, halted: false, allowed_tools: [], orders: [], ...part });

it("says what holds of the orders", () => {
  expect(controlText(state({ halted: true, orders: [order(1, "halt")] }), false)).toBe("Halted by a person. The guard listens.");
  expect(controlText(state({ orders: [order(1, "halt"), order(2, "resume", 1)] }), false)).toBe("A new message of a person ended the last order. The guard listens.");
  expect(controlText(state({ orders: [order(1, "halt"), order(2, "resume")] }), false)).toBe("The guard listens.");
  expect(controlText(state({ halted: true, orders: [order(1, "halt"), order(2, "resume", 1), order(3, "halt")] }), false)).toBe("Halted by a person. The guard listens.");
  expect(controlText(state({ listening: false }), false)).toBe("No guard listens. It gets the orders when it connects.");
  expect(controlText(state({ listening: false }), true)).toBe("The run is over. A guard that continues it gets the orders.");
});
