/** Assertions of passkeys, the same ones that the room `seal` is held to. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { base64, hexExact, utf8 } from "../src/verify/read/bytes.ts";
import { Malformed } from "../src/verify/read/stop.ts";
import { base64urlDecode, checkSigned, follows, parseSigned, PasskeyKey, saidBy } from "../src/verify/webauthn.ts";
import { root } from "./place.ts";

interface Vectors {
  rp_id: string;
  origin: string;
  credential_id: string;
  keys: Record<string, string>;
  assertions: { what: string; kind: string; code: string; signed: string }[];
}

const vectors = JSON.parse(readFileSync(new URL("src-tauri/crates/seal/tests/data/passkeys.json", root), "utf8")) as Vectors;
const key = (kind: string): PasskeyKey => PasskeyKey.fromBase64(vectors.keys[kind] ?? "");

describe("a yes by a passkey", () => {
  for (const { what, kind, code, signed } of vectors.assertions) {
    test(`${kind}: ${what}`, () => {
      const enrolled = { credentialId: base64urlDecode(vectors.credential_id), key: key(kind), rpId: vectors.rp_id, origin: vectors.origin };
      const check = (): unknown => checkSigned(parseSigned(utf8(signed)), enrolled);
      if (code === "") expect(check()).toMatchObject({ isBackedUp: true, counter: 7 });
      else expect(check).toThrow(Malformed);
    });
  }

  test("is of the passkey that was enrolled, and counts on", () => {
    const one = parseSigned(utf8(vectors.assertions[0]?.signed ?? ""));
    const enrolled = { credentialId: base64urlDecode(vectors.credential_id), key: key("ES256"), rpId: vectors.rp_id, origin: vectors.origin };
    expect(() => checkSigned(one, { ...enrolled, credentialId: new Uint8Array(3) })).toThrow(Malformed);
    expect(() => checkSigned(one, { ...enrolled, key: key("EdDSA") })).toThrow(Malformed);
    expect(() => saidBy(one.authenticatorData.subarray(0, 36), vectors.rp_id)).toThrow(Malformed);
    expect([follows(0, 0), follows(0, 1), follows(1, 2), follows(1, 1), follows(1, 0), follows(2, 1)]).toEqual([true, true, true, false, false, false]);
  });

  test("has a key and a base64url of one spelling", () => {
    const prefix = "3059301306072a8648ce3d020106082a8648ce3d030107034200";
    const beside = hexExact("point", `${prefix}04${"11".repeat(64)}`, 91);
    for (const text of [base64(beside), base64(beside.subarray(0, 59)), "AAAA", ""]) expect(() => PasskeyKey.fromBase64(text), text).toThrow(Malformed);
    for (const text of ["AA==", "A", "+A", "AB", "A A"]) expect(() => base64urlDecode(text), text).toThrow(Malformed);
    expect([...base64urlDecode("_-8")]).toEqual([255, 239]);
  });
});
