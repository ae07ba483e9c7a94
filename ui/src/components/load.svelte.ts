/** Load runs a request and holds its value, its error and whether it is in progress. A new request cancels the previous one. */
export class Load<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<unknown>(null);
  busy = $state(false);
  private abort: AbortController | null = null;

  async run(ask: (signal: AbortSignal) => Promise<T>): Promise<void> {
    this.abort?.abort();
    const abort = (this.abort = new AbortController());
    this.busy = true;
    this.error = null;
    try {
      const value = await ask(abort.signal);
      if (!abort.signal.aborted) this.value = value;
    } catch (e) {
      if (!abort.signal.aborted) this.error = e;
    } finally {
      if (this.abort === abort) this.busy = false;
    }
  }

  stop(): void {
    this.abort?.abort();
  }
}
