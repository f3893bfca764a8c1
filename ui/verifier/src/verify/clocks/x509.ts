/** Certificates (RFC 5280) as far as a time-stamp authority needs them: whose key it is, for what, and who issued it. */
import { p256, p384 } from "@noble/curves/nist.js";
import { base64Decode, hex, same, textOf } from "../read/bytes.ts";
import { Malformed } from "../read/stop.ts";
import { algorithmOf, bad, BIT_STRING, bitsOf, BOOLEAN, booleanOf, context, DerReader, INTEGER, isPlain, OCTET_STRING, oidOf, SEQUENCE, SET, timeOf, type Algorithm, type Der } from "./der.ts";
import { HASHES, isUsable, SHA256, SHA384, SHA512, verifiesPkcs1, verifiesPss, type RsaKey } from "./rsa.ts";

const RSA = "1.2.840.113549.1.1.1";
const RSA_PSS = "1.2.840.113549.1.1.10";
const MGF1 = "1.2.840.113549.1.1.8";
const EC = "1.2.840.10045.2.1";
const CURVES: Readonly<Record<string, typeof p256>> = { "1.2.840.10045.3.1.7": p256, "1.3.132.0.34": p384 };
/** Signatures whose name says the hash. */
const WITH_HASH: Readonly<Record<string, readonly ["rsa" | "ec", string]>> = {
  "1.2.840.113549.1.1.11": ["rsa", SHA256],
  "1.2.840.113549.1.1.12": ["rsa", SHA384],
  "1.2.840.113549.1.1.13": ["rsa", SHA512],
  "1.2.840.10045.4.3.2": ["ec", SHA256],
  "1.2.840.10045.4.3.3": ["ec", SHA384],
  "1.2.840.10045.4.3.4": ["ec", SHA512],
};

const KEY_USAGE = "2.5.29.15";
const BASIC_CONSTRAINTS = "2.5.29.19";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const TIME_STAMPING = "1.3.6.1.5.5.7.3.8";
const ANY_PURPOSE = "2.5.29.37.0";
/** What may be critical and is understood here. */
const UNDERSTOOD: ReadonlySet<string> = new Set([KEY_USAGE, BASIC_CONSTRAINTS, EXTENDED_KEY_USAGE]);

const COMMON_NAME = "2.5.4.3";
const ORGANISATION = "2.5.4.10";
/** Certificates on one way, and signatures that are checked while one is looked for. */
const CHAIN_MAX = 6;
const TRIES_MAX = 64;

/** A public key of an authority; nothing is known of a key of another kind. */
type Key = { kind: "rsa"; rsa: RsaKey } | { kind: "ec"; curve: typeof p256; point: Uint8Array } | { kind: "unknown" };

export interface Certificate {
  der: Uint8Array;
  /** The bytes that its issuer signed. */
  signed: Uint8Array;
  algorithm: Algorithm;
  signature: Uint8Array;
  serial: Uint8Array;
  issuer: Uint8Array;
  subject: Uint8Array;
  /** The subject as a person knows it. */
  name: string;
  notBefore: number;
  notAfter: number;
  key: Key;
  /** Its key's identifier, if it says one. */
  keyIdentifier?: Uint8Array;
  /** Whether it may issue others, and how many may stand between. */
  issues?: { below?: bigint };
  /** Whether its key may sign certificates, and other things, as far as it says what it may do. */
  signsCertificates: boolean;
  signsThings: boolean;
  /** What its key is for, if it says so. */
  purposes?: string[];
  /** Whether its key is for time stamps and nothing else, and says so critically. */
  isForTimeStamps: boolean;
  /** Critical things that are not understood here. */
  isUnknown: boolean;
}

function parseCertificate(der: Uint8Array): Certificate {
  const outer = DerReader.within(der, SEQUENCE);
  const body = outer.next(SEQUENCE);
  const algorithm = outer.next(SEQUENCE);
  const signature = bitsOf(outer.next(BIT_STRING));
  outer.end();
  const tbs = new DerReader(body.body);
  const version = tbs.maybe(context(0));
  if (version && DerReader.one(version.body, INTEGER).body.length !== 1) throw bad("a certificate has an unknown version");
  const serial = tbs.next(INTEGER).body;
  if (!same(tbs.next(SEQUENCE).raw, algorithm.raw)) throw bad("a certificate names two algorithms");
  const issuer = tbs.next(SEQUENCE).raw;
  const validity = tbs.into(SEQUENCE);
  const [notBefore, notAfter] = [timeOf(validity.next()).ms, timeOf(validity.next()).ms];
  validity.end();
  const subject = tbs.next(SEQUENCE).raw;
  const key = keyOf(tbs.next(SEQUENCE));
  tbs.maybe(context(1, false));
  tbs.maybe(context(2, false));
  const extensions = tbs.maybe(context(3));
  tbs.end();
  const read: Certificate = {
    der, signed: body.raw, algorithm: algorithmOf(algorithm), signature, serial, issuer, subject, name: nameOf(subject), notBefore, notAfter, key,
    signsCertificates: true, signsThings: true, isForTimeStamps: false, isUnknown: false,
  };
  if (extensions) takeExtensions(read, DerReader.within(extensions.body, SEQUENCE));
  return read;
}

