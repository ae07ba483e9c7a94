// Notifications of the browser about runs, while the dashboard is open in it. The browser keeps the level that the reader chose.
import type { OverviewUpdate, RunSummary } from "../api/names";
import { Stream } from "../api/stream.svelte";
import { actionTaken } from "../format/decisions";
import { plural } from "../format/numbers";
import { worst } from "../format/verdict";
import icon from "../icon.svg";
import { route, runPath } from "../route/route.svelte";

export const levels = ["raised", "block", "halt"] as const;
export type Level = (typeof levels)[number];

/** The names of the levels on the page. An alert has a least level. */
export const levelNames: Record<Level, string> = { raised: "Every warning", block: "From a blocked call on", halt: "Only halted runs" };

const place = "unloop-notify";

/** levelOf returns the level that a run has reached, or null for none. */
export function levelOf(run: RunSummary): Level | null {
  if (run.worst_decision === "halt" || run.worst_decision === "block") return run.worst_decision;
  return run.warning_count > 0 ? "raised" : null;
}

/** sentence says what happened to a run at a level. */
export function sentence(run: RunSummary, level: Level): string {
  if (level === "raised") return `${run.name} repeats itself`;
  const guarded = run.guarded_by !== null;
  if (level === "halt") return guarded ? `${run.name} was halted by the guard` : `A guard ${actionTaken(level, false)} ${run.name}`;
  return guarded ? `A call of ${run.name} was blocked by the guard` : `A guard ${actionTaken(level, false)} a call of ${run.name}`;
}

/** NotifiedLevels keeps the highest level of each run that a notification was shown for, so that each level has one notification. */
export class NotifiedLevels {
  private readonly runs = new Map<string, Level>();

  /** next returns the level to notify of, or null if the update has no new level at or above the least one. */
  next(update: OverviewUpdate, least: Level): Level | null {
    const { run } = update;
    if (run === null || (update.warnings ?? []).length + (update.decisions ?? []).length === 0) return null;
    const level = levelOf(run);
    if (level === null || levels.indexOf(level) < levels.indexOf(least)) return null;
    const known = this.runs.get(run.id);
    if (known !== undefined && levels.indexOf(level) <= levels.indexOf(known)) return null;
    this.runs.set(run.id, level);
    return level;
  }
}

function stored(): Level | "" {
  try {
    return levels.find((l) => l === localStorage.getItem(place)) ?? "";
  } catch {
    return ""; // storage is switched off
  }
}

class Notifications {
  /** The least level with notifications; "" for none. */
  level = $state<Level | "">(stored());
  /** Why notifications cannot be shown, or "". */
  problem = $state("");
  private readonly notified = new NotifiedLevels();
  private stream: Stream | null = null;

  /** Asks the reader for permission if that is needed, and starts. A browser asks only after a click. */
  async turnOn(level: Level): Promise<void> {
    this.problem = "";
    if (!("Notification" in globalThis)) {
      this.problem = "This browser has no notifications, or the page is not loaded over HTTPS or from this machine.";
      return;
    }
    if ((await Notification.requestPermission()) !== "granted") {
      this.problem = "The browser does not allow notifications of this page. Its site settings change that.";
      return;
    }
    this.keep(level);
    this.start();
  }

  turnOff(): void {
    this.keep("");
    this.stop();
  }

  /** Starts if the reader has turned notifications on. */
  start(): void {
    if (this.level === "" || this.stream !== null || globalThis.Notification?.permission !== "granted") return;
    this.stream = new Stream("/api/stream", (m) => this.take(JSON.parse(m.data) as OverviewUpdate));
  }

  stop(): void {
    this.stream?.stop();
    this.stream = null;
  }

  private keep(level: Level | ""): void {
    this.level = level;
    try {
      localStorage.setItem(place, level);
    } catch {
      // it lasts until the page is closed
    }
  }

  private take(update: OverviewUpdate): void {
    const level = this.level === "" ? null : this.notified.next(update, this.level);
    if (level === null) return;
    const run = update.run!;
    const found = worst(update.warnings ?? []);
    try {
      // Several open tabs show a notification with one tag once.
      const note = new Notification(sentence(run, level), {
        body: `${found?.message ?? plural(run.warning_count, "warning")}\nProject ${run.project}`, tag: `${run.id} ${level}`, icon,
      });
      note.onclick = () => {
        window.focus();
        route.go(runPath(run.id));
      };
    } catch {
      this.problem = "This browser does not show notifications of pages."; // some browsers of phones
      this.turnOff();
    }
  }
}

export const notifications = new Notifications();
