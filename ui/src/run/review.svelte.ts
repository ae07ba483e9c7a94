// What people say of a run: its label, and its acknowledged and muted warnings.
import { api } from "../api/client";
import type { Act, NewAct, Review, Warning } from "../api/names";

export class RunReview {
  review = $state.raw<Review | null>(null);
  error = $state.raw<unknown>(null);
  busy = $state(false);
  private readonly abort = new AbortController();

  constructor(private readonly id: string) {
    void this.load();
  }

  close(): void {
    this.abort.abort();
  }

  private async load(): Promise<void> {
    try {
      this.review = await api.review(this.id, this.abort.signal);
    } catch (e) {
      if (!this.abort.signal.aborted && (e as { status?: number }).status !== 404) this.error = e;
    }
  }

  /** Does an act on the run, and shows the state after it. It returns whether the act was done. */
  async act(act: NewAct): Promise<boolean> {
    this.busy = true;
    this.error = null;
    try {
      await api.act({ run_id: this.id, ...act });
      await this.load();
      return true;
    } catch (e) {
      this.error = e;
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** The person who has seen a warning; empty for nobody. */
  seenBy(w: Warning): string {
    return this.review?.acknowledged?.find((a) => a.warning_id === w.warning_id)?.who ?? "";
  }

  /** The mute that holds for a warning, or null. */
  muteOf(w: Warning): Act | null {
    return this.review?.mutes?.find((m) => m.rule === w.type && (m.tool === "" || m.tool === w.tool)) ?? null;
  }
}