function takeExtensions(read: Certificate, all: DerReader): void {
  const seen = new Set<string>();
  while (!all.isAtEnd) {
    const one = all.into(SEQUENCE);
    const oid = one.oid();
    const flag = one.maybe(BOOLEAN);
    const isCritical = flag !== undefined && booleanOf(flag);
    const { body } = one.next(OCTET_STRING);
    one.end();
    if (seen.has(oid)) throw bad("an extension comes twice");
    seen.add(oid);
    if (isCritical && !UNDERSTOOD.has(oid)) read.isUnknown = true;
    if (oid === BASIC_CONSTRAINTS) takeConstraints(read, DerReader.within(body, SEQUENCE));
    if (oid === KEY_USAGE) {
      // Counted from the first: bit 5 signs certificates; bits 0 and 1 sign other things.
      const usage = DerReader.one(body, BIT_STRING).body[1] ?? 0;
      [read.signsCertificates, read.signsThings] = [(usage & 0x04) !== 0, (usage & 0xc0) !== 0];
    }
    if (oid === "2.5.29.14") read.keyIdentifier = DerReader.one(body, OCTET_STRING).body;
    if (oid === EXTENDED_KEY_USAGE) {
      read.purposes = DerReader.within(body, SEQUENCE).rest().map((purpose) => oidOf(purpose.body));
      read.isForTimeStamps = isCritical && read.purposes.join() === TIME_STAMPING;
    }
  }
}

function takeConstraints(read: Certificate, reader: DerReader): void {
  const flag = reader.maybe(BOOLEAN);
  const below = reader.isAtEnd ? undefined : reader.unsigned();
  reader.end();
  if (flag && booleanOf(flag)) read.issues = below === undefined ? {} : { below };
}

function keyOf(info: Der): Key {
  const reader = new DerReader(info.body);
  const { oid, parameters } = algorithmOf(reader.next(SEQUENCE));
  const bits = bitsOf(reader.next(BIT_STRING));
  reader.end();
  if (oid === RSA) {
    const numbers = DerReader.within(bits, SEQUENCE);
    const rsa = { modulus: numbers.unsigned(), exponent: numbers.unsigned() };
    numbers.end();
    return { kind: "rsa", rsa };
  }
  const curve = oid === EC && parameters ? CURVES[new DerReader(parameters.raw).oid()] : undefined;
  return curve ? { kind: "ec", curve, point: bits } : { kind: "unknown" };
}

/**
 * Whether this key made `signature` over `message`; nothing where the algorithm or the size of the key is not known here. `hash`: the one
 * that stands beside it, for signatures whose name does not say it; one that does has to name the same.
 */
export function verifiesWith(key: Key, algorithm: Algorithm, hash: string | undefined, message: Uint8Array, signature: Uint8Array): boolean | undefined {
  const [kind, named] = WITH_HASH[algorithm.oid] ?? [];
  if (named !== undefined && hash !== undefined && named !== hash) throw bad("an algorithm and the hash beside it do not agree");
  if (key.kind === "rsa") {
    if (!isUsable(key.rsa)) return undefined;
    if (algorithm.oid === RSA_PSS) return pss(key.rsa, algorithm, hash, message, signature);
    const used = kind === "rsa" ? named : algorithm.oid === RSA ? hash : undefined;
    if (used === undefined || !HASHES[used] || !isPlain(algorithm)) return undefined;
    return verifiesPkcs1(key.rsa, used, message, signature);
  }
  const used = kind === "ec" ? named : algorithm.oid === EC ? hash : undefined;
  const digest = used === undefined ? undefined : HASHES[used];
  if (key.kind !== "ec" || !digest || !isPlain(algorithm)) return undefined;
  try {
    return key.curve.verify(signature, digest(message), key.point, { format: "der", lowS: false, prehash: false });
  } catch {
    return false;
  }
}

