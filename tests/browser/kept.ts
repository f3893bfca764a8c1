// What a run leaves: pictures beside the built programs, and the requirements that a test has shown.
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { markOf } from "../../ui/verifier/test/conforms";

/** Where pictures are kept, outside the checkout. */
export function pictures(): string {
  const built = process.env["HERMIT_PROGRAMS"] ?? (process.env["CARGO_TARGET_DIR"] && join(process.env["CARGO_TARGET_DIR"], "debug"));
  const folder = join(built === undefined || built === "" ? tmpdir() : dirname(built), "browser");
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The mark of a test of the pages that proves requirements. */
export const conforms = markOf("browser");
