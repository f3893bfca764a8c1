/** Who the instance is: its key and the log's key sign each other, and its links lead back to genesis (mesh.md 2). */
import { schnorr } from "@noble/curves/secp256k1.js";
import { hex, hexExact, utf8 } from "./read/bytes.ts";
import { canonical, isObject, parseCanonical, type Json } from "./read/canon.ts";
import { digestOf, sha256 } from "./read/digest.ts";
import { PublicKey } from "./keys.ts";
import { array, defaulted, digest, integer, names, object, string, u32, u64, type Of, type Shape } from "./read/shape.ts";
import { Malformed } from "./read/stop.ts";

const KEY_FORMAT = "hermit-instance-key/1";
const LINK_FORMAT = "hermit-identity/1";
const SIGNING_TAG = utf8("hermit/identity/1");
const LINK_BYTES_MAX = 16 * 1024;
const LINKS_MAX = 10_000;

/** So many bytes in lower-case hex. */
const bytesOf = (length: number): Shape<string> => (value) => hex(hexExact("key or signature", string(value), length));
/** A key of BIP-340: the first coordinate of a point of the curve. */
const key: Shape<string> = (value) => {
  const text = bytesOf(32)(value);
  try {
    schnorr.utils.lift_x(BigInt(`0x${text}`));
  } catch {
    throw new Malformed("key", "it is no point of the curve");
  }
  return text;
};
const signature = bytesOf(64);
const format = (word: string): Shape<string> => names(word);

const statement = object({ format: format(KEY_FORMAT), instance_id: string, instance_pubkey: key, soul_sha256: digest, log_pubkey: bytesOf(32) }, "closed");
const boundKey = object({ statement, signature_by_log: signature, signature_by_instance: signature }, "closed");
const head = object({ origin: string, size: u64, root: digest }, "closed");
const attestation = object(
  { kind: names("attestation"), format: format(LINK_FORMAT), instance_id: string, version: u32, soul_sha256: digest, previous: defaulted(digest), instance_pubkey: key, log_head: head, attested_at: integer },
  "closed",
);
const handover = object(
  {
    kind: names("handover"), format: format(LINK_FORMAT), instance_id: string, previous: digest, from_pubkey: key, to_pubkey: key, reason: names("rotation", "successor"),
    successor_sha256: defaulted(digest), log_head: head, handed_over_at: integer,
  },
  "closed",
);
const revocation = object(
  { kind: names("revocation"), format: format(LINK_FORMAT), instance_id: string, previous: digest, revoked_pubkey: key, by_pubkey: key, revoked_at: integer },
  "closed",
);
type Link = Of<typeof attestation> | Of<typeof handover> | Of<typeof revocation>;

/** One of the three kinds of link, by its `kind`. */
function link(value: Json): Link {
  const kind = isObject(value) ? value["kind"] : undefined;
  const read = kind === "attestation" ? attestation(value) : kind === "handover" ? handover(value) : revocation(value);
  if (read.kind === "attestation" && read.version === 0) throw new Malformed("link", "versions are counted from 1");
  if (read.kind === "handover" && read.from_pubkey === read.to_pubkey) throw new Malformed("link", "the old key and the new one are the same");
  if (read.kind === "revocation" && read.revoked_pubkey === read.by_pubkey) throw new Malformed("link", "a key cannot revoke itself");
  return read;
}

const signedLink = object({ link, signatures: array(object({ pubkey: string, signature: string }, "closed")) }, "closed");

/** What is wrong with a chain. */
export type TrustFinding =
  | "bad_signature" | "gap" | "fork" | "second_genesis" | "revoked_key" | "unknown_key" | "other_instance" | "out_of_order" | "no_log_key" | "malformed";

export interface Finding {
  what: TrustFinding;
  /** The line of the link; nothing where it is about the key. */
  number: number | null;
  says: string;
}

/** A link that was followed. */
export interface Followed {
  number: number;
  sha256: string;
  link: Link;
}

/** What following a chain back to genesis found. */
export interface Graph {
  instanceId?: string;
  keyInForce?: string;
  /** The log's key that signed the first key, and that key it. */
  logKey?: string;
  links: Followed[];
  /** In the order of the lines; about the key first. */
  findings: Finding[];
}

/** The hash of BIP-340 under a tag of our own. */
export function taggedHash(bytes: Uint8Array): Uint8Array {
  const tag = sha256(SIGNING_TAG);
  return sha256(tag, tag, bytes);
}

