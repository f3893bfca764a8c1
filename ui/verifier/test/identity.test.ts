/** Chains of an instance: five generations that hold, and every tampered one by its name. */
import { describe, expect, test } from "vitest";
import { follow, type Graph } from "../src/verify/identity.ts";
import { textOf, utf8 } from "../src/verify/read/bytes.ts";
import { bound, instanceKey, links, signedLink } from "./build.ts";

const { attestation, handover, revocation } = links;

/** Five keys, each attested and handed over to the next; the second is revoked at the end. */
function generations(): Uint8Array[] {
  const lines: Uint8Array[] = [];
  let last: string | undefined;
  let at = 1000;
  const add = (link: Record<string, never> | ReturnType<typeof attestation>, ...signers: number[]): void => {
    const { line, sha256 } = signedLink(link, ...signers);
    lines.push(line);
    [last, at] = [sha256, at + 1];
  };
  for (let key = 1; key <= 5; key += 1) {
    add(attestation(key, key, at, last), key);
    if (key < 5) add(handover(key, key + 1, at, last ?? ""), key, key + 1);
  }
  add(revocation(2, 5, at, last ?? ""), 5);
  return lines;
}

const found = (graph: Graph): string[] => graph.findings.map(({ what, number }) => `${what} ${number ?? "key"}`);
const GENESIS = signedLink(attestation(1, 1, 1000), 1);
const names = (lines: readonly Uint8Array[], key: Uint8Array | undefined = bound(1)): string[] => found(follow(key, lines));

describe("a chain", () => {
  test("of five generations leads back to genesis", () => {
    const graph = follow(bound(1), generations());
    expect(graph.findings).toEqual([]);
    expect(graph.links).toHaveLength(10);
    expect(graph.keyInForce).toBe(instanceKey(5).pubkey);
    expect(graph.logKey).toBeDefined();
    // Without the statement it is whole too, and no log's key is known.
    expect(follow(undefined, generations())).toMatchObject({ findings: [], instanceId: graph.instanceId });
  });

  test("names what was done to it", () => {
    const all = generations();
    expect(names(all.toSpliced(1, 1))[0]).toBe("gap 2");
    expect(names(all.toSpliced(1, 0, all[0] ?? new Uint8Array()))[0]).toBe("out_of_order 2");
    expect(names(all.toSpliced(1, 2, all[2] ?? new Uint8Array(), all[1] ?? new Uint8Array()))[0]).toBe("out_of_order 2");
    const second = signedLink(attestation(1, 2, 1001, GENESIS.sha256), 1);
    const other = signedLink(attestation(1, 3, 1002, GENESIS.sha256), 1);
    expect(names([GENESIS.line, second.line, other.line])).toEqual(["fork 3"]);
    expect(names([GENESIS.line, signedLink(attestation(1, 2, 1001), 1).line])).toEqual(["second_genesis 2"]);
    expect(names([GENESIS.line, signedLink({ ...attestation(1, 2, 1001, GENESIS.sha256), instance_id: "another" }, 1).line])).toEqual(["other_instance 2"]);
    expect(names([GENESIS.line, signedLink(attestation(4, 2, 1001, GENESIS.sha256), 4).line])).toEqual(["unknown_key 2"]);
    expect(names([GENESIS.line, signedLink(attestation(1, 2, 1001, GENESIS.sha256), 4).line])).toEqual(["bad_signature 2"]);
    expect(names([GENESIS.line, signedLink(attestation(1, 2, 999, GENESIS.sha256), 1).line])[0]).toBe("out_of_order 2");
    expect(names([signedLink(attestation(2, 1, 1000), 2).line])).toEqual(["no_log_key 1"]);
    expect(names([GENESIS.line, utf8("{}")])).toEqual(["malformed 2"]);
    expect(names([GENESIS.line, signedLink({ ...attestation(1, 2, 1001, GENESIS.sha256), more: 1 }, 1).line])).toEqual(["malformed 2"]);
  });

  test("believes no key that handed over, and both keys of a hand-over sign", () => {
    const over = signedLink(handover(1, 2, 1001, GENESIS.sha256), 1, 2);
    expect(names([GENESIS.line, over.line, signedLink(attestation(1, 2, 1002, over.sha256), 1).line])).toEqual(["revoked_key 3"]);
    expect(names([GENESIS.line, over.line, signedLink(handover(2, 1, 1002, over.sha256), 2, 1).line])).toEqual(["revoked_key 3"]);
    for (const signers of [[1], [2, 1], [1, 1], [2], [1, 2, 2]]) {
      expect(names([GENESIS.line, signedLink(handover(1, 2, 1001, GENESIS.sha256), ...signers).line]), signers.join()).toEqual(["bad_signature 2"]);
    }
    expect(names([GENESIS.line, signedLink(handover(1, 1, 1001, GENESIS.sha256), 1, 1).line])).toEqual(["malformed 2"]);
    expect(names([GENESIS.line, signedLink(revocation(3, 1, 1001, GENESIS.sha256), 1).line])).toEqual(["unknown_key 2"]);
  });

  test("is bound to the log by both keys", () => {
    const text = textOf(bound(1), "key");
    for (const wrong of [text.replace(/"signature_by_log":"./, '"signature_by_log":"'), text.replace("hermit-instance-key/1", "hermit-instance-key/2"), text.replace('"aaaa', '"aaab'), "{}", ""]) {
      expect(names([GENESIS.line], utf8(wrong))).toContain("no_log_key key");
    }
    expect(names([GENESIS.line], bound(1, { soul_sha256: "ac".repeat(32) }))).toEqual(["no_log_key 1"]);
  });

  test("with a byte changed has a finding", () => {
    const flipped = (bytes: Uint8Array, at: number): Uint8Array => bytes.map((byte, place) => (place === at ? byte ^ 1 : byte));
    for (let at = 0; at < GENESIS.line.length; at += 1) {
      expect(found(follow(undefined, [flipped(GENESIS.line, at)])).length, `link ${at}`).toBeGreaterThan(0);
    }
    // Each of these checks three signatures, so not all of them are tried.
    const key = bound(1);
    for (let at = 0; at < key.length; at += 7) expect(names([GENESIS.line], flipped(key, at)).length, `key ${at}`).toBeGreaterThan(0);
  });
});

test("a chain is bounded", () => {
  expect(names([utf8(`"${"x".repeat(17_000)}"`)])).toEqual(["malformed 1"]);
  const many = Array.from({ length: 10_001 }, () => utf8("1"));
  expect(names(many)).toHaveLength(10_001);
});
