/** A clock for what is told relative to now; it ticks each second while somebody looks. */
class Clock {
  now = $state.raw(new Date());

  constructor() {
    setInterval(() => {
      if (document.visibilityState === "visible") this.now = new Date();
    }, 1000);
  }
}

export const clock = new Clock();
