/** A person's yes by a passkey (Web Authentication Level 3): the key, what authenticator and browser say, the signature over both. */
import { p256 } from "@noble/curves/nist.js";
import { base64, base64Decode, concat, same, textOf, utf8 } from "./read/bytes.ts";
import { DEPTH_MAX, isObject, parseCanonical, type Json, type JsonObject } from "./read/canon.ts";
import { digestOf, sha256 } from "./read/digest.ts";
import { PublicKey } from "./keys.ts";
import { object, string } from "./read/shape.ts";
import { Malformed } from "./read/stop.ts";

const WHAT = "passkey";
const CLIENT_DATA_MAX = 4096;
const AUTHENTICATOR_DATA_MAX = 4096;
/** Bytes of the fixed beginning of what an authenticator says: whom for, flags, counter. */
const FIXED = 37;
const PRESENT = 0x01;
const VERIFIED = 0x04;
const BACKUP_ELIGIBLE = 0x08;
const BACKED_UP = 0x10;
const HAS_CREDENTIAL = 0x40;
const HAS_EXTENSIONS = 0x80;

/** SPKI DER of a P-256 key is this prefix and the point, uncompressed (RFC 5480). */
const P256_SPKI = Uint8Array.of(
  0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
);

/** The public half of a passkey: a point of P-256 or of Ed25519, in text the base64 of its SPKI DER. */
export class PasskeyKey {
  private constructor(
    private readonly der: Uint8Array,
    /** The point of P-256, uncompressed; or the key of Ed25519. */
    private readonly key: Uint8Array | PublicKey,
  ) {}

  static fromBase64(text: string): PasskeyKey {
    const der = base64Decode(WHAT, text);
    if (!same(der.subarray(0, P256_SPKI.length), P256_SPKI)) {
      return new PasskeyKey(der, PublicKey.fromPem(`-----BEGIN PUBLIC KEY-----\n${text}\n-----END PUBLIC KEY-----\n`));
    }
    const point = der.subarray(P256_SPKI.length);
    if (point.length !== 65 || point[0] !== 4 || !isPoint(point)) throw new Malformed(WHAT, "it is no point of the curve P-256");
    return new PasskeyKey(der, point);
  }

  /** Name of the key, as every key in the house has it: SHA-256 of its SPKI DER. */
  get keyid(): string {
    return digestOf(this.der);
  }

  /** Whether this key made `signature` over `message`: DER of two numbers for ES256, 64 bytes and strictly for EdDSA. */
  verifies(message: Uint8Array, signature: Uint8Array): boolean {
    if (this.key instanceof PublicKey) return this.key.verifies(message, signature);
    try {
      return p256.verify(signature, message, this.key, { format: "der", lowS: false, prehash: true });
    } catch {
      return false;
    }
  }
}

function isPoint(bytes: Uint8Array): boolean {
  try {
    p256.Point.fromBytes(bytes).assertValidity();
    return true;
  } catch {
    return false;
  }
}

/** What an authenticator said of itself; that somebody was present and verified is checked. */
export interface Said {
  isBackupEligible: boolean;
  isBackedUp: boolean;
  counter: number;
}

/** Whether a counter may follow the last one that was seen. */
export function follows(last: number, counter: number): boolean {
  return (last === 0 && counter === 0) || counter > last;
}

/** The passkey that an assertion is held against, as it was enrolled. */
interface Enrolled {
  credentialId: Uint8Array;
  key: PasskeyKey;
  rpId: string;
  origin: string;
}

/** A payload and the assertion of a passkey whose challenge is its digest. */
export interface Signed {
  type: string;
  payload: Uint8Array;
  credentialId: Uint8Array;
  authenticatorData: Uint8Array;
  clientDataJson: Uint8Array;
  signature: Uint8Array;
}

const assertion = object({ credential_id: string, authenticator_data: string, client_data_json: string, signature: string }, "closed");
const signed = object({ payloadType: string, payload: string, webauthn: assertion }, "closed");

export function parseSigned(bytes: Uint8Array): Signed {
  const { payloadType, payload, webauthn } = signed(parseCanonical(bytes));
  const decode = (text: string): Uint8Array => base64Decode("base64", text);
  return {
    type: payloadType,
    payload: decode(payload),
    credentialId: decode(webauthn.credential_id),
    authenticatorData: decode(webauthn.authenticator_data),
    clientDataJson: decode(webauthn.client_data_json),
    signature: decode(webauthn.signature),
  };
}

