/** Bundles under test: read, changed by forgers, cut by chance. That both implementations agree is tested in Rust. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ed25519 } from "@noble/curves/ed25519.js";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { textOf, utf8 } from "../src/verify/read/bytes.ts";
import { verify, type Checked } from "../src/verify/check.ts";
import { digestOf } from "../src/verify/read/digest.ts";
import { isKnown, parseName } from "../src/verify/layout.ts";
import { PublicKey } from "../src/verify/keys.ts";
import { WitnessKey } from "../src/verify/cosignature.ts";
import { parseNote } from "../src/verify/note.ts";
import { parseTrust } from "../src/verify/trust.ts";
import { openZip, writeZip } from "../src/verify/zip.ts";
import { by, headers, whole } from "./anchored.ts";
import { packed } from "./build.ts";
import { data, filesOf } from "./place.ts";

const task = data("task.zip");
const receipt = data("receipt.zip");
const key = textOf(data("log.pub.pem"), "key");
const trust = [parseTrust(key)];
const check = (zip: Uint8Array, keys = trust): Checked => verify(() => openZip(zip), keys);
const verdict = (zip: Uint8Array, keys = trust): string => check(zip, keys).report.verdict;
/** Lets the runner hear that this goes on, also on a machine that is busy. */
const breath = (): Promise<void> => new Promise((next) => setImmediate(next));
/** Numbers by a seed, so that a failure comes again. */
const dice = (seed: number) => (end: number): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * end);
};

test("a task and a receipt alone are proven to whoever trusts the log key", () => {
  for (const zip of [task, receipt]) {
    const { report, refusedBy } = check(zip);
    expect(report.verdict).toBe("valid");
    expect(refusedBy).toBeUndefined();
    expect(report.trusted).toEqual(["log"]);
    expect(report.proven.length).toBeGreaterThan(2);
    expect(report.asserted.join()).toContain("integrity, order and authority");
  }
  expect(check(task).report.counts).toMatchObject({ receipts: 2, decisions: 2, redacted: 0 });
});

test("keys that followed others lead from the one the reader has, and a checkpoint from before to this one", () => {
  const rotated = data("rotated.zip");
  const before = [parseTrust(textOf(data("rotated.before.pub.pem"), "key"))];
  const since = data("rotated.before.checkpoint");
  const { report } = verify(() => openZip(rotated), before, since);
  expect(report.verdict).toBe("valid");
  expect(report.trusted).toEqual(["log"]);
  expect(report.proven.join("\n")).toContain("followed the one you named");
  expect(report.proven.join("\n")).not.toMatch(/\b1 successions/);
  expect(report.proven.join("\n")).toContain("since the checkpoint you hold the log was only appended to");
  for (const name of [...filesOf(rotated).keys()].filter((one) => one.startsWith("keys/rotations/"))) {
    const files = filesOf(rotated);
    files.delete(name);
    expect(verify(() => openZip(writeZip(files)), before).report.verdict, name).not.toBe("valid");
  }
});

test("a machine of the mesh or another witness is told by its name where the reader names its key", () => {
  const rotated = data("rotated.zip");
  const head = parseNote(filesOf(rotated).get("log/checkpoint") ?? new Uint8Array());
  const name = head.signatures.at(-1)?.name ?? "";
  const signer = PublicKey.fromBytes(ed25519.getPublicKey(new Uint8Array(32).fill(201)));
  const told = (witness: WitnessKey) => {
    const before = parseTrust(textOf(data("rotated.before.pub.pem"), "key"));
    const { report } = verify(() => openZip(rotated), [before, parseTrust(witness.toString())]);
    expect(report.verdict).toBe("valid");
    return { proven: report.proven.join("\n"), missing: report.not_shown.join("\n") };
  };
  expect(told(new WitnessKey(name, signer)).proven).toContain(`the witness ${name}, whose key you named, has seen this log only grow`);
  const machine = `hermit.local/node/${"ab".repeat(32)}`;
  const other = told(new WitnessKey(machine, signer));
  expect(other.proven).not.toContain("whose key you named");
  expect(other.missing).toContain(`a cosignature by the witness ${machine}`);
});

test("without a trusted key the best verdict says who signed", () => {
  const { report } = check(task, []);
  expect(report.verdict).toBe("unverifiable");
  expect(JSON.stringify(report)).toContain(report.keys["manifest"]);
  expect(verdict(task, [parseTrust("0".repeat(64))])).toBe("unverifiable");
});

test("a key is recognised in every spelling a person holds it in, and in no other", () => {
  const { check: checked } = check(task);
  const log = checked?.keys.log;
  const vkey = textOf(filesOf(task).get("keys/log.vkey") ?? new Uint8Array(), "vkey");
  for (const text of [key, key.trim(), log?.keyid ?? "", log?.fingerprint ?? "", vkey, `  ${log?.keyid}\n`]) {
    expect(verdict(task, [parseTrust(text)]), text).toBe("valid");
  }
  for (const text of ["", "x", "abc+def", key.replace("MCow", "MCoW"), `${log?.keyid}0`, log?.keyid.toUpperCase() ?? ""]) {
    expect(() => parseTrust(text), text).toThrow();
  }
});

