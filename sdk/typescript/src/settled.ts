// Calls a function and detects when it has ended, whether it returns a value, a promise or an asynchronous generator.

type Generator = AsyncGenerator<unknown, unknown, unknown>;

/** Runs a part of the function in the context that it belongs to. */
export type Enter = <R>(part: () => R) => R;

const MAX_ITEMS = 1000; // items of a generator that are its result

/**
 * Calls fn within enter and returns what it returns. Calls done with the result, or failed with what was thrown. The result of a
 * generator is the list of items that it yielded.
 */
export function whenSettled<R>(fn: () => R, enter: Enter, done: (result: unknown) => void, failed: (error: unknown) => void): R {
  let result: R;
  try {
    result = enter(fn);
  } catch (error) {
    failed(error);
    throw error;
  }
  if (isGenerator(result)) return follow(result, enter, done, failed) as R;
  if (!isPromise(result)) {
    done(result);
    return result;
  }
  return result.then(
    (value) => {
      done(value);
      return value;
    },
    (error: unknown) => {
      failed(error);
      throw error;
    },
  ) as R;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise;
}

function isGenerator(value: unknown): value is Generator {
  return typeof value === "object" && value !== null && Object.prototype.toString.call(value) === "[object AsyncGenerator]";
}

async function* follow(
  inner: Generator,
  enter: Enter,
  done: (result: unknown) => void,
  failed: (error: unknown) => void,
): Generator {
  const items: unknown[] = [];
  let more = 0;
  let ended = false;
  const end = (act: () => void): void => {
    if (!ended) act();
    ended = true;
  };
  const output = (): unknown[] => (more > 0 ? [...items, `… [${more} more]`] : items);
  try {
    let sent: unknown;
    while (true) {
      const step = await enter(() => inner.next(sent));
      if (step.done) {
        end(() => done(output()));
        return step.value;
      }
      if (items.length < MAX_ITEMS) items.push(step.value);
      else more++;
      sent = yield step.value;
    }
  } catch (error) {
    end(() => failed(error));
    throw error;
  } finally {
    if (!ended) {
      await enter(() => inner.return(undefined)); // the caller left early
      end(() => done(output()));
    }
  }
}
