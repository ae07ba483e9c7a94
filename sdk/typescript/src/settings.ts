// The settings of the package. They come from the environment (UNLOOP_*). configure() overrides the environment.

import { log, setLog } from "./log.js";
import { environment } from "./runtime.js";

/** The settings. Sizes are in bytes, times in milliseconds. */
export interface Settings {
  endpoint: string;
  token: string;
  project: string;
  enabled: boolean;
  captureInputs: boolean;
  captureOutputs: boolean;
  queueEvents: number;
  queueBytes: number;
  valueBytes: number;
  exitTimeoutMs: number;
}

const defaults: Settings = {
  endpoint: "http://127.0.0.1:8765",
  token: "",
  project: "",
  enabled: true,
  captureInputs: true,
  captureOutputs: true,
  queueEvents: 50_000,
  queueBytes: 32 << 20,
  valueBytes: 64 << 10,
  exitTimeoutMs: 2000,
};

let current: Settings | undefined;

/** Returns the current settings. The first call reads the environment. */
export function settings(): Settings {
  current ??= fromEnvironment();
  return current;
}

/** What configure() changes. A member that is undefined leaves its setting unchanged. */
export interface Configuration extends Partial<Settings> {
  /** Receives the log of the package instead of console.warn. */
  log?: (message: string) => void;
}

/** Changes the settings, and returns the previous ones. */
export function change({ log: to, ...values }: Configuration): Settings {
  if (to) setLog(to);
  const before = settings();
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  current = checked({ ...before, ...given });
  return before;
}

/** Drops all settings, so that the next use reads the environment. For tests. */
export function forgetSettings(): void {
  current = undefined;
}

function fromEnvironment(): Settings {
  const boolean = (text: string): boolean => {
    if (!isTrue(text)) return false;
    if (!["1", "true", "yes", "on"].includes(text.toLowerCase())) throw new Error(`invalid value "${text}": want true or false`);
    return true;
  };
  const number = (text: string): number => {
    const value = Number(text.replaceAll("_", ""));
    if (!Number.isFinite(value) || value < 0) throw new Error(`invalid value "${text}": want a number that is not negative`);
    return value;
  };
  const values: Partial<Settings> = {};
  const read = <Name extends keyof Settings>(variable: string, name: Name, parse: (text: string) => Settings[Name]): void => {
    const text = environment(variable);
    if (!text) return;
    try {
      values[name] = parse(text);
    } catch (error) {
      log(`${variable} ignored: ${(error as Error).message}`);
    }
  };
  read("UNLOOP_ENDPOINT", "endpoint", String);
  read("UNLOOP_TOKEN", "token", String);
  read("UNLOOP_PROJECT", "project", String);
  read("UNLOOP_DISABLED", "enabled", (text) => !isTrue(text));
  read("UNLOOP_CAPTURE_INPUTS", "captureInputs", boolean);
  read("UNLOOP_CAPTURE_OUTPUTS", "captureOutputs", boolean);
  read("UNLOOP_QUEUE_EVENTS", "queueEvents", number);
  read("UNLOOP_QUEUE_BYTES", "queueBytes", number);
  read("UNLOOP_VALUE_BYTES", "valueBytes", number);
  read("UNLOOP_EXIT_TIMEOUT", "exitTimeoutMs", (text) => number(text) * 1000);
  return checked({ ...defaults, ...values });
}

function isTrue(text: string): boolean {
  return !["", "0", "false", "no", "off"].includes(text.toLowerCase());
}

function checked(values: Settings): Settings {
  const token = /^[!-~]*$/.test(values.token) ? values.token : "";
  if (token !== values.token) log("invalid token ignored: want printable ASCII without spaces or line ends");
  return { ...values, endpoint: withoutCredentials(values.endpoint), token };
}

/** Returns endpoint without user and password. They are not used, and would appear in the log. */
export function withoutCredentials(endpoint: string): string {
  let url: URL;
  try {
    url = new URL(endpoint);
  } catch {
    return endpoint; // the first request reports it
  }
  if (url.username || url.password) {
    log("user and password in the endpoint ignored: use UNLOOP_TOKEN");
    url.username = "";
    url.password = "";
  }
  return url.href.replace(/\/+$/, "");
}
