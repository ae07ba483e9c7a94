// What the package uses of its runtime. Modules of Node are looked up while the program runs: Node, Bun and Deno have them, an edge
// runtime may not, and a bundler for one would reject an import of them.

import type { AsyncLocalStorage } from "node:async_hooks";

interface Modules {
  "node:async_hooks": typeof import("node:async_hooks");
  "node:child_process": typeof import("node:child_process");
  "node:crypto": typeof import("node:crypto");
  "node:fs": typeof import("node:fs");
  "node:module": typeof import("node:module");
  "node:path": typeof import("node:path");
}

/** Returns a module of Node, or undefined where the runtime has none. */
export function builtin<Name extends keyof Modules>(name: Name): Modules[Name] | undefined {
  try {
    return globalThis.process?.getBuiltinModule?.(name) as Modules[Name] | undefined;
  } catch {
    return undefined;
  }
}

/** Returns an environment variable, or "". */
export function environment(name: string): string {
  try {
    return globalThis.process?.env?.[name]?.trim() ?? "";
  } catch {
    return ""; // Deno without the permission to read it
  }
}

/** The part of AsyncLocalStorage that the package uses. */
export interface Context<T> {
  getStore(): T | undefined;
  run<R>(value: T, fn: () => R): R;
}

/** Returns a context that follows asynchronous calls. Without AsyncLocalStorage it ends at the first await. */
export function newContext<T>(): Context<T> {
  const global = globalThis as { AsyncLocalStorage?: new () => AsyncLocalStorage<T> };
  const Storage: (new () => AsyncLocalStorage<T>) | undefined =
    builtin("node:async_hooks")?.AsyncLocalStorage ?? global.AsyncLocalStorage;
  return Storage ? new Storage() : new SynchronousContext<T>();
}

class SynchronousContext<T> implements Context<T> {
  private value: T | undefined;

  getStore(): T | undefined {
    return this.value;
  }

  run<R>(value: T, fn: () => R): R {
    const before = this.value;
    this.value = value;
    try {
      return fn();
    } finally {
      this.value = before;
    }
  }
}

/** Calls fn after a delay in milliseconds. The delay does not keep the program alive. */
export function later(fn: () => void, delay: number): { cancel(): void } {
  const timer = setTimeout(fn, delay);
  (timer as { unref?: () => void }).unref?.();
  return { cancel: () => clearTimeout(timer) };
}

/** Returns random lower-case hexadecimal digits, two for each byte. */
export function randomHex(bytes: number): string {
  const values = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(values, (value) => value.toString(16).padStart(2, "0")).join("");
}
