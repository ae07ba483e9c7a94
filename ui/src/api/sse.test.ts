import { describe, expect, it } from "vitest";
import { Splitter } from "./sse";
import { pauseBefore } from "./stream.svelte";

const text = 'retry: 1000\n\nid: 7\ndata: {"a":1}\n\n: keepalive\n\nevent: dropped\r\ndata: x\r\ndata: y\r\n\r\ndata: last\n\n';
const messages = [
  { event: "message", id: "7", data: '{"a":1}' },
  { event: "dropped", id: "", data: "x\ny" },
  { event: "message", id: "", data: "last" },
];

describe("a stream's text", () => {
  it("is split into messages, in whatever pieces it comes", () => {
    for (let size = 1; size <= text.length; size++) {
      const splitter = new Splitter();
      const got = [];
      for (let i = 0; i < text.length; i += size) got.push(...splitter.push(text.slice(i, i + size)));
      expect(got, `in pieces of ${size}`).toEqual(messages);
    }
  });

  it("is refused where a message does not end", () => {
    const splitter = new Splitter(100);
    expect(() => {
      for (let i = 0; i < 20; i++) splitter.push("data: 0123456789");
    }).toThrow("too long");
    const lines = new Splitter(100);
    expect(() => lines.push("data: 0123456789\n".repeat(20))).toThrow("too long");
  });
});

describe("the pause before an attempt", () => {
  it("doubles up to 15 seconds, with a quarter of chance", () => {
    expect([0, 1, 2, 3, 10].map((n) => pauseBefore(n, 0.5))).toEqual([500, 1000, 2000, 4000, 15_000]);
    expect([pauseBefore(0, 0), pauseBefore(0, 1)]).toEqual([375, 625]);
    expect(pauseBefore(100_000, 0.5)).toBe(15_000);
  });
});