function pss(key: RsaKey, { parameters }: Algorithm, beside: string | undefined, message: Uint8Array, signature: Uint8Array): boolean | undefined {
  // What is left out stands for SHA-1, which is not believed.
  if (parameters?.tag !== SEQUENCE) return undefined;
  const reader = new DerReader(parameters.body);
  const inside = (number: number): Der | undefined => reader.maybe(context(number));
  const [hash, mask, salt, trailer] = [inside(0), inside(1), inside(2), inside(3)];
  reader.end();
  if (!hash || !mask || trailer) return undefined;
  const used = algorithmOf(DerReader.one(hash.body, SEQUENCE));
  const masking = algorithmOf(DerReader.one(mask.body, SEQUENCE));
  const under = masking.oid === MGF1 && masking.parameters ? algorithmOf(masking.parameters) : undefined;
  const length = salt ? new DerReader(salt.body).unsigned() : 20n;
  if (!under || under.oid !== used.oid || !HASHES[used.oid] || !isPlain(used) || !isPlain(under) || length > 512n) return undefined;
  if (beside !== undefined && beside !== used.oid) throw bad("an algorithm and the hash beside it do not agree");
  return verifiesPss(key, [used.oid, under.oid], Number(length), message, signature);
}

/** How a certificate leads to one that the reader named: the names on the way; nothing where it does not. */
export function leadsTo(first: Certificate, between: readonly Certificate[], named: readonly Certificate[], when: number): string[] | undefined {
  if (named.some(({ der }) => same(der, first.der))) return [first.name];
  let tries = 0;
  const fits = (one: Certificate, way: readonly Certificate[]): boolean => {
    const last = way.at(-1);
    const may = last && same(one.subject, last.issuer) && isValidAt(one, when) && mayIssue(one, way.length - 1);
    if (!may || tries >= TRIES_MAX) return false;
    tries += 1;
    return issued(one, last);
  };
  const above = (way: readonly Certificate[]): string[] | undefined => {
    const found = named.find((one) => fits(one, way));
    if (found) return [...way, found].map(({ name }) => name);
    if (way.length + 1 >= CHAIN_MAX) return undefined;
    for (const one of between) {
      const further = !way.includes(one) && fits(one, way) ? above([...way, one]) : undefined;
      if (further) return further;
    }
    return undefined;
  };
  return above([first]);
}

/** The last second counts whole. */
export function isValidAt({ notBefore, notAfter }: Certificate, when: number): boolean {
  return when >= notBefore && when <= notAfter + 999;
}

/** Whether it may issue certificates that have so many others of issuers below them. */
function mayIssue({ issues, signsCertificates, purposes, isUnknown }: Certificate, below: number): boolean {
  const isFor = purposes?.some((one) => one === TIME_STAMPING || one === ANY_PURPOSE) ?? true;
  return issues !== undefined && (issues.below === undefined || BigInt(below) <= issues.below) && signsCertificates && isFor && !isUnknown;
}

function issued(issuer: Certificate, one: Certificate): boolean {
  return same(issuer.subject, one.issuer) && verifiesWith(issuer.key, one.algorithm, undefined, one.signed, one.signature) === true;
}

/** The common name of a subject, else its organisation, else its bytes. */
function nameOf(subject: Uint8Array): string {
  const found = new Map<string, string>();
  for (const set of DerReader.within(subject, SEQUENCE).rest()) {
    for (const pair of DerReader.within(set.raw, SET).rest()) {
      const reader = DerReader.within(pair.raw, SEQUENCE);
      const oid = reader.oid();
      const { body } = reader.next();
      reader.end();
      found.set(oid, wordOf(body.subarray(0, 128)));
    }
  }
  return found.get(COMMON_NAME) ?? found.get(ORGANISATION) ?? hex(subject.subarray(0, 32));
}

/** Text with nothing in it that would not show. */
function wordOf(bytes: Uint8Array): string {
  try {
    return textOf(bytes, "name").replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, "\ufffd");
  } catch {
    return hex(bytes);
  }
}

const PEM = /-----BEGIN CERTIFICATE-----\s+([A-Za-z0-9+/=\s]+?)\s+-----END CERTIFICATE-----/g;
/** A file of certificates that a reader names is at most this long. */
export const CERTIFICATES_BYTES_MAX = 1024 * 1024;

/** Those of these certificates that can be read; what came along beside them is passed over. */
export function readable(all: readonly Uint8Array[]): Certificate[] {
  return all.flatMap((der) => {
    try {
      return [parseCertificate(der)];
    } catch (error) {
      if (error instanceof Malformed) return [];
      throw error;
    }
  });
}

/** The certificates of a file that a reader names: PEM, one or several, or one in DER. */
export function certificatesOf(bytes: Uint8Array): Certificate[] {
  if (bytes.length > CERTIFICATES_BYTES_MAX) throw new Malformed("certificate", "the file is too large");
  if (bytes[0] === SEQUENCE) return [parseCertificate(bytes)];
  const found = [...textOf(bytes, "certificate").matchAll(PEM)].map(([, block = ""]) => parseCertificate(base64Decode("certificate", block.replaceAll(/\s/g, ""))));
  if (found.length === 0) throw new Malformed("certificate", "there is no PEM `CERTIFICATE` block in it");
  return found;
}