function verifies(pubkey: string, bytes: Uint8Array, signed: string): boolean {
  return /^[0-9a-f]{128}$/.test(signed) && schnorr.verify(hexExact("signature", signed, 64), taggedHash(bytes), hexExact("key", pubkey, 32));
}

/** Follows a chain: the bound key, and signed links in order from genesis. What is wrong is a finding. */
export function follow(bound: Uint8Array | undefined, lines: readonly Uint8Array[]): Graph {
  return new Follower().follow(bound, lines);
}

/** A line that was read. */
interface Line {
  number: number;
  link: Link;
  sha256: string;
  bytes: Uint8Array;
  signatures: readonly { pubkey: string; signature: string }[];
}

type Found = [what: TrustFinding, says: string];

class Follower {
  private readonly graph: Graph = { links: [], findings: [] };
  private bound?: Of<typeof statement>;
  /** On which line each link stands first. */
  private readonly places = new Map<string, number>();
  /** Links that have their place in the chain, and the last of them. */
  private readonly inChain = new Set<string>();
  private head?: string;
  private inForce?: string;
  /** Keys that handed over. */
  private readonly gone = new Set<string>();
  private attested?: { version: number; soul: string };
  private time = -Infinity;
  /** The greatest size that was named, by log. */
  private readonly sizes = new Map<string, number>();

  follow(key: Uint8Array | undefined, lines: readonly Uint8Array[]): Graph {
    const { graph } = this;
    if (key) this.bind(key);
    const read = lines.slice(0, LINKS_MAX).flatMap((line, at) => this.line(at + 1, line) ?? []);
    if (lines.length > LINKS_MAX) this.finds(LINKS_MAX + 1, "malformed", `more than ${LINKS_MAX} links are not followed`);
    for (const { sha256: digestOfLink, number } of read) {
      if (!this.places.has(digestOfLink)) this.places.set(digestOfLink, number);
    }
    graph.instanceId = this.bound?.instance_id ?? read[0]?.link.instance_id;
    let wrongFrom = Math.min(...graph.findings.map(({ number }) => number ?? 0));
    for (const one of read) {
      for (const [what, says] of this.take(one)) {
        wrongFrom = Math.min(wrongFrom, one.number);
        this.finds(one.number, what, says);
      }
      if (one.number < wrongFrom) graph.keyInForce = this.inForce;
      graph.links.push({ number: one.number, sha256: one.sha256, link: one.link });
    }
    graph.findings.sort((left, right) => (left.number ?? 0) - (right.number ?? 0));
    return graph;
  }

  private finds(number: number | null, what: TrustFinding, says: string): void {
    this.graph.findings.push({ what, number, says });
  }

  /** The key as the log's key signs it, and it that one. */
  private bind(bytes: Uint8Array): void {
    try {
      const { statement: said, signature_by_log, signature_by_instance } = boundKey(short(bytes));
      const signed = utf8(canonical({ ...said }));
      const isByLog = publicKey(said.log_pubkey)?.verifies(signed, hexExact("signature", signature_by_log, 64)) ?? false;
      if (!isByLog) throw new Malformed("key", "the log's key did not sign the key of the instance");
      if (!verifies(said.instance_pubkey, signed, signature_by_instance)) throw new Malformed("key", "the key of the instance did not sign the log's key");
      this.bound = said;
      this.graph.logKey = said.log_pubkey;
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      this.finds(null, "no_log_key", error.message);
    }
  }

  private line(number: number, line: Uint8Array): Line | undefined {
    try {
      const value = short(line);
      const { link: read, signatures } = signedLink(value);
      const bytes = utf8(canonical(isObject(value) ? value["link"] ?? null : null));
      return { number, link: read, sha256: digestOf(bytes), bytes, signatures };
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      this.finds(number, "malformed", error.message);
      return undefined;
    }
  }

  /** What is wrong with a link. One that belongs elsewhere, or whose signer may not sign, moves nothing. */
  private take(one: Line): Found[] {
    const first = this.places.get(one.sha256);
    if (first !== one.number) return [["out_of_order", `it is the link of line ${first ?? 0} once more`]];
    if (one.link.instance_id !== this.graph.instanceId) return [["other_instance", "it belongs to another instance"]];
    const place = this.placeOf(one);
    if (place && (place[0] === "fork" || place[0] === "second_genesis")) return [place];
    const found = place ? [place] : [];
    const stranger = this.stranger(one.link);
    if (stranger) return [...found, stranger];
    if (!isSigned(one)) found.push(["bad_signature", "it is not signed by exactly those who have to, or a signature does not hold"]);
    found.push(...this.backwards(one.link), ...this.otherwise(one.link));
    this.step(one);
    return found;
  }

