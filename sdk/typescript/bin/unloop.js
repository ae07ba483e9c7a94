#!/usr/bin/env node
// Runs the program that the package for this platform contains.
import { spawnSync } from "node:child_process";
import { constants } from "node:os";
import { program } from "../dist/guard/program.js";

let path = "";
try {
  path = program();
} catch (error) {
  console.error(`unloop: ${error.message}`);
  process.exit(2);
}
// The program gets the signals of the terminal itself. This process waits for it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const done = spawnSync(path, process.argv.slice(2), { stdio: "inherit" });
if (done.error) {
  console.error(`unloop: ${done.error.message}`);
  process.exit(2);
}
process.exit(done.signal ? 128 + constants.signals[done.signal] : (done.status ?? 1));
