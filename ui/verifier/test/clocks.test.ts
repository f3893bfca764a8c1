/** The formats of clocks elsewhere: what other programs wrote, what was built here, and every byte of it changed. */
import { constants, createSign, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Headers, hash256, next, parseHeader, parseMerkleBlock, parseTransaction } from "../src/verify/clocks/bitcoin.ts";
import { checkClock, type Clock } from "../src/verify/clocks/clock.ts";
import { oidOf, timeOf, DerReader } from "../src/verify/clocks/der.ts";
import { scriptOf } from "../src/verify/clocks/op_return.ts";
import { attestationsOf } from "../src/verify/clocks/ots.ts";
import { SHA256, SHA384, SHA512, verifiesPkcs1, verifiesPss } from "../src/verify/clocks/rsa.ts";
import { NO_CLOCKS, type Clocks, type Stamp } from "../src/verify/clocks/stamp.ts";
import { certificatesOf } from "../src/verify/clocks/x509.ts";
import { concat, hex, utf8 } from "../src/verify/read/bytes.ts";
import { sha256 } from "../src/verify/read/digest.ts";
import { Malformed } from "../src/verify/read/stop.ts";
import { chain, little, merkleRoot, mine, otsTo, transaction, txOutProof } from "./build.ts";
import { authority, stamped, type Wish } from "./stamp.ts";
import { data } from "./place.ts";

const DIGEST = sha256(utf8("a head of a log"));
const OTHER = sha256(utf8("another"));
const root = certificatesOf(data("clocks/root.pem"));
const named: Clocks = { authorities: root };

/** What a change may lead to: a refusal, or no more than was proven before. */
function never(clock: Clock, proof: Uint8Array, clocks: Clocks, was: Stamp, every = 1): void {
  for (let at = 0; at < proof.length; at += every) {
    for (const bit of [1, 0x80]) {
      const changed = proof.slice();
      changed[at] = (changed[at] ?? 0) ^ bit;
      const found = outcome(() => checkClock(clock, changed, DIGEST, clocks));
      if (found?.proven) expect(found.proven, `${clock} ${at}`).toEqual(was.proven);
    }
    const cut = outcome(() => checkClock(clock, proof.slice(0, at), DIGEST, clocks));
    expect(cut, `${clock} cut at ${at}`).toBeUndefined();
  }
}

/** Nothing where it was refused; anything but a refusal is a fault of the program. */
function outcome(run: () => Stamp): Stamp | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

describe("a time stamp of openssl", () => {
  for (const name of ["rsa", "p256", "p384"]) {
    const proof = data(`clocks/${name}.tsr`);
    test(`${name}: holds for its digest, and is proven to whoever named its root`, () => {
      const found = checkClock("rfc3161", proof, DIGEST, named);
      expect(found.proven?.notAfter).toBeGreaterThan(Date.UTC(2026, 10, 28));
      // One second and a half, and a part of a millisecond more.
      expect((found.proven?.notAfter ?? 0) % 1000).toBe(501);
      expect(found.says.join()).toContain(`Test clock ${name}`);
      const stranger = checkClock("rfc3161", proof, DIGEST, NO_CLOCKS);
      expect(stranger).toMatchObject({ isPending: false, onTrust: [] });
      expect(stranger.proven).toBeUndefined();
      expect(() => checkClock("rfc3161", proof, OTHER, named)).toThrow("another digest");
      expect(() => checkClock("rfc3161", concat(proof, Uint8Array.of(0)), DIGEST, named)).toThrow(Malformed);
    });

    test(`${name}: changed or cut, it proves nothing else`, () => {
      never("rfc3161", proof, named, checkClock("rfc3161", proof, DIGEST, named), 9);
    });
  }
});

