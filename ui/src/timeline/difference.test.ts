import { describe, expect, it } from "vitest";
import { canonical, differenceOf, shown } from "./difference";

const signs = (a: string, b: string): string[] => differenceOf(a, b).map((l) => l.sign + l.text);

describe("a difference", () => {
  it("keeps the common lines", () => {
    expect(signs("a\nb\nc", "a\nx\nc")).toEqual([" a", "-b", "+x", " c"]);
    expect(signs("a\nb", "a\nb")).toEqual([" a", " b"]);
    expect(signs("a\nb\nd", "a\nb\nc\nd")).toEqual([" a", " b", "+c", " d"]);
  });

  it("is bounded: long texts without common lines are removed and added as a whole", () => {
    const a = Array.from({ length: 5000 }, (_, i) => `a${i}`).join("\n");
    const lines = differenceOf(a, a.replaceAll("a", "b"));
    expect([lines.length, lines[0]!.sign, lines.at(-1)!.sign]).toEqual([10_000, "-", "+"]);
  });

  it("omits equal lines far from a change", () => {
    const a = "1\n2\n3\n4\n5\n6\n7\n8";
    expect(shown(differenceOf(a, a.replace("8", "x")), 1).map((l) => l?.text ?? "…")).toEqual(["…", "7", "8", "x"]);
  });
});

describe("canonical JSON", () => {
  it("ignores the order of keys, but not of lists", () => {
    expect(canonical({ b: [1, 2], a: { d: 1, c: 2 } })).toBe('{"a":{"c":2,"d":1},"b":[1,2]}');
    expect(canonical([1, 2])).not.toBe(canonical([2, 1]));
  });

  it("is bounded in depth", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 50_000; i++) deep = [deep];
    expect(canonical(deep).length).toBeLessThan(200);
  });
});