describe("changes", () => {
  test("a changed byte anywhere is refused, and the step that refuses it is told", async () => {
    const roll = dice(1);
    const caught = new Map<string, number>();
    for (let round = 0; round < 300; round += 1) {
      await breath();
      const zip = round % 3 === 0 ? receipt : task;
      const mutant = zip.slice();
      const at = roll(zip.length);
      mutant[at] = (mutant[at] ?? 0) ^ (1 << roll(8));
      const { report, refusedBy } = check(mutant);
      expect(report.verdict, `byte ${at}`).toBe("invalid");
      caught.set(refusedBy ?? "", (caught.get(refusedBy ?? "") ?? 0) + 1);
    }
    console.log(`300 changed bytes refused by: ${[...caught].map(([step, times]) => `${step} ${times}`).join(", ")}`);
    expect(caught.size).toBeGreaterThan(5);
  });

  test("what is cut, grown or joined is refused", async () => {
    const roll = dice(2);
    for (let round = 0; round < 100; round += 1) {
      await breath();
      const at = roll(task.length);
      expect(verdict(task.slice(0, at))).toBe("invalid");
      expect(verdict(Uint8Array.of(...task.slice(0, at % 4000), 0, ...task.slice(at % 4000)))).toBe("invalid");
    }
    for (const more of [[0], [...task.slice(0, 22)]]) {
      expect(verdict(Uint8Array.from([...task, ...more]))).toBe("invalid");
      expect(verdict(Uint8Array.from([...more, ...task]))).toBe("invalid");
    }
    expect(verdict(new Uint8Array())).toBe("invalid");
    expect(verdict(new Uint8Array(4096))).toBe("invalid");
  });

  test("lines deleted, doubled or swapped, and sums made right again, are refused", async () => {
    const files = filesOf(task);
    const refuse = (name: string, lines: string[]): void => {
      const changed = new Map(files).set(name, utf8(lines.join("")));
      const sums = [...changed].filter(([file]) => !file.startsWith("SHA256SUMS")).map(([file, bytes]) => `${digestOf(bytes)}  ${file}\n`);
      const repaired = new Map(changed).set("SHA256SUMS", utf8(sums.join("")));
      for (const forged of name === "SHA256SUMS" ? [changed] : [changed, repaired]) {
        expect(verdict(writeZip(forged)), name).toBe("invalid");
      }
    };
    for (const name of ["task/events.jsonl", "gate/entries.jsonl", "SHA256SUMS", "task/checkpoint", "keys/log.vkey"]) {
      const lines = textOf(files.get(name) ?? new Uint8Array(), name).match(/[^\n]*\n/g) ?? [];
      for (let at = 0; at < lines.length; at += Math.ceil(lines.length / 8)) {
        await breath();
        refuse(name, lines.toSpliced(at, 1));
        refuse(name, lines.toSpliced(at, 0, lines[at] ?? ""));
        if (at > 0 && lines[at] !== lines[at - 1]) refuse(name, lines.toSpliced(at - 1, 2, lines[at] ?? "", lines[at - 1] ?? ""));
      }
      refuse(name, lines.map((line) => line.replace("\n", "\r\n")));
    }
  });

  test("files removed, added or exchanged are refused", async () => {
    const files = filesOf(task);
    const names = [...files.keys()];
    for (const [at, name] of names.entries()) {
      await breath();
      const without = new Map(files);
      without.delete(name);
      expect(verdict(writeZip(without)), `without ${name}`).toBe("invalid");
      const other = names[(at + 1) % names.length] ?? "";
      const swapped = new Map(files).set(name, files.get(other) ?? new Uint8Array()).set(other, files.get(name) ?? new Uint8Array());
      expect(verdict(writeZip(swapped)), `${name} and ${other}`).toBe("invalid");
    }
  });
});