/** Checks all that can be known from these bytes and the enrolment: the browser's word, the authenticator's, and the signature. */
export function checkSigned(one: Signed, { credentialId, key, rpId, origin }: Enrolled): Said {
  demand(same(one.credentialId, credentialId), "another passkey signed this");
  checkClientData(one.clientDataJson, sha256(one.payload), origin);
  const { said, flags, rest } = authenticator(one.authenticatorData, rpId);
  demand((flags & HAS_CREDENTIAL) === 0, "a yes enrols no passkey");
  demand(((flags & HAS_EXTENSIONS) !== 0) === rest.length > 0, "its extensions are not those it tells of");
  demand(key.verifies(concat(one.authenticatorData, sha256(one.clientDataJson)), one.signature), "the passkey's signature does not hold");
  return said;
}

/** What an authenticator said of itself, whom the passkey is for checked. */
export function saidBy(authenticatorData: Uint8Array, rpId: string): Said {
  return authenticator(authenticatorData, rpId).said;
}

/** Base64url without padding, in its one spelling. */
export function base64urlDecode(text: string): Uint8Array {
  if (/[+/=]/.test(text) || text.length % 4 === 1) throw new Malformed("base64url", "its base64url is refused");
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  return base64Decode("base64url", standard.padEnd(Math.ceil(text.length / 4) * 4, "="));
}

function base64url(bytes: Uint8Array): string {
  return base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function demand(holds: boolean, why: string): void {
  if (!holds) throw new Malformed(WHAT, why);
}

/** What the browser says must be this ceremony, this challenge, this origin, in no frame of another page. */
function checkClientData(bytes: Uint8Array, challenge: Uint8Array, origin: string): void {
  demand(bytes.length <= CLIENT_DATA_MAX, `the browser says more than ${CLIENT_DATA_MAX} bytes`);
  const said = parseStrict(textOf(bytes, "json"));
  demand(said["type"] === "webauthn.get", "the browser did something else with the passkey");
  demand(said["challenge"] === base64url(challenge), "the passkey signed something else than this decision");
  demand(said["origin"] === origin, `the passkey was used at another origin than \`${origin}\``);
  const isAlone = said["crossOrigin"] === undefined || said["crossOrigin"] === false;
  demand(isAlone && said["topOrigin"] === undefined, "the passkey was used in a frame of another page");
}

function authenticator(bytes: Uint8Array, rpId: string): { said: Said; flags: number; rest: Uint8Array } {
  demand(bytes.length <= AUTHENTICATOR_DATA_MAX, `the authenticator says more than ${AUTHENTICATOR_DATA_MAX} bytes`);
  demand(bytes.length >= FIXED, `the authenticator says less than ${FIXED} bytes`);
  demand(same(bytes.subarray(0, 32), sha256(utf8(rpId))), "the passkey is for another host");
  const flags = bytes[32] ?? 0;
  const has = (flag: number): boolean => (flags & flag) !== 0;
  demand(has(PRESENT), "the authenticator did not see that somebody was there");
  demand(has(VERIFIED), "the authenticator did not verify who was there; a yes needs that");
  demand(has(BACKUP_ELIGIBLE) || !has(BACKED_UP), "the authenticator says that it backed up what cannot be");
  const counter = new DataView(bytes.buffer, bytes.byteOffset + 33, 4).getUint32(0);
  return { said: { isBackupEligible: has(BACKUP_ELIGIBLE), isBackedUp: has(BACKED_UP), counter }, flags, rest: bytes.subarray(FIXED) };
}

/** One piece of JSON text that is known to be well-formed. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;
const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;

/** An object in JSON that can be read in one way only: no name twice, only whole numbers that are exact, no half character. */
function parseStrict(text: string): JsonObject {
  const refused = (why: string): Malformed => new Malformed("json", why);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw refused("it cannot be read");
  }
  const open: (Set<string> | undefined)[] = [];
  const tokens = text.match(TOKENS) ?? [];
  tokens.forEach((token, index) => {
    if (token === "{" || token === "[") {
      if (open.length >= DEPTH_MAX) throw refused(`it nests deeper than ${DEPTH_MAX} levels`);
      open.push(token === "{" ? new Set() : undefined);
    } else if (token === "}" || token === "]") {
      open.pop();
    } else if (token.startsWith('"')) {
      const word = JSON.parse(token) as string;
      if (!word.isWellFormed()) throw refused("a string holds half a character");
      const names = open.at(-1);
      if (tokens[index + 1] !== ":" || !names) return;
      if (names.has(word)) throw refused("a name comes twice");
      names.add(word);
    } else if (!/^(?:[,:]|true|false|null)$/.test(token) && !(INTEGER.test(token) && Number.isSafeInteger(Number(token)))) {
      throw refused("a number is no whole one within ±(2^53−1)");
    }
  });
  if (!isObject(value)) throw refused("it is no object");
  // Without a prototype, so that no name means anything but itself.
  return Object.assign(Object.create(null) as JsonObject, value);
}
