// The warnings of a run, as a stream tells their changes.
import type { RunUpdate, Warning } from "../api/names";

export type WarningChanges = Pick<RunUpdate, "warnings" | "warnings_cleared" | "warnings_reset">;

export class WarningList {
  private readonly byID = new Map<string, Warning>();

  /** Takes what a message says of warnings, and returns whether anything changed. The first message of a connection has all. */
  take(u: WarningChanges): boolean {
    const changed = u.warnings ?? [];
    const cleared = u.warnings_cleared ?? [];
    if (u.warnings_reset) this.byID.clear();
    for (const id of cleared) this.byID.delete(id);
    for (const w of changed) this.byID.set(w.warning_id, w);
    return u.warnings_reset === true || cleared.length > 0 || changed.length > 0;
  }

  /** All warnings, the first raised first. */
  list(): Warning[] {
    return [...this.byID.values()];
  }
}
