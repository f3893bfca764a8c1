/** The mark of a test that proves requirements, as `#[conforms]` is in Rust: each id leaves a line once the test has passed. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

const ID = /^(?:HK|KS|RX|RA|HV)-[0-9A-Za-z.]+-[0-9]+[a-z]?$/;

/** `test("what holds", conforms("HK-18.3-2", () => …))`; the body comes last. */
export function conforms(...words: [...ids: string[], body: () => void | Promise<void>]): () => Promise<void> {
  const ids = words.slice(0, -1) as string[];
  const body = words.at(-1) as () => void | Promise<void>;
  const odd = ids.find((id) => !ID.test(id));
  if (ids.length === 0 || odd !== undefined) throw new Error(`\`${odd ?? ""}\` is no requirement`);
  return async () => {
    await body();
    const folder = process.env["HERMIT_CONFORMANCE_DIR"];
    if (folder === undefined) return;
    const name = `verifier::${(expect.getState().currentTestName ?? "").replaceAll(/[\t\n,]/g, "")}`;
    for (const id of ids) appendFileSync(join(folder, `verifier-${process.pid}`), `${id}\t${name}\n`);
  };
}
