// Finds the program unloop.

import { builtin, environment } from "../runtime.js";
import { GuardUnavailable } from "./decision.js";

/** Returns the path of the program: UNLOOP_BIN, else the one of the package for this platform, else the one on the PATH. */
export function program(): string {
  const found = findProgram();
  if (found) return found;
  throw new GuardUnavailable(
    `the package ${platformPackage()} is not installed, and there is no unloop on the PATH: install without --omit=optional, ` +
      "or set UNLOOP_BIN",
  );
}

/** Returns the path of the program, or "". Throws GuardUnavailable if UNLOOP_BIN is not a program. */
export function findProgram(): string {
  const configured = environment("UNLOOP_BIN");
  if (!configured) return bundled() || onPath("unloop");
  const path = configured.includes("/") || configured.includes("\\") ? configured : onPath(configured);
  if (!path || !isExecutable(path)) throw new GuardUnavailable(`UNLOOP_BIN is ${configured}, which is not an executable program`);
  return path;
}

const suffix = (): string => (globalThis.process?.platform === "win32" ? ".exe" : "");

function platformPackage(): string {
  return `@unloop-ai/unloop-${globalThis.process?.platform}-${globalThis.process?.arch}`;
}

function bundled(): string {
  try {
    return (
      builtin("node:module")
        ?.createRequire(import.meta.url)
        .resolve(`${platformPackage()}/bin/unloop${suffix()}`) ?? ""
    );
  } catch {
    return "";
  }
}

function onPath(name: string): string {
  const path = builtin("node:path");
  for (const folder of path ? environment("PATH").split(path.delimiter) : []) {
    const candidate = path?.join(folder, name + suffix()) ?? "";
    if (folder && isExecutable(candidate) && !isScript(candidate)) return candidate;
  }
  return "";
}

function isExecutable(path: string): boolean {
  const fs = builtin("node:fs");
  try {
    fs?.accessSync(path, fs.constants.X_OK);
    return fs?.statSync(path).isFile() ?? false;
  } catch {
    return false;
  }
}

/** Reports whether this is a script. The command of this package is one, and would look for the program again. */
function isScript(path: string): boolean {
  const fs = builtin("node:fs");
  const start = new Uint8Array(2);
  const file = fs?.openSync(path, "r");
  if (!fs || file === undefined) return false;
  fs.readSync(file, start, 0, 2, 0);
  fs.closeSync(file);
  return start[0] === 0x23 && start[1] === 0x21; // #!
}
