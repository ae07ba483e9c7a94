/** The current time, for relative times. It updates every second while the page is visible. */
class Clock {
  now = $state.raw(new Date());

  constructor() {
    setInterval(() => {
      if (document.visibilityState === "visible") this.now = new Date();
    }, 1000);
  }
}

export const clock = new Clock();
