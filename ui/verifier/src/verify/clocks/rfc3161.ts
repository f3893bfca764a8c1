/** Time stamps of an authority (RFC 3161): a response with a token in it, which is CMS signed data (RFC 5652). */
import { sha1 } from "@noble/hashes/legacy.js";
import { concat, same } from "../read/bytes.ts";
import { Malformed } from "../read/stop.ts";
import { algorithmOf, BOOLEAN, booleanOf, checkInteger, context, DerReader, GENERALIZED_TIME, INTEGER, isPlain, OCTET_STRING, oidOf, SEQUENCE, SET, timeOf, type Algorithm, type Der } from "./der.ts";
import { HASHES, SHA256 } from "./rsa.ts";
import { atTime, type Clocks, type Stamp } from "./stamp.ts";
import { isValidAt, leadsTo, parseCertificate, verifiesWith, type Certificate } from "./x509.ts";

const SIGNED_DATA = "1.2.840.113549.1.7.2";
const TST_INFO = "1.2.840.113549.1.9.16.1.4";
const CONTENT_TYPE = "1.2.840.113549.1.9.3";
const MESSAGE_DIGEST = "1.2.840.113549.1.9.4";
const SIGNING_CERTIFICATE = "1.2.840.113549.1.9.16.2.12";
const SIGNING_CERTIFICATE_V2 = "1.2.840.113549.1.9.16.2.47";
const CERTIFICATES_MAX = 16;

function bad(why: string): Malformed {
  return new Malformed("time stamp", why);
}

/** What the authority signed: the digest and the time. */
interface TstInfo {
  imprint: Uint8Array;
  genTime: number;
  /** The latest time that the authority means: `genTime` and how far its clock may be off. */
  notAfter: number;
  /** Whether it says how far. */
  isExact: boolean;
  /** Something in it that one has to know, and that is not known here. */
  isUnknown: boolean;
}

interface Token {
  content: Uint8Array;
  certificates: Certificate[];
  signer: Signer;
}

interface Signer {
  /** The serial number with the issuer, or the key's identifier. */
  names: { issuer: Uint8Array; serial: Uint8Array } | { keyIdentifier: Uint8Array };
  digest: Algorithm;
  /** The attributes as they are signed. */
  signed: Uint8Array;
  attributes: ReadonlyMap<string, Der>;
  algorithm: Algorithm;
  signature: Uint8Array;
}

/** Checks a response, as `openssl ts -verify` does, against the digest and the certificates that the reader named. */
export function checkTimeStamp(proof: Uint8Array, digest: Uint8Array, { authorities }: Clocks): Stamp {
  const token = readToken(readResponse(proof));
  const info = readInfo(token.content);
  if (!same(info.imprint, digest)) throw bad("it is of another digest");
  const says: string[] = [];
  const open = (why: string): Stamp => ({ isPending: false, says: [...says, why], onTrust: [] });
  if (info.isUnknown) return open("it says something that one has to know and that this program does not");
  const hash = HASHES[token.signer.digest.oid];
  if (!hash) return open("it uses a hash that this program does not know, so its signature was not checked");
  checkAttributes(token, hash);
  const known = [...token.certificates, ...authorities];
  const signer = known.find((one) => isOf(token.signer, one));
  if (!signer) return open("the certificate of its authority is neither in it nor among those that you named");
  checkSigner(token.signer, signer);
  if (signer.isUnknown) return open("its certificate demands something that this program does not know");
  const holds = verifiesWith(signer.key, token.signer.algorithm, token.signer.digest.oid, token.signer.signed, token.signer.signature);
  if (holds === undefined) return open("it is signed in a way that this program does not know, so its signature was not checked");
  if (!holds) throw bad("the authority's signature does not hold");
  if (!isValidAt(signer, info.genTime)) throw bad("its certificate was not valid at its time");
  says.push(`\`${signer.name}\` signed that it had this digest at ${atTime(info.genTime)}`);
  const way = leadsTo(signer, token.certificates, authorities, info.genTime);
  if (!way) return open(authorities.length === 0 ? "you named no certificate of an authority: name the one of its authority to have it proven" : "its certificate leads to none that you named");
  if (way.length > 1) says.push(`its certificate leads to one that you named: ${way.map((name) => `\`${name}\``).join(", issued by ")}`);
  const onTrust = [`that the clock of \`${signer.name}\` was right, and that nobody else had its key`];
  if (way.length > 1) onTrust.push("that its certificate was not revoked: nobody was asked");
  if (!info.isExact) onTrust.push("how exact its clock is: it does not say");
  return { proven: { notAfter: info.notAfter }, isPending: false, says, onTrust };
}