describe("a time stamp that was built", () => {
  const of = (wish: Wish, clocks?: Clocks): Stamp => {
    const made = stamped(DIGEST, wish);
    return checkClock("rfc3161", made.response, DIGEST, clocks ?? { authorities: certificatesOf(made.authority) });
  };

  test("holds with every algorithm that is known, and whoever named the clock itself", () => {
    for (const kind of ["ec", "p384", "rsa", "pss"] as const) expect(of({ kind }).proven, kind).toEqual({ notAfter: Date.UTC(2026, 10, 28, 12) });
    expect(of({ byKeyIdentifier: true }).proven).toBeDefined();
    expect(of({ genTime: "20261128120000.25Z", accuracy: 2 }).proven).toEqual({ notAfter: Date.UTC(2026, 10, 28, 12) + 2250 });
  });

  test("is refused for every part that is not as it must be", () => {
    const wrong: [Wish, string][] = [
      [{ purposes: "server" }, "time stamps alone"],
      [{ purposes: "two" }, "time stamps alone"],
      [{ isCritical: false }, "time stamps alone"],
      [{ messageDigest: OTHER }, "another time or digest"],
      [{ contentType: "1.2.840.113549.1.7.1" }, "something else"],
      [{ certificateHash: OTHER }, "another certificate"],
      [{ leavesOutCertificate: true }, "under which certificate"],
      [{ breaksSignature: true }, "does not hold"],
      [{ imprint: OTHER }, "another digest"],
      [{ status: 2 }, "refused"],
      [{ signers: 2 }, "nothing is expected"],
      [{ genTime: "20400101000000Z" }, "not valid at its time"],
      [{ genTime: "20261128120000+0100" }, "one form"],
      [{ genTime: "20260230120000Z" }, "calendar"],
    ];
    for (const [wish, why] of wrong) expect(() => of(wish), JSON.stringify(wish)).toThrow(why);
  });

  test("of a clock that a stranger set up under the same name is not proven", () => {
    const [mine_, theirs] = [authority("ec"), authority("ec")];
    const made = stamped(DIGEST, { by: theirs });
    expect(checkClock("rfc3161", made.response, DIGEST, { authorities: certificatesOf(mine_.root) }).proven).toBeUndefined();
    expect(checkClock("rfc3161", made.response, DIGEST, { authorities: certificatesOf(theirs.root) }).proven).toBeDefined();
    // What may not issue issues nothing.
    const under = stamped(DIGEST, { by: theirs, underClock: true });
    expect(checkClock("rfc3161", under.response, DIGEST, { authorities: certificatesOf(theirs.root) }).proven).toBeUndefined();
  });
});

test("RSA signatures are those of another implementation, and no others", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { n = "", e = "" } = publicKey.export({ format: "jwk" });
  const number = (text: string): bigint => BigInt(`0x${Buffer.from(text, "base64url").toString("hex")}`);
  const key = { modulus: number(n), exponent: number(e) };
  const message = utf8("a message");
  for (const [name, oid, length] of [["sha256", SHA256, 32], ["sha384", SHA384, 48], ["sha512", SHA512, 64]] as const) {
    const plain = new Uint8Array(createSign(name).update(message).sign(privateKey));
    const salted = new Uint8Array(sign(name, message, { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: length }));
    expect(verifiesPkcs1(key, oid, message, plain)).toBe(true);
    expect(verifiesPss(key, [oid, oid], length, message, salted)).toBe(true);
    expect(verifiesPss(key, [oid, oid], length - 1, message, salted)).toBe(false);
    expect(verifiesPkcs1(key, oid, message, salted) || verifiesPss(key, [oid, oid], length, message, plain)).toBe(false);
    for (let at = 0; at < plain.length; at += 9) {
      for (const [signature, check] of [[plain, verifiesPkcs1.bind(undefined, key, oid, message)], [salted, verifiesPss.bind(undefined, key, [oid, oid], length, message)]] as const) {
        const changed = signature.slice();
        changed[at] = (changed[at] ?? 0) ^ 4;
        expect(check(changed)).toBe(false);
      }
    }
    expect(verifiesPkcs1(key, oid, utf8("another"), plain)).toBe(false);
    expect(verifiesPkcs1({ modulus: 15n, exponent: 3n }, oid, message, Uint8Array.of(1))).toBe(false);
  }
});

test("DER has one spelling", () => {
  const read = (...bytes: number[]) => () => DerReader.within(Uint8Array.from(bytes), 0x30).rest();
  expect(read(0x30, 3, 2, 1, 5)()).toHaveLength(1);
  for (const bytes of [[0x30, 0x80, 0, 0], [0x30, 0x81, 3, 2, 1, 5], [0x30, 3, 2, 1], [0x30, 3, 2, 1, 5, 0], [0x30, 4, 0x1f, 0x81, 1, 0], []]) expect(read(...bytes), String(bytes)).toThrow(Malformed);
  expect(oidOf(Uint8Array.of(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2))).toBe("1.2.840.113549.1.7.2");
  for (const bytes of [[], [0x80, 1], [0x2a, 0x86]]) expect(() => oidOf(Uint8Array.from(bytes))).toThrow(Malformed);
  const body = utf8("491231235959Z");
  expect(timeOf({ tag: 0x17, body, raw: body }).ms).toBe(Date.UTC(2049, 11, 31, 23, 59, 59));
});

