/** The mark of a test that proves requirements, as `#[conforms]` is in Rust: each id leaves a line once the test has passed. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

const ID = /^(?:HK|KS|RX|RA|HV)-[0-9A-Za-z.]+-[0-9]+[a-z]?$/;

/** A requirement of which a test shows a part. */
export interface Part { readonly part: string }

type Body = () => void | Promise<void>;

/** `test("what holds", conforms("HK-18.3-2", part("HK-18.3-3"), () => …))`; the body comes last. */
export const part = (id: string): Part => ({ part: id });

/** The mark for the tests of one suite, under whose name the report keeps them. */
export const markOf = (suite: string) => (...words: [...ids: (string | Part)[], body: Body]): (() => Promise<void>) => {
  const ids = (words.slice(0, -1) as (string | Part)[]).map((id) => typeof id === "string" ? { id, extent: "whole" } : { id: id.part, extent: "part" });
  const body = words.at(-1) as Body;
  const odd = ids.find(({ id }) => !ID.test(id));
  if (ids.length === 0 || odd !== undefined) throw new Error(`\`${odd?.id ?? ""}\` is no requirement`);
  return async () => {
    await body();
    const folder = process.env["HERMIT_CONFORMANCE_DIR"];
    if (folder === undefined || folder === "") return;
    const name = `${suite}::${(expect.getState().currentTestName ?? "").replaceAll(/[\t\n,]/g, "")}`;
    const lines = ids.map(({ id, extent }) => `${id}\t${name}\t${suite}\t${extent}\n`);
    appendFileSync(join(folder, `${suite}-${process.pid}.tsv`), lines.join(""));
  };
};

export const conforms = markOf("verifier");
