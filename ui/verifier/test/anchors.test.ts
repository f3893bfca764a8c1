/** Bundles of a store that anchored its log and knows who it is: what they prove to whom, and every way to bend them. */
import { describe, expect, test } from "vitest";
import { parseCheckpoint, parseNote } from "../src/verify/note.ts";
import { concat, hex, hexExact, textOf, utf8 } from "../src/verify/read/bytes.ts";
import { digestOf, sha256 } from "../src/verify/read/digest.ts";
import { reportText } from "../src/verify/report.ts";
import { asked, by, check, clocks, genesis, json, note, of, ots, plain, second, subject, TIME, way, whole } from "./anchored.ts";
import { bound, LOG_ID, links, signedLink } from "./build.ts";
import { stamped } from "./stamp.ts";
import { conforms, part } from "./conforms.ts";
import { data, filesOf } from "./place.ts";

const single = filesOf(data("receipt.zip"));

describe("a bundle with anchors", () => {
  test("tells which clocks agree and the widest interval that is proven", conforms(part("HV-3.6-3"), () => {
    const { report } = check(whole, clocks);
    expect(report.verdict).toBe("valid");
    expect(report.anchors.map(({ number, clock, state, covers_task }) => `${number} ${clock} ${state} ${covers_task}`)).toEqual([
      "7 rfc3161 anchored true", "7 opentimestamps anchored true", "7 op_return anchored true", "12 opentimestamps unproven false",
    ]);
    expect(report.proven_not_after).toBe(Date.UTC(2026, 10, 28, 12));
    expect(report.anchors.map(({ block_height }) => block_height)).toEqual([null, 101, 102, null]);
    const said = reportText(report);
    expect(said).toContain("existed before 2026-11-28 12:00:00 UTC, each of the 2 receipts here too; 3 clocks agree");
    expect(said).toContain("the newest event here is of");
    expect(said).toContain("which is on trust");
    expect(said).toContain("that the clock of `Own` was right");
  }));

  test("proves no time to whoever has nothing to check it with, and is no less valid", () => {
    const { report } = check(whole);
    expect(report).toMatchObject({ verdict: "valid", proven_not_after: null });
    expect(report.anchors.map(({ state }) => state)).toEqual(["unproven", "unproven", "unproven", "unproven"]);
    expect(report.asserted.join()).toContain("the times are those of the machine's own clock");
    expect(report.not_shown.join()).toContain("is not proven with what you gave");
    // One clock alone proves what it proves.
    expect(check(whole, { authorities: [], ...(clocks.headers && { headers: clocks.headers }) }).report.proven_not_after).toBe((TIME + 600) * 1000);
  });

  test("of a head without the task proves nothing of the task", () => {
    const files = new Map(whole);
    files.delete("anchors/7.tlog-proof");
    const { report } = check(files, clocks);
    expect(report).toMatchObject({ verdict: "valid", proven_not_after: null });
    expect(report.proven.join()).toContain("does not cover the task");
  });

  test("may be of one receipt alone", () => {
    const { checkpoint } = { checkpoint: of(single, "task/checkpoint.tlog-proof") };
    const noted = utf8(textOf(checkpoint, "proof").slice(textOf(checkpoint, "proof").indexOf("\n\n") + 2));
    const said = parseCheckpoint(parseNote(noted).text);
    const sum = digestOf(utf8(parseNote(noted).text));
    const files = new Map(single)
      .set("anchors/1.json", json({ digest: sum, number: 1, requested_at: 5, subject: { of: "head", origin: said.origin, size: Number(said.size), root: hex(said.root), note_sha256: digestOf(noted) } }))
      .set("anchors/1.checkpoint", noted)
      .set("anchors/1.consistency", utf8(`hermit-consistency/1\nold ${said.size}\nnew ${said.size}\n`))
      .set("anchors/1.tlog-proof", checkpoint)
      .set("anchors/1.rfc3161.tsr", stamped(hexExact("digest", sum, 32), { by }).response);
    expect(check(files, clocks).report).toMatchObject({ verdict: "valid", proven_not_after: Date.UTC(2026, 10, 28, 12) });
  });

  test("is invalid where an insider bends an anchor, at its place", () => {
    const bent: [string, Uint8Array | undefined, string?][] = [
      ["anchors/7.json", undefined],
      ["anchors/7.json", asked(8)],
      ["anchors/7.json", asked(7, { digest: "aa".repeat(32) })],
      ["anchors/7.json", asked(7, { more: 1 })],
      ["anchors/7.json", asked(7, { subject: { ...subject, size: 1 } }), "anchors/7.checkpoint"],
      ["anchors/7.json", asked(7, { subject: { ...subject, note_sha256: "aa".repeat(32) } }), "anchors/7.checkpoint"],
      ["anchors/7.json", asked(7, { subject: { of: "link", number: 1 } }), "anchors/7.checkpoint"],
      ["anchors/7.checkpoint", undefined],
      ["anchors/7.checkpoint", of(plain, "task/checkpoint")],
      ["anchors/7.consistency", undefined],
      ["anchors/7.consistency", utf8(`${textOf(way, "way")}${"aa".repeat(32)}\n`)],
      ["anchors/7.tlog-proof", of(plain, "gate/checkpoint.tlog-proof")],
      ["anchors/7.rfc3161.tsr", stamped(sha256(utf8("x")), { by }).response],
      ["anchors/7.rfc3161.tsr", data("clocks/rsa.tsr")],
      ["anchors/7.opentimestamps.ots", data("clocks/pending.ots")],
      ["anchors/7.op_return.json", utf8("{}")],
      ["anchors/12.json", asked(12, { digest: genesis.sha256, subject: { of: "link", number: 2 } })],
      ["anchors/12.json", asked(12, { digest: second.sha256, subject: { of: "link", number: 3 } })],
      ["anchors/12.checkpoint", note],
      ["anchors/12.opentimestamps.ots", undefined, "anchors/12.json"],
      ["identity/key.json", undefined],
      ["identity/key.json", bound(2), "identity/links.jsonl"],
      ["identity/links.jsonl", undefined],
      ["identity/links.jsonl", concat(second.line, utf8("\n"))],
      ["identity/links.jsonl", genesis.line],
    ];
    for (const [name, bytes, place] of bent) {
      const files = new Map(whole);
      if (bytes) files.set(name, bytes);
      else files.delete(name);
      expect(check(files, clocks).report, name).toMatchObject({ verdict: "invalid", place: place ?? name });
    }
  });

  test("carries no more anchors than eight", () => {
    const files = new Map(plain);
    for (let number = 1; number <= 9; number += 1) files.set(`anchors/${number}.json`, asked(number)).set(`anchors/${number}.checkpoint`, note).set(`anchors/${number}.consistency`, way).set(`anchors/${number}.opentimestamps.ots`, ots);
    expect(check(files).report).toMatchObject({ verdict: "invalid", place: "anchors" });
  });
});

test("who the instance is follows from a bundle offline", conforms(part("HV-3.9-4"), () => {
  const { report } = check(whole);
  expect(report.identity).toMatchObject({ instance_id: LOG_ID, unbroken: true, links: 2, findings: [] });
  expect(report.proven.join()).toContain("2 links lead back to the genesis of instance");
  expect(check(plain).report.identity).toBeNull();
  const forked = concat(genesis.line, utf8("\n"), second.line, utf8("\n"), signedLink(links.attestation(1, 3, 5, genesis.sha256), 1).line, utf8("\n"));
  const told = check(new Map(whole).set("identity/links.jsonl", forked)).report;
  expect(told).toMatchObject({ verdict: "invalid", place: "identity/links.jsonl" });
  expect(told.identity?.findings.map(({ what, number }) => [what, number])).toEqual([["fork", 3]]);
  // A chain that is whole in itself, of another instance or of another log.
  expect(check(new Map([...plain, ["identity/key.json", bound(1, { instance_id: "x" })], ["identity/links.jsonl", concat(signedLink({ ...links.attestation(1, 1, 3), instance_id: "x" }, 1).line, utf8("\n"))]])).report).toMatchObject({ verdict: "invalid", place: "identity/key.json" });
}));
