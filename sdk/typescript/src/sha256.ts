// Synchronous SHA-256 (FIPS 180-4). The one of WebCrypto is asynchronous, and an event is serialized when it is recorded. In Node, the
// built-in one is used.

import { builtin } from "./runtime.js";

const encoder = new TextEncoder();

/** Returns the SHA-256 hash of the text's UTF-8 in hexadecimal digits. */
export function sha256(text: string): string {
  const native = builtin("node:crypto");
  return native ? native.createHash("sha256").update(text, "utf8").digest("hex") : sha256InScript(encoder.encode(text));
}

const primes = Array.from({ length: 64 }, (_, n) => nthPrime(n));
const roundConstants = Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
const initialState = Uint32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

function nthPrime(n: number): number {
  let found = -1;
  let candidate = 1;
  while (found < n) {
    candidate++;
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor++) prime &&= candidate % divisor !== 0;
    if (prime) found++;
  }
  return candidate;
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32);
}

/** Returns the hash of data in hexadecimal digits, computed here. */
export function sha256InScript(data: Uint8Array): string {
  const padded = new Uint8Array(((data.length + 8) >> 6) * 64 + 64);
  padded.set(data);
  padded[data.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(data.length / 2 ** 29));
  view.setUint32(padded.length - 4, data.length << 3);
  const state = initialState.slice();
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let n = 0; n < 16; n++) words[n] = view.getUint32(block + n * 4);
    compress(state, words);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

function compress(state: Uint32Array, w: Uint32Array): void {
  for (let n = 16; n < 64; n++) {
    const early = w[n - 15] as number;
    const late = w[n - 2] as number;
    const small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const small1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    w[n] = (w[n - 16] as number) + small0 + (w[n - 7] as number) + small1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let n = 0; n < 64; n++) {
    const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + big1 + ((e & f) ^ (~e & g)) + (roundConstants[n] as number) + (w[n] as number)) | 0;
    const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const second = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, n) => {
    state[n] = (state[n] as number) + word;
  });
}
