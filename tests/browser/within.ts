// A wait that ends: what has not come within its time is named.
import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from "node:child_process";

/** How long a command may take, a host to start, and a process to end, on a machine of which three times as much is asked as usual. */
const COMMAND_MS = 180_000;
export const START_MS = 180_000;
export const END_MS = 60_000;

/** What `promise` comes to; after `ms` an error that says what was waited for, and `more` that is known by then. */
export async function within<T>(ms: number, what: string, promise: Promise<T>, more: () => string = () => ""): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, failed) => {
    timer = setTimeout(() => {
      const known = more();
      failed(new Error(`waited ${ms / 1000} s for ${what}${known === "" ? "" : `; until then:\n${known}`}`));
    }, ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a program to its end; what it printed. Nothing else of this test goes on meanwhile, so one that hangs is killed here. */
export function ran(program: string, words: string[], options: ExecFileSyncOptionsWithStringEncoding): string {
  try {
    return execFileSync(program, words, { ...options, timeout: COMMAND_MS, killSignal: "SIGKILL" });
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== "ETIMEDOUT") throw thrown;
    const { stdout, stderr } = thrown as { stdout?: string; stderr?: string };
    throw new Error(`waited ${COMMAND_MS / 1000} s for \`${[program, ...words].join(" ")}\`; until then:\n${stdout ?? ""}${stderr ?? ""}`);
  }
}