/** The token of a response that grants one. */
function readResponse(bytes: Uint8Array): Der {
  const outer = DerReader.within(bytes, SEQUENCE);
  const status = outer.into(SEQUENCE);
  const word = status.unsigned();
  if (word > 1n) throw bad(`the authority refused it (status ${word})`);
  status.maybe(SEQUENCE);
  if (status.maybe(0x03)) throw bad("the authority names a failure and grants it");
  status.end();
  if (outer.isAtEnd) throw bad("there is no token in it");
  const token = outer.next(SEQUENCE);
  outer.end();
  return token;
}

function readToken(token: Der): Token {
  const info = new DerReader(token.body);
  if (info.oid() !== SIGNED_DATA) throw bad("its token is no signed data");
  const data = DerReader.within(info.next(context(0)).body, SEQUENCE);
  info.end();
  const version = data.unsigned();
  if (version < 1n || version > 5n) throw bad("its token has an unknown version");
  const digests = data.into(SET).rest().map((one) => algorithmOf(one).oid);
  const inner = data.into(SEQUENCE);
  if (inner.oid() !== TST_INFO) throw bad("its token is about something else than a time");
  const content = DerReader.one(inner.next(context(0)).body, OCTET_STRING).body;
  inner.end();
  const certificates = new DerReader(data.maybe(context(0))?.body ?? new Uint8Array()).rest();
  if (certificates.length > CERTIFICATES_MAX) throw bad(`it carries more than ${CERTIFICATES_MAX} certificates`);
  data.maybe(context(1));
  const signers = data.into(SET);
  const signer = readSigner(signers.next(SEQUENCE));
  // One authority signs, or the time could be the one of anybody.
  signers.end();
  data.end();
  if (!digests.includes(signer.digest.oid)) throw bad("its signer uses a hash that the token does not name");
  return { content, certificates: certificates.filter(({ tag }) => tag === SEQUENCE).map(({ raw }) => parseCertificate(raw)), signer };
}

function readSigner(info: Der): Signer {
  const reader = new DerReader(info.body);
  const version = reader.unsigned();
  const byKey = reader.maybe(context(0, false));
  if (version !== (byKey ? 3n : 1n)) throw bad("its signer has an unknown version");
  const names = byKey ? { keyIdentifier: byKey.body } : issuerOf(reader.into(SEQUENCE));
  const digest = algorithmOf(reader.next(SEQUENCE));
  if (!isPlain(digest)) throw bad("its hash has parameters");
  const attributes = reader.next(context(0));
  const algorithm = algorithmOf(reader.next(SEQUENCE));
  const signature = reader.next(OCTET_STRING).body;
  reader.maybe(context(1));
  reader.end();
  // They are signed as a set that says its own tag (RFC 5652 section 5.4).
  return { names, digest, signed: concat(Uint8Array.of(SET), attributes.raw.subarray(1)), attributes: readAttributes(attributes), algorithm, signature };
}

function issuerOf(reader: DerReader): { issuer: Uint8Array; serial: Uint8Array } {
  const [issuer, serial] = [reader.next(SEQUENCE).raw, reader.next(INTEGER).body];
  reader.end();
  return { issuer, serial };
}

/** Each attribute once, with its one value. */
function readAttributes(all: Der): Map<string, Der> {
  const read = new Map<string, Der>();
  for (const one of new DerReader(all.body).rest()) {
    const reader = DerReader.within(one.raw, SEQUENCE);
    const oid = reader.oid();
    const [value, ...others] = reader.into(SET).rest();
    reader.end();
    if (!value || others.length > 0 || read.has(oid)) throw bad("a signed attribute has not one value");
    read.set(oid, value);
  }
  return read;
}

function checkAttributes({ signer, content }: Token, hash: (bytes: Uint8Array) => Uint8Array): void {
  const [type, digest] = [signer.attributes.get(CONTENT_TYPE), signer.attributes.get(MESSAGE_DIGEST)];
  if (!type || oidOf(DerReader.one(type.raw, 0x06).body) !== TST_INFO) throw bad("the authority signed something else than a time");
  if (!digest || !same(DerReader.one(digest.raw, OCTET_STRING).body, hash(content))) throw bad("the authority signed another time or digest");
}