describe("OpenTimestamps", () => {
  const upgraded = data("clocks/upgraded.ots");

  test("files of the reference library are read", () => {
    expect(attestationsOf(data("clocks/pending.ots"), DIGEST).map((one) => one.kind === "pending" && one.uri)).toEqual(["https://calendar.example/a", "https://calendar.example/b"]);
    expect(checkClock("opentimestamps", data("clocks/pending.ots"), DIGEST, NO_CLOCKS)).toMatchObject({ isPending: true, onTrust: [] });
    const block = attestationsOf(upgraded, DIGEST).find(({ kind }) => kind === "bitcoin");
    expect(block).toMatchObject({ height: 123456 });
    expect(block?.kind === "bitcoin" && hex(block.message)).toBe("576cd376542c1a4e23e8ac77df6a347032e76f654050264f8491a2c866d057f9");
  });

  test("a block proves it that the headers have, at its height", () => {
    const message = attestationsOf(upgraded, DIGEST).flatMap((one) => (one.kind === "bitcoin" ? [one.message] : []))[0] ?? new Uint8Array();
    const [before, block, after] = chain([OTHER, message, OTHER], 1_700_000_000);
    const bytes = concat(before ?? new Uint8Array(), block ?? new Uint8Array(), after ?? new Uint8Array());
    const at = (height: string): Clocks => ({ authorities: [], headers: Headers.parse(concat(utf8(height), bytes)) });
    for (const line of ["", "# height 123455\n", "height 123455\n"]) {
      const found = checkClock("opentimestamps", upgraded, DIGEST, at(line));
      expect(found.proven, line).toEqual({ notAfter: 1_700_000_600_000, height: 123456 });
      expect(found.onTrust.join()).toContain("which is on trust");
      expect(found.says.join()).toContain("1 of the headers you gave lie on top");
    }
    expect(checkClock("opentimestamps", upgraded, DIGEST, NO_CLOCKS).proven).toBeUndefined();
    expect(checkClock("opentimestamps", upgraded, DIGEST, at("# height 5\n")).proven).toBeUndefined();
    expect(() => checkClock("opentimestamps", upgraded, DIGEST, at("# height 123456\n"))).toThrow("another Merkle root");
    const clocks = at("# height 123455\n");
    never("opentimestamps", upgraded, clocks, checkClock("opentimestamps", upgraded, DIGEST, clocks));
    expect(() => checkClock("opentimestamps", upgraded, OTHER, clocks)).toThrow("another digest");
  });

  test("is bounded in depth, length and number", () => {
    const { file } = otsTo(DIGEST, 5);
    const begin = file.slice(0, 65);
    const with_ = (...rest: Uint8Array[]): (() => unknown) => () => attestationsOf(concat(begin, ...rest), DIGEST);
    expect(with_(new Uint8Array(300).fill(8))).toThrow("deeper");
    expect(with_(new Uint8Array(20).fill(0xf3))).toThrow("longer");
    expect(with_(...Array.from({ length: 4_097 }, () => concat(Uint8Array.of(0xff, 0), utf8("unknown!"), Uint8Array.of(0))))).toThrow("more than 4096");
    expect(with_(Uint8Array.of(0xf0, 0))).toThrow("0 bytes");
    expect(with_(Uint8Array.of(0x99))).toThrow("unknown");
    expect(with_(Uint8Array.of(0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))).toThrow("too large");
  });
});