describe("zips that try to be something else", () => {
  const refuses = (zip: Uint8Array, word: string): void => {
    const { report, refusedBy } = check(zip);
    expect(refusedBy).toBe("container");
    expect(JSON.stringify(report)).toContain(word);
  };
  const sorted = (files: [string, Uint8Array][]): Map<string, Uint8Array> => new Map(files.sort(([left], [right]) => (left < right ? -1 : 1)));

  test("names that lead elsewhere, or come unsorted, are refused", () => {
    for (const name of ["../evil", "/etc/passwd", "keys/../../evil", "keys\\evil", "C:evil", "./README.txt", "log/", "a\0b", "task/checkpoint "]) {
      refuses(writeZip(sorted([...filesOf(task), [name, utf8("x")]])), "no file of this name");
    }
    refuses(writeZip(new Map([...filesOf(task)].reverse())), "not sorted");
  });

  test("compression, links, bombs, comments and hidden bytes are refused before a file is read", () => {
    const directory = new DataView(task.buffer).getUint32(task.length - 6, true);
    const change = (at: number, bytes: number[]): Uint8Array => {
      const mutant = task.slice();
      mutant.set(bytes, at);
      return mutant;
    };
    refuses(change(directory + 10, [8, 0]), "compressed");
    refuses(change(directory + 38, [0, 0, 0xff, 0xa1]), "link");
    refuses(change(directory + 24, [0xff, 0xff, 0xff, 0xff]), "");
    refuses(change(directory + 42, [7, 0, 0, 0]), "between the files");
    refuses(change(task.length - 14, [0xff, 0xff, 0xff, 0xff]), "");
    refuses(change(task.length - 10, [0xff, 0xff, 0xff, 0xff]), "");
    refuses(Uint8Array.from([...task.slice(0, directory), 1, 2, ...task.slice(directory)]), "");
    refuses(change(task.length - 2, [5, 0]), "");
  });

  test("a name has one spelling", () => {
    const hex = "ab".repeat(32);
    for (const name of ["task/events/7.json", "task/proofs.tlog-proof/1", "gate/proofs.tlog-proof/20", "keys/rotations/3.note", "keys/revocations/1.note", "anchors/3.json", "anchors/12.rfc3161.tsr", "anchors/1.opentimestamps.ots", "anchors/1.op_return.json", "anchors/1.tlog-proof", `disclosures/${hex}.json`, `artifacts/sha256/ab/${hex}`, `receipts/rcp_${"0".repeat(32)}.dsse.json`]) {
      expect(parseName(name), name).toBeDefined();
    }
    for (const name of ["", "/", "..", "README.TXT", "task/events/07.json", "task/events/0.json", "task/events/+7.json", "task//checkpoint", "gate/proofs.tlog-proof/1.json", "keys/rotations/0.note", "keys/rotations/1", "keys/revocations/01.note", "anchors/01.json", "anchors/0.json", "anchors/1.tsr", "anchors/1", "anchors/1.checkpoint.json", "identity/key.pem", "receipts/x.json", `artifacts/sha256/zz/${hex}`, `artifacts/${hex}`, `disclosures/${hex.toUpperCase()}.json`, "task/checkpoint\n", "task/events/18446744073709551616.json"]) {
      expect(isKnown(name), name).toBe(false);
    }
  });
});

describe("the program for Node", () => {
  const folder = mkdtempSync(join(tmpdir(), "hermit-verify-"));
  const program = join(folder, "verify.mjs");
  const run = (...words: string[]): { code: number | null; out: string; err: string } => {
    const done = spawnSync(process.execPath, [program, ...words], { encoding: "utf8" });
    return { code: done.status, out: done.stdout, err: done.stderr };
  };
  const file = (name: string): string => fileURLToPath(new URL(`./data/${name}`, import.meta.url));

  beforeAll(async () => {
    const configFile = fileURLToPath(new URL("../vite.config.ts", import.meta.url));
    await build({ configFile, mode: "node", logLevel: "error", build: { outDir: folder } });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("it ends as `hermit-verify` does: 0 valid, 5 invalid, 6 unverifiable, 2 called wrongly", () => {
    expect(run(file("task.zip"), "--trust", file("log.pub.pem"))).toMatchObject({ code: 0, err: "" });
    expect(run(file("task.zip"))).toMatchObject({ code: 6 });
    expect(run(file("log.pub.pem")).code).toBe(5);
    expect(run()).toMatchObject({ code: 2, out: "" });
    expect(run(file("task.zip"), "--trust", "nonsense").err).toContain("names no key");
    expect(run(join(folder, "nothing")).code).toBe(2);
    expect(JSON.parse(run(file("receipt.zip"), "--json").out)).toMatchObject({ verdict: "unverifiable" });
  });

  test("it takes certificates of authorities and headers of Bitcoin, and refuses what is none", () => {
    const [bundle, root, chain] = [join(folder, "anchored.zip"), join(folder, "root.der"), join(folder, "headers")];
    writeFileSync(bundle, packed(whole));
    writeFileSync(root, by.root);
    writeFileSync(chain, headers);
    const given = run(bundle, "--trust", file("log.pub.pem"), "--trust-authority", root, "--bitcoin-headers", chain);
    expect(given).toMatchObject({ code: 0, err: "" });
    expect(given.out).toContain("3 clocks agree");
    expect(run(bundle, "--trust", file("log.pub.pem")).out).toContain("is not proven with what you gave");
    expect(run(bundle, "--trust-authority", chain)).toMatchObject({ code: 2, out: "" });
    expect(run(bundle, "--bitcoin-headers", root).err).toContain("holds no headers of Bitcoin");
  });

  test("it reads a folder, and no link in it", () => {
    const bundle = join(folder, "bundle");
    for (const [name, bytes] of filesOf(task)) {
      mkdirSync(dirname(join(bundle, name)), { recursive: true });
      writeFileSync(join(bundle, name), bytes);
    }
    expect(run(bundle, "--trust", file("log.pub.pem")).code).toBe(0);
    rmSync(join(bundle, "keys/log.pub.pem"));
    symlinkSync(file("log.pub.pem"), join(bundle, "keys/log.pub.pem"));
    expect(run(bundle)).toMatchObject({ code: 5 });
    expect(run(bundle).out).toContain("link");
  });
});
