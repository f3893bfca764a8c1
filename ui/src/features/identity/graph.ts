// The chain of an instance as it is drawn: which key signed which link, what is wrong where, and which links are in sight.
import type { Finding, TrustGraph, TrustLink } from "~/ipc/generated/identity";

/** Links that are in sight at first, and more with each step. */
export const STEP = 60;
/** Links with findings that are in sight whatever is folded. */
const FOUND_MAX = 40;

/** A link as it is drawn. */
export interface Row {
  link: TrustLink;
  /** The keys that signed it, by their numbers from 1, in the order in which the chain names them. */
  keys: { number: number; key: string }[];
  /** The number of the key in force behind it, from 0: the lane it is drawn in. */
  lane: number;
  /** The lane of the link before; none for the first. */
  from: number | null;
  findings: readonly Finding[];
  /** Whether nothing sound leads here from the link before. */
  isCut: boolean;
}

/** Findings with which nothing sound leads to a link from the one before. */
const CUTS: readonly string[] = ["gap", "fork", "second_genesis", "other_instance"];

/** The links of a chain, from the first to the newest. */
export function rowsOf(graph: Pick<TrustGraph, "links" | "findings">): Row[] {
  const numbers = new Map<string, number>();
  const found = new Map<number, Finding[]>();
  for (const one of graph.findings) {
    if (one.number === null) continue;
    const there = found.get(one.number);
    if (there === undefined) found.set(one.number, [one]);
    else there.push(one);
  }
  let lane: number | null = null;
  return graph.links.map((link) => {
    const keys = link.signed_by.map((key) => {
      const number = numbers.get(key) ?? numbers.size + 1;
      numbers.set(key, number);
      return { number, key };
    });
    const from = lane;
    const findings = found.get(link.number) ?? [];
    const signer = keys.at(-1);
    lane = signer === undefined ? lane ?? 0 : signer.number - 1;
    return { link, keys, lane, from, findings, isCut: findings.some((one) => CUTS.includes(one.what)) };
  });
}

/** Links in sight, by their places, with how many are left out before each; the first, the newest, and those with findings. */
export function inSight(rows: readonly Row[], steps: number, also: number | null): { at: number; left: number }[] {
  const shown = new Set<number>();
  if (rows.length > 0) shown.add(0);
  for (let at = Math.max(0, rows.length - STEP * (steps + 1)); at < rows.length; at += 1) shown.add(at);
  let found = 0;
  rows.forEach((row, at) => {
    if (row.findings.length > 0 && found < FOUND_MAX) {
      found += 1;
      shown.add(at);
    }
    if (row.link.number === also) shown.add(at);
  });
  let next = 0;
  return [...shown].sort((a, b) => a - b).map((at) => {
    const left = at - next;
    next = at + 1;
    return { at, left };
  });
}
