// The path of the program unloop, for a Node agent that starts "unloop guard".
"use strict";

/** Returns the path of the program: UNLOOP_BIN, else the one of the package for this platform. Throws if there is none. */
function program() {
  if (process.env.UNLOOP_BIN) return process.env.UNLOOP_BIN;
  const name = `@unloop-ai/unloop-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/unloop${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    throw new Error(`the package ${name} is not installed: install without --omit=optional, or set UNLOOP_BIN`);
  }
}

module.exports = { program };
