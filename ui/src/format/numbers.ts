// Formats of numbers and times. The locale is fixed, so that the output does not depend on the machine.
const grouped = new Intl.NumberFormat("en-US");

export function count(n: number): string {
  return grouped.format(n);
}

/** short formats a large number in few characters: 12.4k. */
export function short(n: number): string {
  if (Math.abs(n) < 10_000) return count(n);
  if (Math.abs(n) < 1e6) return `${(n / 1e3).toFixed(1).replace(/\.0$/, "")}k`;
  return `${(n / 1e6).toFixed(1).replace(/\.0$/, "")}M`;
}

/** dollars formats a cost. Small amounts get more digits. */
export function dollars(n: number): string {
  if (n === 0) return "$0";
  const digits = Math.abs(n) < 0.01 ? 4 : Math.abs(n) < 1 ? 3 : 2;
  return `${n < 0 ? "−" : ""}$${Math.abs(n).toFixed(digits)}`;
}

/** duration formats milliseconds. */
export function duration(ms: number): string {
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return both(minutes, "min", Math.floor((ms % 60_000) / 1000), "s");
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? both(hours, "h", minutes % 60, "min") : both(Math.floor(hours / 24), "d", hours % 24, "h");
}

function both(whole: number, unit: string, rest: number, smaller: string): string {
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${smaller}`;
}

/** offset formats a time since the start of a run, in milliseconds. */
export function offset(ms: number): string {
  if (!Number.isFinite(ms)) return "";
  const s = Math.max(ms, 0) / 1000;
  if (s < 60) return `${s.toFixed(2)} s`;
  const h = Math.floor(s / 3600);
  const m = Math.floor(s / 60) % 60;
  const rest = (s % 60).toFixed(1).padStart(4, "0");
  return h > 0 ? `${h}:${String(m).padStart(2, "0")}:${rest}` : `${m}:${rest}`;
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const year = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

/** moment formats a time, with the parts of the date that differ from now. */
export function moment(timestamp: string, now: Date): string {
  const at = new Date(timestamp);
  if (Number.isNaN(at.getTime())) return timestamp;
  if (at.toDateString() === now.toDateString()) return clock.format(at);
  return at.getFullYear() === now.getFullYear() ? day.format(at) : year.format(at);
}

/** plural formats a number with its noun. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** signed formats a difference with its sign. */
export function signed(n: number, write: (n: number) => string = count): string {
  if (n === 0) return "±0";
  return `${n > 0 ? "+" : "−"}${write(Math.abs(n))}`;
}
