import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { digest, errorText, redact, serialize, shorten, truncate } from "../src/serialize.js";
import { sha256, sha256InScript } from "../src/sha256.js";

const LIMIT = 1000;

test("values of JSON types are exact", () => {
  for (const value of [null, true, -1.5, "", "ünï", [], {}, { a: [1, { b: null }] }, { a: undefined }, ["\u2028", "\ud800"]]) {
    assert.deepEqual(serialize(value, LIMIT), { json: JSON.stringify(value), exact: true });
  }
});

const cycle: Record<string, unknown> = { a: 1 };
cycle.self = cycle;

const revoked = Proxy.revocable({}, {});
revoked.revoke();

const others: [string, unknown, unknown][] = [
  ["undefined", undefined, null],
  ["a number that JSON lacks", [Number.NaN, -Infinity], ["NaN", "-Infinity"]],
  ["a large integer", 2n ** 70n, "1180591620717411303424"],
  ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  [
    "a map",
    new Map<unknown, unknown>([
      ["a", 1],
      [2, "b"],
    ]),
    { a: 1, 2: "b" },
  ],
  ["a set", new Set([1, "a"]), [1, "a"]],
  ["an error", new TypeError("bad"), "TypeError: bad"],
  ["a function, and a member that is one", [() => 1, { f: () => 1 }], ["<function >", {}]],
  ["a symbol", Symbol("s"), "Symbol(s)"],
  ["bytes", new Uint8Array([1, 2]), `<2 bytes, ${digest("0102")}>`],
  [
    "an instance of a class",
    new (class Point {
      x = 1;
    })(),
    { x: 1 },
  ],
  ["what has a JSON of its own", { toJSON: () => ({ a: 1 }) }, { a: 1 }],
  ["a cycle", cycle, { a: 1, self: "<cycle>" }],
  [
    "a getter that throws",
    Object.defineProperty({ q: "loops" }, "a", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    }),
    { q: "loops", a: "<value that cannot be read>" },
  ],
  ["an object that answers nothing", { a: revoked.proxy, q: "loops" }, { a: "<value that cannot be read>", q: "loops" }],
  [
    "a map with a key that has no text",
    new Map<unknown, unknown>([[Object.create(null), 1]]),
    { "<value that cannot be read>": 1 },
  ],
  [
    "a member named __proto__",
    Object.fromEntries([
      ["__proto__", 1],
      ["d", new Date(0)],
    ]),
    Object.fromEntries([
      ["__proto__", 1],
      ["d", "1970-01-01T00:00:00.000Z"],
    ]),
  ],
];

for (const [what, value, want] of others) {
  test(`${what} becomes JSON`, () => {
    assert.deepEqual(JSON.parse(serialize(value, LIMIT).json), want);
  });
}

test("a sparse array and a long integer take no time that their size does not explain", () => {
  const sparse: unknown[] = [1];
  sparse[2 ** 32 - 2] = 2;
  assert.match(serialize(sparse, LIMIT).json, /… \[cut: \d+ more, /);
  const long = 1n << 10_000_000n;
  assert.equal(serialize(long, LIMIT).json, serialize(1n << 10_000_000n, LIMIT).json);
  assert.notEqual(serialize(long, LIMIT).json, serialize(long + 1n, LIMIT).json);
  assert.match(serialize(long, LIMIT).json, /^"hex 1000/);
});

test("a deep value ends where it is too deep", () => {
  let deep: unknown = 1;
  for (let n = 0; n < 10_000; n++) deep = { deep };
  const { json, exact } = serialize(deep, LIMIT);
  assert.equal(exact, false);
  assert.match(json, /too deep/);
});

test("what is cut stays different from another value, and equal to itself", () => {
  const made = (end: unknown) => ({ text: "a".repeat(2 * LIMIT), list: [...Array(20_000).keys(), end] });
  const [one, same, other] = [made(1), made(1), made(2)].map((value) => serialize(value, LIMIT).json);
  assert.equal(one, same);
  assert.notEqual(one, other);
  assert.ok((one as string).length < 2 * LIMIT);
  const texts = ["x", "y"].map((end) => serialize("a".repeat(2 * LIMIT) + end, LIMIT));
  assert.notEqual(texts[0]?.json, texts[1]?.json);
  assert.equal(texts[0]?.exact, false);
});

test("a value that is not captured becomes its digest", () => {
  const { digest: hash, size_bytes } = JSON.parse(redact({ secret: "s" }));
  assert.match(hash, /^[g-v]{16}$/);
  assert.equal(size_bytes, JSON.stringify({ secret: "s" }).length);
  assert.equal(redact({ secret: "s" }), redact({ secret: "s" }));
  assert.notEqual(redact({ secret: "s" }), redact({ secret: "t" }));
});

test("a long name ends in its hash, in whole characters", () => {
  assert.equal(shorten("é".repeat(256), 512), "é".repeat(256));
  const long = "€".repeat(300);
  const short = shorten(long, 512);
  assert.ok(Buffer.byteLength(short) <= 512 && Buffer.byteLength(short) > 509);
  assert.ok(short.endsWith(`€…${createHash("sha256").update(long).digest("hex")}`));
});

test("the hash in script is that of Node", () => {
  for (const size of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000]) {
    const data = randomBytes(size);
    assert.equal(sha256InScript(data), createHash("sha256").update(data).digest("hex"), `${size} bytes`);
  }
  assert.equal(sha256("ünï"), sha256InScript(new TextEncoder().encode("ünï")));
});

test("texts of errors", () => {
  assert.equal(errorText(new RangeError("no")), "RangeError: no");
  assert.equal(errorText(new RangeError()), "RangeError");
  assert.equal(errorText("as it is"), "as it is");
  assert.equal(errorText(Object.assign(new Error(), { name: undefined })), "undefined"); // a text, which is truncated
  assert.equal(errorText({ code: 1 }), '{"code":1}');
  assert.match(truncate("a".repeat(20), 10), /^a{10}… \[cut: 20 characters, [g-v]{16}\]$/);
});
