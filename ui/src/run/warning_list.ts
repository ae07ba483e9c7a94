// The warnings of a run, kept up to date from the changes in its stream.
import type { RunUpdate, Warning } from "../api/names";

export type WarningChanges = Pick<RunUpdate, "warnings" | "warnings_cleared" | "warnings_reset">;

export class WarningList {
  private readonly byID = new Map<string, Warning>();

  /** Applies the warning changes of a message and returns whether anything changed. The first message of a connection has all warnings. */
  take(u: WarningChanges): boolean {
    const changed = u.warnings ?? [];
    const cleared = u.warnings_cleared ?? [];
    if (u.warnings_reset) this.byID.clear();
    for (const id of cleared) this.byID.delete(id);
    for (const w of changed) this.byID.set(w.warning_id, w);
    return u.warnings_reset === true || cleared.length > 0 || changed.length > 0;
  }

  /** All warnings, the oldest first. */
  list(): Warning[] {
    return [...this.byID.values()];
  }
}