describe("Bitcoin", () => {
  test("a header has the work that it states", () => {
    const genesis = concat(little(1, 4), new Uint8Array(32), Uint8Array.from(Buffer.from("3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a", "hex")), little(1231006505, 4), little(0x1d00ffff, 4), little(2083236893, 4));
    expect(hex(Uint8Array.from(parseHeader(genesis).hash).reverse())).toBe("000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f");
    expect(parseHeader(genesis).work).toBe(4_295_032_833n);
    for (let at = 0; at < 80; at += 1) {
      const changed = genesis.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => parseHeader(changed), String(at)).toThrow(Malformed);
    }
    for (const bits of [0, 0x1d80_0001, 0xff12_3456, 0x2300_0001, 0x0100_0000]) expect(() => mine(new Uint8Array(32), OTHER, 1, bits), bits.toString(16)).toThrow();
    // What begins with Bitcoin's own first block may not go on with easy ones.
    const easy = mine(parseHeader(genesis).hash, OTHER, 1231006600);
    expect(() => Headers.parse(concat(genesis, easy))).toThrow("another target");
    expect(Headers.parse(genesis).at(0)).toBeDefined();
  });

  test("targets follow each other as on the main chain", () => {
    const target = (bits: number): bigint => BigInt(bits & 0x7f_ffff) << BigInt(8 * ((bits >>> 24) - 3));
    expect(next(target(0x1d00_ffff), 1_262_152_739 - 1_261_130_161)).toBe(target(0x1d00_d86a));
    expect(next(target(0x1d00_ffff), 1_233_061_996 - 1_231_006_505)).toBe(target(0x1d00_ffff));
  });

  test("a file of headers is read in both forms, and none that does not hold together", () => {
    const all = chain([OTHER, DIGEST, OTHER], 1_700_000_000);
    const lines = utf8(all.map((header) => `${hex(header)}\n`).join(""));
    for (const bytes of [concat(...all), lines, concat(utf8("# height 7\n"), lines), concat(utf8("# height 7\r\n"), ...all)]) expect(Headers.parse(bytes).size).toBe(3);
    expect(Headers.parse(concat(utf8("# height 7\n"), lines)).at(8)?.onTop).toBe(1);
    const [first = new Uint8Array(), second = new Uint8Array(), third = new Uint8Array()] = all;
    for (const bytes of [new Uint8Array(), concat(first, third), concat(second, first), first.slice(1), lines.slice(0, -3), concat(utf8("# height x\n"), lines), concat(utf8("# height 1"), lines)]) {
      expect(() => Headers.parse(bytes)).toThrow(Malformed);
    }
  });

  test("a transaction has one id with and without its witness, and is none as long as two hashes", () => {
    const [script] = [scriptOf(DIGEST)];
    expect(parseTransaction(transaction([script])).id).toEqual(hash256(transaction([script], false)));
    expect(hex(script)).toBe(`6a27${hex(utf8("HERMIT1"))}${hex(DIGEST)}`);
    expect(() => parseTransaction(transaction([new Uint8Array(4)], false))).toThrow("two hashes");
  });

  test("a place in a block of any size is proven, and no other", () => {
    for (const size of [1, 2, 3, 4, 5, 7, 8, 13]) {
      const ids = Array.from({ length: size }, (_, at) => sha256(little(at, 4)));
      const header = mine(new Uint8Array(32), merkleRoot(ids), 1);
      for (let at = 0; at < size; at += 1) expect(parseMerkleBlock(txOutProof(header, ids, at)).ids, `${at} of ${size}`).toEqual([ids[at]]);
    }
  });

  const raw = transaction([utf8("x"), scriptOf(DIGEST)]);
  const ids = [OTHER, parseTransaction(raw).id, sha256(utf8("third"))];
  const [first = new Uint8Array(), block = new Uint8Array()] = chain([OTHER, merkleRoot(ids)], 1_700_000_000);
  const json = (header: Uint8Array, height: number, tx: Uint8Array, place: Uint8Array): Uint8Array => utf8(`{"header":"${hex(header)}","height":${height},"raw_tx":"${hex(tx)}","tx_out_proof":"${hex(place)}"}`);
  const proof = json(block, 101, raw, txOutProof(block, ids, 1));
  const headers = Headers.parse(concat(utf8("# height 100\n"), first, block));

  test("an output of one's own proves the time of its block", () => {
    const clocks = { authorities: [], headers };
    const found = checkClock("op_return", proof, DIGEST, clocks);
    expect(found.proven).toEqual({ notAfter: 1_700_000_600_000, height: 101 });
    expect(checkClock("op_return", proof, DIGEST, NO_CLOCKS)).toMatchObject({ isPending: false });
    expect(checkClock("op_return", proof, DIGEST, { authorities: [], headers: Headers.parse(first) }).proven).toBeUndefined();
    expect(() => checkClock("op_return", proof, DIGEST, { authorities: [], headers: Headers.parse(concat(utf8("# height 101\n"), first)) })).toThrow("another block");
    expect(() => checkClock("op_return", proof, OTHER, clocks)).toThrow("does not carry");
    expect(() => checkClock("op_return", json(block, 100, raw, txOutProof(block, ids, 1)), DIGEST, clocks)).toThrow("stands at height 101");
    expect(() => checkClock("op_return", json(block, 101, raw, txOutProof(block, ids, 0)), DIGEST, clocks)).toThrow("whose place is proven");
    expect(() => checkClock("op_return", json(first, 101, raw, txOutProof(block, ids, 1)), DIGEST, clocks)).toThrow("its header is not the one");
    never("op_return", proof, clocks, found);
  });
});
