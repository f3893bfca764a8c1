/** What somebody may send to harm whoever checks it: a clear answer, in bounded memory and time. */
import { spawnSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { textOf, utf8 } from "../src/verify/read/bytes.ts";
import { verify, type Checked } from "../src/verify/check.ts";
import { parseNote } from "../src/verify/note.ts";
import { openZip, writeZip } from "../src/verify/zip.ts";
import { data, filesOf } from "./place.ts";

const FOUR_GIB = 4 * 1024 ** 3;
const task = data("task.zip");
const check = (zip: Uint8Array): Checked => verify(() => openZip(zip), []);
/** Refused, at once, with these words. */
const refused = (zip: Uint8Array, words: string): void => {
  const begin = performance.now();
  const { report } = check(zip);
  expect(report.verdict).toBe("invalid");
  expect(JSON.stringify(report)).toContain(words);
  expect(performance.now() - begin).toBeLessThan(10_000);
};

describe("zips", () => {
  const directory = new DataView(task.buffer).getUint32(task.length - 6, true);
  const change = (...places: [number, number[]][]): Uint8Array => {
    const mutant = task.slice();
    for (const [at, bytes] of places) mutant.set(bytes, at);
    return mutant;
  };

  test("a bomb is refused before anything is unpacked", () => {
    const [deflated, huge] = [[8, 0], [0xff, 0xff, 0xff, 0xff]];
    refused(change([8, deflated], [directory + 10, deflated], [directory + 24, huge]), "compressed");
    refused(change([22, huge], [directory + 24, huge]), "");
    // Lengths that are there only in the last part.
    refused(change([task.length - 14, [0xff, 0xff]]), "");
    refused(change([task.length - 10, huge]), "");
  });

  test("a name comes once, and leads nowhere else", () => {
    const files = filesOf(task);
    for (const name of ["../evil", "/etc/passwd", "keys/../../evil", "..", "keys/..", "..\\evil"]) {
      refused(writeZip(new Map([...files, [name, utf8("x")] as const].sort(([left], [right]) => (left < right ? -1 : 1)))), "no file of this name");
    }
    // The same name twice: the list of a second one, renamed to the first.
    const twin = writeZip(new Map([["README.tx0", files.get("README.txt") ?? new Uint8Array()], ...files]));
    const spelled = utf8("README.txt");
    const [first, listed] = [30, new DataView(twin.buffer).getUint32(twin.length - 6, true) + 46];
    twin.set(spelled, first);
    twin.set(spelled, listed);
    refused(twin, "twice");
  });
});

describe("files", () => {
  test("a note has at most 16 signatures and no carriage return", () => {
    const note = textOf(filesOf(task).get("log/checkpoint") ?? new Uint8Array(), "note");
    const line = note.trimEnd().split("\n").at(-1) ?? "";
    const more = (many: number): Uint8Array => {
      const others = Array.from({ length: many }, (_, n) => `${line.replace("hermit.local", `w${n}.example`)}\n`);
      return utf8(note + others.join(""));
    };
    expect(parseNote(more(15)).signatures).toHaveLength(16);
    expect(() => parseNote(more(16))).toThrow("more than 16 signatures");
    const begin = performance.now();
    expect(() => parseNote(more(1_000))).toThrow("more than 16 signatures");
    expect(performance.now() - begin).toBeLessThan(2_000);
    expect(() => parseNote(utf8(note.replaceAll("\n", "\r\n")))).toThrow();
  });

  test("another version is named as such, whatever else it has", () => {
    for (const other of ["hermit-proof/2", "hermit-proof/10", "hermit-proof/1.1"]) {
      const files = filesOf(task);
      const readme = textOf(files.get("README.txt") ?? new Uint8Array(), "text");
      files.set("README.txt", utf8(readme.replace("hermit-proof/1", other)));
      refused(writeZip(files), other);
      refused(writeZip(new Map([...files, ["task/future.cbor", utf8("x")]])), other);
    }
  });
});

describe("the program for Node", () => {
  const folder = mkdtempSync(join(tmpdir(), "hermit-hostile-"));
  const program = join(folder, "verify.mjs");
  const run = (path: string): { code: number | null; said: string } => {
    // A quarter of a gigabyte for what is not yet collected; the program holds no more of what it refuses.
    const done = spawnSync(process.execPath, ["--max-old-space-size=256", program, path], { encoding: "utf8", timeout: 60_000 });
    return { code: done.status, said: done.stdout + done.stderr };
  };
  const sparse = (path: string): void => {
    const file = openSync(path, "w");
    ftruncateSync(file, FOUR_GIB);
    closeSync(file);
  };
  const copy = (name: string): string => {
    const root = join(folder, name);
    for (const [file, bytes] of filesOf(task)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), bytes);
    }
    return root;
  };

  beforeAll(async () => {
    const configFile = fileURLToPath(new URL("../vite.config.ts", import.meta.url));
    await build({ configFile, mode: "node", logLevel: "error", build: { outDir: folder } });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("four gigabytes of nothing are not read, wherever they stand", () => {
    const zip = join(folder, "huge.zip");
    sparse(zip);
    expect(run(zip)).toMatchObject({ code: 2 });
    expect(run(zip).said).toContain("hermit-verify");
    for (const [at, [name, code]] of ([["SHA256SUMS", 2], ["task/events.jsonl", 2], ["README.txt", 5], ["statement.dsse.json", 5], ["log/checkpoint", 5], ["keys/log.pub.pem", 5]] as const).entries()) {
      const root = copy(`huge-${at}`);
      sparse(join(root, name));
      const { code: ended, said } = run(root);
      expect({ name, ended }).toEqual({ name, ended: code });
      expect(said).toContain(code === 5 ? "invalid at" : "more than this program can hold");
    }
  });

  test("another version of a folder is named, and a link in it is not followed", () => {
    const root = copy("later");
    writeFileSync(join(root, "README.txt"), "hermit-proof/2\n");
    expect(run(root)).toMatchObject({ code: 5 });
    expect(run(root).said).toContain("hermit-proof/2");
    const linked = copy("linked");
    rmSync(join(linked, "log/checkpoint"));
    symlinkSync("/dev/zero", join(linked, "log/checkpoint"));
    expect(run(linked)).toMatchObject({ code: 5 });
    expect(run(linked).said).toContain("link");
  });
});
