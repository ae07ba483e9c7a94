// The access token. It is kept for the life of the browser tab and is never part of a URL.
const key = "unloop-token";

class Token {
  /** True once the server has refused us: the page then asks for a token. */
  wanted = $state(false);
  /** Why the server rejected the token; "" if it did not. */
  why = $state("");
  /** Grows with each token given, so that pages load again. */
  given = $state(0);

  get value(): string | null {
    try {
      return sessionStorage.getItem(key);
    } catch {
      return null; // the browser keeps nothing for this page
    }
  }

  refuse(why: string): void {
    this.why = this.value === null ? "" : why || this.why; // a request that the page gave up has no reason
    this.wanted = true;
  }

  give(value: string): void {
    try {
      sessionStorage.setItem(key, value.trim());
    } catch {
      return;
    }
    this.wanted = false;
    this.given++;
  }
}

export const token = new Token();
