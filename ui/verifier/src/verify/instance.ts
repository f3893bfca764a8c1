/** The chain of the instance as a bundle has it: whether it leads back to genesis, and belongs to this log (HV-3.9-4). */
import type { Check } from "./check.ts";
import { follow, type Graph } from "./identity.ts";
import * as l from "./layout.ts";
import type { Predicate } from "./manifest.ts";
import type { IdentityFound } from "./report.ts";
import { Stop } from "./read/stop.ts";

/** One more than are followed, so that a file of newlines is no memory. */
const LINES_MAX = 10_001;
/** Findings that go into a report. */
const FINDINGS_MAX = 50;

/** Reads and follows the chain, where there is one. A bundle says that it is unbroken, so whatever is found in it makes it invalid. */
export function checkInstance(check: Check, about: Predicate): void {
  const [hasKey, hasLinks] = [check.has(l.IDENTITY_KEY), check.has(l.IDENTITY_LINKS)];
  if (!hasKey && !hasLinks) return;
  if (hasKey !== hasLinks) throw new Stop(hasKey ? l.IDENTITY_LINKS : l.IDENTITY_KEY, "it is missing");
  const key = check.whole(l.IDENTITY_KEY, l.SMALL_BYTES_MAX);
  const graph = follow(key, linesOf(check.whole(l.IDENTITY_LINKS, l.WHOLE_BYTES_MAX)));
  check.graph = graph;
  const [first] = graph.findings;
  if (first) throw new Stop(first.number === null ? l.IDENTITY_KEY : l.IDENTITY_LINKS, `${first.number === null ? "" : `line ${first.number}: `}${first.what}: ${first.says}`);
  if (graph.instanceId !== about.log_id) throw new Stop(l.IDENTITY_KEY, "it is of another instance than this log");
  if (!check.rotations.ever("log").some(({ hex }) => hex === graph.logKey)) {
    throw new Stop(l.IDENTITY_KEY, "the log's key that it names is neither this bundle's nor one that it followed");
  }
}

function linesOf(bytes: Uint8Array): Uint8Array[] {
  if (bytes.at(-1) !== 0x0a) throw new Stop(l.IDENTITY_LINKS, "its final newline is missing");
  const lines: Uint8Array[] = [];
  for (let start = 0; start < bytes.length && lines.length < LINES_MAX; ) {
    const end = bytes.indexOf(0x0a, start);
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

/** What is known of the chain, for the report. */
export function instanceFound(graph: Graph | undefined): IdentityFound | null {
  if (!graph) return null;
  const findings = graph.findings.slice(0, FINDINGS_MAX);
  return { instance_id: graph.instanceId ?? null, unbroken: graph.findings.length === 0, key_in_force: graph.keyInForce ?? null, links: graph.links.length, findings };
}

/** What is proven of the instance. */
export function instanceInWords({ instanceId, keyInForce, links }: Graph): string {
  const many = links.length === 1 ? "1 link leads" : `${links.length} links lead`;
  return `who it is: ${many} back to the genesis of instance ${instanceId ?? ""}, unbroken and each signed by the key in force then; the log's key and its first key signed each other, and ${keyInForce ?? ""} is in force`;
}
