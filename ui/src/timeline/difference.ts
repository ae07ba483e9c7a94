// The difference between two texts, line by line.
import type { Json } from "../api/names";
export interface Line {
  sign: " " | "-" | "+";
  text: string;
}

/** For longer texts, in lines, only the common beginning and end are found. */
const most = 600;

/** differenceOf returns the lines that were removed from a and added in b. Cost: O(lines of a × lines of b), at most 600 lines each. */
export function differenceOf(a: string, b: string): Line[] {
  const x = a.split("\n");
  const y = b.split("\n");
  let head = 0;
  while (head < x.length && head < y.length && x[head] === y[head]) head++;
  let tail = 0;
  while (tail < x.length - head && tail < y.length - head && x[x.length - 1 - tail] === y[y.length - 1 - tail]) tail++;
  return [
    ...same(x.slice(0, head)),
    ...middle(x.slice(head, x.length - tail), y.slice(head, y.length - tail)),
    ...same(x.slice(x.length - tail)),
  ];
}

function same(lines: string[]): Line[] {
  return lines.map((text) => ({ sign: " ", text }));
}

function middle(x: string[], y: string[]): Line[] {
  if (x.length > most || y.length > most) {
    return [...x.map((text): Line => ({ sign: "-", text })), ...y.map((text): Line => ({ sign: "+", text }))];
  }
  const width = y.length + 1;
  const common = new Uint16Array((x.length + 1) * width); // longest common subsequence from here on
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      common[i * width + j] =
        x[i] === y[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) lines.push({ sign: " ", text: x[i++]! }), j++;
    else if (j >= y.length || (i < x.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) lines.push({ sign: "-", text: x[i++]! });
    else lines.push({ sign: "+", text: y[j++]! });
  }
  return lines;
}

/** shown omits equal lines that are far from a change. A null marks omitted lines. */
export function shown(lines: Line[], around = 3): (Line | null)[] {
  const near = lines.map(() => false);
  lines.forEach((line, i) => {
    if (line.sign === " ") return;
    for (let k = Math.max(i - around, 0); k <= Math.min(i + around, lines.length - 1); k++) near[k] = true;
  });
  const out: (Line | null)[] = [];
  lines.forEach((line, i) => {
    if (near[i]) out.push(line);
    else if (out.at(-1) !== null) out.push(null);
  });
  return out;
}

const maxDepth = 64;

/** canonical returns JSON with sorted keys, so that equal values give equal texts. */
export function canonical(value: unknown, depth = 0): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (depth >= maxDepth) return '"…"';
  if (Array.isArray(value)) return `[${value.map((v) => canonical(v, depth + 1)).join(",")}]`;
  const object = value as { [key: string]: Json };
  const members = Object.keys(object).sort();
  return `{${members.map((k) => `${JSON.stringify(k)}:${canonical(object[k], depth + 1)}`).join(",")}}`;
}
