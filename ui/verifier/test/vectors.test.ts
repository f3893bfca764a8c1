/** Published vectors, the same ones that the Rust rooms are held to. */
import { readFileSync } from "node:fs";
import { ed25519 } from "@noble/curves/ed25519.js";
import { describe, expect, test } from "vitest";
import { base64, base64Decode, concat, hex, hexExact, utf8 } from "../src/verify/read/bytes.ts";
import { canonical, jcs, parseCanonical, type Json } from "../src/verify/read/canon.ts";
import { WitnessKey } from "../src/verify/cosignature.ts";
import { crc32, digestOf, sha256 } from "../src/verify/read/digest.ts";
import { PublicKey } from "../src/verify/keys.ts";
import { consistencyFault, Frontier, inclusionFault, leafHash, nodeHash } from "../src/verify/merkle.ts";
import { noteBytes, parseNote, VerifierKey } from "../src/verify/note.ts";
import { root } from "./place.ts";

const read = (path: string): string => readFileSync(new URL(path, root), "utf8");

interface Wycheproof {
  numberOfTests: number;
  testGroups: { publicKey: { pk: string }; tests: { tcId: number; msg: string; sig: string; result: string; comment: string }[] }[];
}

describe("Ed25519", () => {
  const bytes = (text: string): Uint8Array => hexExact("vector", text, text.length / 2);

  test("every Wycheproof vector gets the verdict it should", () => {
    const set = JSON.parse(read("ui/verifier/test/data/ed25519_test.json")) as Wycheproof;
    const seen = { valid: 0, invalid: 0 };
    for (const group of set.testGroups) {
      const key = PublicKey.fromBytes(bytes(group.publicKey.pk));
      for (const { tcId, msg, sig, result, comment } of group.tests) {
        expect(key.verifies(bytes(msg), bytes(sig)), `test ${tcId}: ${comment}`).toBe(result === "valid");
        seen[result === "valid" ? "valid" : "invalid"] += 1;
      }
    }
    expect(seen.valid + seen.invalid).toBe(set.numberOfTests);
    expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(50);
  });

  test("keys of small order and bytes that are no point are no keys", () => {
    const small = [
      "0100000000000000000000000000000000000000000000000000000000000000",
      "0000000000000000000000000000000000000000000000000000000000000000",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "0200000000000000000000000000000000000000000000000000000000000000",
    ];
    for (const text of small) expect(() => PublicKey.fromBytes(bytes(text)), text).toThrow(/no point|small order/);
  });

  test("a signature that only holds with the cofactor does not hold", () => {
    // From "Taming the many EdDSAs": case 4 has a key of mixed order, and only a verifier with the cofactor takes it.
    const key = PublicKey.fromBytes(bytes("cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d"));
    const message = bytes("e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c");
    const signature = bytes("160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed5125ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09");
    expect(ed25519.verify(signature, message, key.bytes)).toBe(true);
    expect(key.verifies(message, signature)).toBe(false);
  });
});

