#!/usr/bin/env node
// Starts the program of this machine's package, with the same arguments, input and output.

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

/** Returns the path of the program. */
export function program() {
  const name = `pos-sandbox-${process.platform}-${process.arch}`;
  try {
    return fileURLToPath(import.meta.resolve(`${name}/pos-sandbox`));
  } catch {
    throw new Error(`pos-sandbox needs the package ${name}, which is for Linux on x64 or arm64 only`);
  }
}

if (process.argv[1] && import.meta.filename && (await import("node:fs")).realpathSync(process.argv[1]) === import.meta.filename) {
  const running = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => running.kill(signal));
  running.on("error", (error) => {
    console.error(`pos-sandbox: ${error.message}`);
    process.exit(70);
  });
  running.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