  /** What is wrong with the place of a link. */
  private placeOf({ link: { previous }, number }: Line): Found | undefined {
    if (previous === this.head) return undefined;
    if (previous === undefined) return ["second_genesis", "nothing stands before it, and it is not the first"];
    const before = this.places.get(previous);
    if (before === undefined) return ["gap", "the link before it is not here"];
    if (this.inChain.has(previous)) return ["fork", `another link follows that of line ${before} already`];
    return before > number ? ["out_of_order", `the link before it stands on line ${before}, behind it`] : ["gap", `the link before it, on line ${before}, is not part of the chain`];
  }

  /** Why a key that it names may not stand there. */
  private stranger(one: Link): Found | undefined {
    const [signer = ""] = signersOf(one);
    const unlike = (key: string): Found => (this.gone.has(key) ? ["revoked_key", "one of its keys had handed over, or was revoked, before"] : ["unknown_key", "nobody handed over to one of its keys"]);
    const mayBegin = this.inForce === undefined && one.kind === "attestation";
    if (!mayBegin && signer !== this.inForce) return unlike(signer);
    if (one.kind === "handover" && this.gone.has(one.to_pubkey)) return unlike(one.to_pubkey);
    // What is not to be believed is a key of this instance that handed over: the one in force says so.
    return one.kind === "revocation" && !this.gone.has(one.revoked_pubkey) ? unlike(one.revoked_pubkey) : undefined;
  }

  /** Whether version, time or head of the log go back. */
  private backwards(one: Link): Found[] {
    const found: Found[] = [];
    if (one.kind === "attestation" && this.attested) {
      if (one.version < this.attested.version) found.push(["out_of_order", `version ${one.version} does not follow version ${this.attested.version}`]);
      else if (one.version === this.attested.version && one.soul_sha256 !== this.attested.soul) found.push(["out_of_order", `version ${one.version} had another SOUL.md before`]);
    }
    if (madeAt(one) < this.time) found.push(["out_of_order", "it is older than the link before it"]);
    if (one.kind !== "revocation" && one.log_head.size < (this.sizes.get(one.log_head.origin) ?? 0)) found.push(["out_of_order", "the head of the log that it names is older than one before"]);
    return found;
  }

  /** Whether genesis is of another key than the one that the log's key signed. */
  private otherwise(one: Link): Found[] {
    if (one.kind !== "attestation" || !this.bound || this.inForce !== undefined) return [];
    if (one.instance_pubkey !== this.bound.instance_pubkey) return [["no_log_key", "the log's key signed another first key"]];
    return one.version === 1 && one.soul_sha256 !== this.bound.soul_sha256 ? [["no_log_key", "the first key derives from another SOUL.md"]] : [];
  }

  private step({ link: one, sha256: digestOfLink }: Line): void {
    this.inChain.add(digestOfLink);
    this.head = digestOfLink;
    this.time = Math.max(this.time, madeAt(one));
    if (one.kind !== "revocation") this.sizes.set(one.log_head.origin, Math.max(one.log_head.size, this.sizes.get(one.log_head.origin) ?? 0));
    if (one.kind === "attestation") {
      this.inForce = one.instance_pubkey;
      if (one.version >= (this.attested?.version ?? 0)) this.attested = { version: one.version, soul: one.soul_sha256 };
    } else if (one.kind === "handover") {
      this.gone.add(one.from_pubkey);
      this.inForce = one.to_pubkey;
    }
  }
}

/** A canonical value of no more bytes than a link may have. */
function short(bytes: Uint8Array): Json {
  if (bytes.length > LINK_BYTES_MAX) throw new Malformed("link", `it has more than ${LINK_BYTES_MAX} bytes`);
  return parseCanonical(bytes);
}

function isSigned({ link: one, bytes, signatures }: Line): boolean {
  const wanted = signersOf(one);
  return wanted.length === signatures.length && wanted.every((signer, at) => {
    const made = signatures[at];
    return made?.pubkey === signer && verifies(signer, bytes, made.signature);
  });
}

function publicKey(text: string): PublicKey | undefined {
  try {
    return PublicKey.fromBytes(hexExact("key", text, 32));
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

function signersOf(one: Link): string[] {
  switch (one.kind) {
    case "attestation":
      return [one.instance_pubkey];
    case "handover":
      return [one.from_pubkey, one.to_pubkey];
    case "revocation":
      return [one.by_pubkey];
  }
}

function madeAt(one: Link): number {
  return one.kind === "attestation" ? one.attested_at : one.kind === "handover" ? one.handed_over_at : one.revoked_at;
}
