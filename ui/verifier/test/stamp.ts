/** Time stamps that tests build: an authority with its clock, and a response that is as it should be, or not. */
import { constants, createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { concat, utf8 } from "../src/verify/read/bytes.ts";
import { sha256 } from "../src/verify/read/digest.ts";

type Kind = "ec" | "p384" | "rsa" | "pss";

/** What a stamp is to be like; what is not said is as it should be. */
export interface Wish {
  kind?: Kind;
  by?: Authority;
  purposes?: "server" | "two";
  isCritical?: boolean;
  messageDigest?: Uint8Array;
  contentType?: string;
  certificateHash?: Uint8Array;
  leavesOutCertificate?: boolean;
  breaksSignature?: boolean;
  imprint?: Uint8Array;
  status?: number;
  signers?: number;
  genTime?: string;
  accuracy?: number;
  byKeyIdentifier?: boolean;
  /** The signer's certificate is issued by one that may not issue. */
  underClock?: boolean;
}

export interface Authority {
  kind: Kind;
  key: Pair;
  /** Its own certificate. */
  root: Uint8Array;
}

interface Pair {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

const der = (tag: number, ...parts: Uint8Array[]): Uint8Array => {
  const body = concat(...parts);
  const length = body.length < 0x80 ? [body.length] : body.length < 0x100 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return concat(Uint8Array.of(tag, ...length), body);
};
const sequence = (...parts: Uint8Array[]): Uint8Array => der(0x30, ...parts);
const set = (...parts: Uint8Array[]): Uint8Array => der(0x31, ...parts);
const octets = (bytes: Uint8Array): Uint8Array => der(4, bytes);
const integer = (number: number): Uint8Array => der(2, Uint8Array.of(number));
const nothing = Uint8Array.of(5, 0);
const yes = der(1, Uint8Array.of(0xff));

function oid(text: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const groups = (number: number): number[] => (number < 0x80 ? [number] : [...groups(Math.floor(number / 128)).map((group) => group | 0x80), number % 128]);
  return der(6, Uint8Array.from([first * 40 + second, ...rest.flatMap(groups)]));
}

const SHA256 = sequence(oid("2.16.840.1.101.3.4.2.1"), nothing);

function pair(kind: Kind): Pair {
  if (kind === "rsa" || kind === "pss") return generateKeyPairSync("rsa", { modulusLength: 2048 });
  return generateKeyPairSync("ec", { namedCurve: kind === "ec" ? "P-256" : "P-384" });
}

const ALGORITHMS: Record<Kind, Uint8Array> = {
  ec: sequence(oid("1.2.840.10045.4.3.2")),
  p384: sequence(oid("1.2.840.10045.4.3.2")),
  rsa: sequence(oid("1.2.840.113549.1.1.11"), nothing),
  pss: sequence(oid("1.2.840.113549.1.1.10"), sequence(der(0xa0, SHA256), der(0xa1, sequence(oid("1.2.840.113549.1.1.8"), SHA256)), der(0xa2, integer(32)))),
};

function signedBy({ kind, key }: { kind: Kind; key: Pair }, message: Uint8Array): Uint8Array {
  const salted = { key: key.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
  return new Uint8Array(sign("sha256", message, kind === "pss" ? salted : key.privateKey));
}

const nameOf = (text: string): Uint8Array => sequence(set(sequence(oid("2.5.4.3"), der(0x0c, utf8(text)))));
const extension = (id: string, isCritical: boolean, value: Uint8Array): Uint8Array => sequence(oid(id), ...(isCritical ? [yes] : []), octets(value));

function certificate(serial: number, of: [string, KeyObject], by: [string, { kind: Kind; key: Pair }], extensions: Uint8Array[]): Uint8Array {
  const validity = sequence(der(0x17, utf8("250101000000Z")), der(0x17, utf8("350101000000Z")));
  const key = new Uint8Array(of[1].export({ format: "der", type: "spki" }));
  const body = sequence(der(0xa0, integer(2)), integer(serial), ALGORITHMS[by[1].kind], nameOf(by[0]), validity, nameOf(of[0]), key, der(0xa3, sequence(...extensions)));
  return sequence(body, ALGORITHMS[by[1].kind], der(3, Uint8Array.of(0), signedBy(by[1], body)));
}

export function authority(kind: Kind): Authority {
  const one = { kind, key: pair(kind) };
  return { ...one, root: certificate(1, ["Authority", one.key.publicKey], ["Authority", one], [extension("2.5.29.19", true, sequence(yes))]) };
}

/** A response for a digest, and the certificate that proves it to whoever names it. */
export function stamped(digest: Uint8Array, wish: Wish): { response: Uint8Array; authority: Uint8Array } {
  const by = wish.by ?? authority(wish.kind ?? "ec");
  const own = { kind: by.kind, key: pair(by.kind) };
  const stamping = oid("1.3.6.1.5.5.7.3.8");
  const purposes = wish.purposes === "server" ? [oid("1.3.6.1.5.5.7.3.1")] : wish.purposes === "two" ? [stamping, oid("1.3.6.1.5.5.7.3.1")] : [stamping];
  const usage = extension("2.5.29.37", wish.isCritical ?? true, sequence(...purposes));
  const identifier = new Uint8Array(createHash("sha1").update("key").digest());
  const extensions = [usage, extension("2.5.29.14", false, octets(identifier))];
  const between = { kind: by.kind, key: pair(by.kind) };
  const clock = certificate(3, ["Clock", between.key.publicKey], ["Authority", by], [usage]);
  const cert = wish.underClock === true ? certificate(2, ["Own", own.key.publicKey], ["Clock", between], extensions) : certificate(2, ["Own", own.key.publicKey], ["Authority", by], extensions);
  const accuracy = wish.accuracy === undefined ? [] : [sequence(integer(wish.accuracy))];
  const info = sequence(integer(1), oid("1.2.3.4"), sequence(SHA256, octets(wish.imprint ?? digest)), integer(9), der(0x18, utf8(wish.genTime ?? "20261128120000Z")), ...accuracy);
  const attribute = (id: string, value: Uint8Array): Uint8Array => sequence(oid(id), set(value));
  const attributes = concat(
    attribute("1.2.840.113549.1.9.3", oid(wish.contentType ?? "1.2.840.113549.1.9.16.1.4")),
    attribute("1.2.840.113549.1.9.4", octets(wish.messageDigest ?? sha256(info))),
    ...(wish.leavesOutCertificate === true ? [] : [attribute("1.2.840.113549.1.9.16.2.47", sequence(sequence(sequence(octets(wish.certificateHash ?? sha256(cert))))))]),
  );
  const signature = signedBy(own, der(0x31, attributes));
  if (wish.breaksSignature === true) signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
  const issuer = sequence(nameOf(wish.underClock === true ? "Clock" : "Authority"), integer(2));
  const names = wish.byKeyIdentifier === true ? [integer(3), der(0x80, identifier)] : [integer(1), issuer];
  const signer = sequence(...names, SHA256, der(0xa0, attributes), ALGORITHMS[by.kind], octets(signature));
  const content = sequence(oid("1.2.840.113549.1.9.16.1.4"), der(0xa0, octets(info)));
  const certificates = der(0xa0, cert, ...(wish.underClock === true ? [clock] : []));
  const data = sequence(integer(3), set(SHA256), content, certificates, set(...Array.from({ length: wish.signers ?? 1 }, () => signer)));
  const token = sequence(oid("1.2.840.113549.1.7.2"), der(0xa0, data));
  return { response: sequence(sequence(integer(wish.status ?? 0)), token), authority: by.root };
}