function isOf({ names }: Signer, one: Certificate): boolean {
  if ("keyIdentifier" in names) return one.keyIdentifier !== undefined && same(one.keyIdentifier, names.keyIdentifier);
  return same(one.issuer, names.issuer) && same(one.serial, names.serial);
}

/** The certificate must be for time stamps alone, and be the one that the signature itself names (RFC 5035). */
function checkSigner({ attributes }: Signer, one: Certificate): void {
  if (!one.isUnknown && (!one.isForTimeStamps || !one.signsThings)) throw bad("its certificate is not one for time stamps alone");
  const [first, second] = [attributes.get(SIGNING_CERTIFICATE), attributes.get(SIGNING_CERTIFICATE_V2)];
  const value = second ?? first;
  if (!value) throw bad("its signature does not say under which certificate it was made");
  const reader = DerReader.within(value.raw, SEQUENCE).into(SEQUENCE).into(SEQUENCE);
  let hash: ((bytes: Uint8Array) => Uint8Array) | undefined = sha1;
  if (second) hash = HASHES[reader.tag === SEQUENCE ? algorithmOf(reader.next(SEQUENCE)).oid : SHA256];
  if (!hash || !same(reader.next(OCTET_STRING).body, hash(one.der))) throw bad("its signature was made under another certificate");
}

function readInfo(content: Uint8Array): TstInfo {
  const reader = DerReader.within(content, SEQUENCE);
  if (reader.unsigned() !== 1n) throw bad("what it says of the time has an unknown version");
  reader.oid();
  const imprint = reader.into(SEQUENCE);
  const hash = algorithmOf(imprint.next(SEQUENCE));
  const digest = imprint.next(OCTET_STRING).body;
  imprint.end();
  if (hash.oid !== SHA256 || !isPlain(hash)) throw bad("it is not of a SHA-256 digest");
  const serial = reader.next(INTEGER).body;
  checkInteger(serial);
  // RFC 3161 allows 160 bits.
  if (serial.length > 21) throw bad("its serial number is too long");
  const time = timeOf(reader.next(GENERALIZED_TIME));
  const accuracy = reader.maybe(SEQUENCE);
  const ordering = reader.maybe(BOOLEAN);
  if (ordering && !booleanOf(ordering)) throw bad("it says what is said by saying nothing");
  const nonce = reader.maybe(INTEGER);
  if (nonce) checkInteger(nonce.body);
  reader.maybe(context(0));
  const extensions = reader.maybe(context(1));
  reader.end();
  const genTime = time.ms + (time.isCut ? 1 : 0);
  const off = accuracy ? accuracyOf(new DerReader(accuracy.body)) : 0;
  return { imprint: digest, genTime, notAfter: genTime + off, isExact: accuracy !== undefined, isUnknown: extensions !== undefined && isCritical(extensions) };
}

/** Whether one of these extensions has to be known; none is. */
function isCritical(extensions: Der): boolean {
  let found = false;
  for (const all = new DerReader(extensions.body); !all.isAtEnd; ) {
    const one = all.into(SEQUENCE);
    one.oid();
    const flag = one.maybe(BOOLEAN);
    if (flag && booleanOf(flag)) found = true;
    one.next(OCTET_STRING);
    one.end();
  }
  return found;
}

/** How far the clock may be off, in milliseconds, rounded up. */
function accuracyOf(reader: DerReader): number {
  const seconds = reader.tag === INTEGER ? reader.unsigned() : 0n;
  const part = (number: number): bigint => {
    const value = reader.maybe(context(number, false));
    if (!value) return 0n;
    checkInteger(value.body);
    const read = value.body.length > 2 ? -1 : value.body.reduce((all, byte) => all * 256 + byte, 0);
    if (read < 1 || read > 999) throw bad("its accuracy is none");
    return BigInt(read);
  };
  const [millis, micros] = [part(0), part(1)];
  reader.end();
  if (seconds > 86_400n) throw bad("its accuracy is none");
  return Number(seconds * 1000n + millis + (micros > 0n ? 1n : 0n));
}
