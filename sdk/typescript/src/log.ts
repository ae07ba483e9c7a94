// The log of the package: each kind of problem once, and never a text of an agent, a tool or a user.

const logged = new Set<string>();
let write: (message: string) => void = (message) => console.warn(`unloop: ${message}`);

/** Sets the function that receives the log. */
export function setLog(to: (message: string) => void): void {
  write = to;
}

export function log(message: string): void {
  try {
    write(message);
  } catch {
    // A failing log must not stop the agent.
  }
}

/** Logs a message unless one with this key was logged before. */
export function warnOnce(key: string, message: string): void {
  if (logged.has(key)) return;
  logged.add(key);
  log(message);
}

/** Reports whether a warning with this key was logged and not reset. */
export function isLogged(key: string): boolean {
  return logged.has(key);
}

/** Lets the next warning with this key be logged again. */
export function resetWarning(key: string): void {
  logged.delete(key);
}

/** Allows all messages to be logged again. For tests. */
export function forgetWarnings(): void {
  logged.clear();
}