describe("RFC 8785", () => {
  test("the numbers of the reference implementation give their published hashes", () => {
    const fixed = read("src-tauri/crates/seal/tests/data/es6_first_doubles.txt").split("\n").slice(1).join(" ").split(/\s+/).filter(Boolean);
    const view = new DataView(new ArrayBuffer(8));
    const doubles = function* (): Generator<bigint> {
      for (const bits of fixed) yield BigInt(`0x${bits}`);
      for (let serial = 0n; serial < 2000n; serial += 1n) yield 0x0010_0000_0000_0000n + serial;
      for (let block = sha256(new Uint8Array(32)); ; block = sha256(block)) {
        const words = new DataView(block.buffer, block.byteOffset);
        for (const at of [0, 8, 16, 24]) {
          view.setBigUint64(0, words.getBigUint64(at, true));
          const number = view.getFloat64(0);
          if (number !== 0 && Number.isFinite(number)) yield words.getBigUint64(at, true);
        }
      }
    };
    const published = new Map([
      [1_000, "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687"],
      [10_000, "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892"],
    ]);
    const lines: string[] = [];
    for (const bits of doubles()) {
      view.setBigUint64(0, bits);
      lines.push(`${bits.toString(16)},${jcs(view.getFloat64(0))}\n`);
      const expected = published.get(lines.length);
      if (expected !== undefined) expect(digestOf(utf8(lines.join("")))).toBe(expected);
      if (lines.length === 10_000) break;
    }
    expect(lines).toHaveLength(10_000);
  });

  test.each([
    [[56, { d: true, "10": null, "1": [] }], '[56,{"1":[],"10":null,"d":true}]'],
    [
      { peach: "This sorting order", "péché": "is wrong according to French", "pêche": "but canonicalization MUST", sin: "ignore locale" },
      '{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}',
    ],
    [{ "Unnormalized Unicode": "A\u030a" }, '{"Unnormalized Unicode":"A\u030a"}'],
    [
      { "\u20ac": "Euro Sign", "\r": "Carriage Return", "\n": "Newline", "1": "One", "\u0080": "Control\u007f", "\ud83d\ude02": "Smiley", "\u00f6": "Latin Small Letter O With Diaeresis", "\ufb33": "Hebrew Letter Dalet With Dagesh", "</script>": "Browser Challenge" },
      '{"\\n":"Newline","\\r":"Carriage Return","1":"One","</script>":"Browser Challenge","\u0080":"Control\u007f","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😂":"Smiley","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ],
    [
      { "1": { f: { f: "hi", F: 5 }, "\n": 56 }, "10": {}, "": "empty", a: {}, "111": [{ e: "yes", E: "no" }], A: {} },
      '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}',
    ],
    [{ string: '€$\u000f\nA\'B"\\\\"/', literals: [null, true, false] }, '{"literals":[null,true,false],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'],
  ] as [Json, string][])("the test data comes out byte for byte, and is read again (%#)", (value, text) => {
    expect(canonical(value)).toBe(text);
    expect(canonical(parseCanonical(utf8(text)))).toBe(text);
  });

  test("whatever could be written in another way is refused", () => {
    const other = [
      "", " 1", "1 ", "01", "-0", "1.0", "1e2", "9007199254740992", "-9007199254740992", "+1", "NaN", "tru", "nulll",
      '{"b":1,"a":2}', '{"a":1,"a":2}', '{"a":1,}', "[1,]", '{ "a":1}', '{"a" :1}', '"\\u0041"', '"\\u000A"', '"\\u000b', '"\\/"',
      '"\\ud800"', '"\u0007"', '"a', "[[", "{", "]", '"\\u00e9"', "\ufeff1", '{"\\u0062":1}', "1\n",
    ];
    for (const text of other) expect(() => parseCanonical(utf8(text)), text).toThrow(/not a valid json/);
    expect(() => parseCanonical(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(/UTF-8/);
    expect(() => parseCanonical(utf8("[".repeat(65) + "]".repeat(65)))).toThrow(/deeper/);
    expect(parseCanonical(utf8("[".repeat(64) + "]".repeat(64)))).toBeTruthy();
    expect(parseCanonical(utf8('"\\u000b\\u001f\\b"'))).toBe("\u000b\u001f\b");
    expect(Object.keys(parseCanonical(utf8('{"__proto__":1,"constructor":2}')) as object)).toEqual(["__proto__", "constructor"]);
  });
});

describe("RFC 6962", () => {
  // The leaves and roots of the test data of Certificate Transparency's reference implementation.
  const leaves = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"].map((text) => hexExact("leaf", text, text.length / 2));
  const roots = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
  ];

  const rootOf = (hashes: Uint8Array[]): Uint8Array => {
    const [only] = hashes;
    if (hashes.length === 1 && only) return only;
    const half = 2 ** Math.ceil(Math.log2(hashes.length) - 1);
    return nodeHash(rootOf(hashes.slice(0, half)), rootOf(hashes.slice(half)));
  };

  const path = (index: number, hashes: Uint8Array[]): Uint8Array[] => {
    if (hashes.length === 1) return [];
    const half = 2 ** Math.ceil(Math.log2(hashes.length) - 1);
    const [left, right] = [hashes.slice(0, half), hashes.slice(half)];
    return index < half ? [...path(index, left), rootOf(right)] : [...path(index - half, right), rootOf(left)];
  };

  const subproof = (size: number, hashes: Uint8Array[], whole: boolean): Uint8Array[] => {
    if (size === hashes.length) return whole ? [] : [rootOf(hashes)];
    const half = 2 ** Math.ceil(Math.log2(hashes.length) - 1);
    const [left, right] = [hashes.slice(0, half), hashes.slice(half)];
    return size <= half ? [...subproof(size, left, whole), rootOf(right)] : [...subproof(size - half, right, false), rootOf(left)];
  };

  test("the roots of the published leaves come out", () => {
    const frontier = new Frontier();
    expect(hex(frontier.root())).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    for (const [index, leaf] of leaves.entries()) {
      frontier.push(leafHash(leaf));
      expect(hex(frontier.root())).toBe(roots[index]);
    }
  });

  test("every proof of every small tree holds where it belongs and nowhere else", () => {
    const hashes = Array.from({ length: 21 }, (_, index) => leafHash(utf8(`leaf ${index}`)));
    for (let size = 1; size <= hashes.length; size += 1) {
      const part = hashes.slice(0, size);
      const root = rootOf(part);
      for (const [index, leaf] of part.entries()) {
        const proof = path(index, part);
        expect(inclusionFault(leaf, BigInt(index), BigInt(size), proof, root)).toBeUndefined();
        expect(inclusionFault(leaf, BigInt(index), BigInt(size), [...proof, leaf], root)).toBeDefined();
        expect(inclusionFault(leaf, BigInt(index + 1), BigInt(size), proof, root)).toBeDefined();
        expect(inclusionFault(leafHash(utf8("x")), BigInt(index), BigInt(size), proof, root)).toBeDefined();
        if (proof.length > 0) expect(inclusionFault(leaf, BigInt(index), BigInt(size), proof.slice(1), root)).toBeDefined();
      }
      for (let old = 1; old <= size; old += 1) {
        const [older, proof] = [rootOf(part.slice(0, old)), subproof(old, part, true)];
        expect(consistencyFault(BigInt(old), BigInt(size), older, root, proof)).toBeUndefined();
        expect(consistencyFault(BigInt(old), BigInt(size), leafHash(utf8("x")), root, proof)).toBeDefined();
        expect(consistencyFault(BigInt(old), BigInt(size), older, root, [...proof, root])).toBeDefined();
        if (old < size) expect(consistencyFault(BigInt(size), BigInt(old), root, older, proof)).toBe("the tree has shrunk");
      }
    }
    expect(inclusionFault(leafHash(utf8("")), 0n, 0n, [], sha256())).toBe("the index lies outside the tree");
  });
});

describe("encodings", () => {
  test("the published check values come out", () => {
    expect(crc32(utf8("123456789"))).toBe(0xcbf4_3926);
    expect(["", "f", "fo", "foo", "foob", "fooba", "foobar"].map((text) => base64(utf8(text)))).toEqual(["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
  });

  test("base64 has one spelling", () => {
    for (let length = 0; length < 70; length += 1) {
      const bytes = sha256(utf8(String(length))).slice(0, length % 33);
      expect(hex(base64Decode("test", base64(bytes)))).toBe(hex(bytes));
    }
    for (const text of ["Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "Z g=", "Zm9v\n", "Zg===", "=", "____", "Zm-v"]) {
      expect(() => base64Decode("test", text), text).toThrow(/base64/);
    }
  });
});

test("a cosignature covers time and text, and a log's key is no witness's", () => {
  const secret = new Uint8Array(32).fill(7);
  const key = PublicKey.fromBytes(ed25519.getPublicKey(secret));
  const witness = new WitnessKey("witness.example/7", key);
  const text = "example.org/log\n5\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
  const time = hexExact("time", "00000000641850cb", 8);
  const made = concat(time, ed25519.sign(utf8(`cosignature/v1\ntime 1679315147\n${text}`), secret));
  const note = (bytes: Uint8Array) => parseNote(noteBytes({ text, signatures: [{ name: witness.name, keyId: witness.keyId, bytes }] }));
  expect(witness.cosigned(note(made))).toBe(1_679_315_147n);
  expect(new WitnessKey("witness.example/8", key).cosigned(note(made))).toBeUndefined();
  for (let at = 0; at < made.length; at += 1) {
    const changed = made.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => witness.cosigned(note(changed)), `byte ${at}`).toThrow();
  }
  expect(WitnessKey.parse(witness.toString())).toEqual(witness);
  expect(() => WitnessKey.parse(new VerifierKey(witness.name, key).toString())).toThrow();
});
