// What a run leaves: pictures beside the built programs, and the requirements that a test has shown.
import { appendFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Where pictures are kept, outside the checkout. */
export function pictures(): string {
  const built = process.env["HERMIT_PROGRAMS"] ?? (process.env["CARGO_TARGET_DIR"] && join(process.env["CARGO_TARGET_DIR"], "debug"));
  const folder = join(built === undefined || built === "" ? tmpdir() : dirname(built), "browser");
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Says, as the last thing a test does, which requirements it has shown: as `#[conforms]` does for tests in Rust. */
export function conforms(name: string, ...ids: string[]): void {
  const folder = process.env["HERMIT_CONFORMANCE_DIR"];
  if (folder === undefined || folder === "") return;
  const test = `browser::${name.replaceAll(/[^a-z0-9]+/gi, "_")}`;
  appendFileSync(join(folder, `browser-${process.pid}.tsv`), ids.map((id) => `${id}\t${test}\n`).join(""));
}
