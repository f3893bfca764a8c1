/** Who the instance is: its key and the log's key sign each other, and its links lead back to genesis (mesh.md 2). */
import { schnorr } from "@noble/curves/secp256k1.js";
import { hex, hexExact, utf8 } from "./read/bytes.ts";
import { canonical, isObject, parseCanonical, type Json } from "./read/canon.ts";
import { digestOf, sha256 } from "./read/digest.ts";
import { PublicKey } from "./keys.ts";
import { array, digest, integer, names, nullable, object, string, u32, u64, type Of, type Shape } from "./read/shape.ts";
import { Malformed } from "./read/stop.ts";

const KEY_FORMAT = "hermit-instance-key/1";
const LINK_FORMAT = "hermit-identity/1";
const SIGNING_TAG = utf8("hermit/identity/1");
const LINK_BYTES_MAX = 16 * 1024;
const LINKS_MAX = 10_000;

/** So many bytes in lower-case hex. */
const bytesOf = (length: number): Shape<string> => (value) => hex(hexExact("key or signature", string(value), length));
const key = bytesOf(32);
const signature = bytesOf(64);
const format = (word: string): Shape<string> => names(word);

const statement = object({ format: format(KEY_FORMAT), instance_id: string, instance_pubkey: key, soul_sha256: digest, log_pubkey: key }, "closed");
const boundKey = object({ statement, signature_by_log: signature, signature_by_instance: signature }, "closed");
const head = object({ origin: string, size: u64, root: digest }, "closed");
const attestation = object(
  { kind: names("attestation"), format: format(LINK_FORMAT), instance_id: string, version: u32, soul_sha256: digest, previous: nullable(digest), instance_pubkey: key, log_head: head, attested_at: integer },
  "closed",
);
const handover = object(
  {
    kind: names("handover"), format: format(LINK_FORMAT), instance_id: string, previous: digest, from_pubkey: key, to_pubkey: key, reason: names("rotation", "successor"),
    successor_sha256: nullable(digest), log_head: head, handed_over_at: integer,
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
  return kind === "attestation" ? attestation(value) : kind === "handover" ? handover(value) : revocation(value);
}

const signedLink = object({ link, signatures: array(object({ pubkey: key, signature }, "closed")) }, "closed");

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
  findings: Finding[];
}

/** The hash of BIP-340 under a tag of our own. */
export function taggedHash(bytes: Uint8Array): Uint8Array {
  const tag = sha256(SIGNING_TAG);
  return sha256(tag, tag, bytes);
}

function verifies(pubkey: string, bytes: Uint8Array, signed: string): boolean {
  return schnorr.verify(hexExact("signature", signed, 64), taggedHash(bytes), hexExact("key", pubkey, 32));
}

/** Follows a chain: the bound key, and signed links in order from genesis. What is wrong is a finding. */
export function follow(bound: Uint8Array | undefined, lines: readonly Uint8Array[]): Graph {
  return new Follower().follow(bound, lines);
}

class Follower {
  private readonly graph: Graph = { links: [], findings: [] };
  /** The links that have been followed by another, by their digests; and all that are known. */
  private readonly known = new Map<string, { followed: boolean }>();
  /** Keys that sign nothing any more, and why. */
  private readonly gone = new Map<string, string>();
  private version = 0;
  private time = -Infinity;
  private number: number | null = null;

  follow(bound: Uint8Array | undefined, lines: readonly Uint8Array[]): Graph {
    if (bound) this.bind(bound);
    else this.finds("no_log_key", "no statement binds its key to that of the log");
    for (const [at, line] of lines.entries()) {
      this.number = at + 1;
      if (at === LINKS_MAX) {
        this.finds("malformed", `there are more than ${LINKS_MAX} links`);
        break;
      }
      this.take(line);
    }
    this.number = null;
    if (lines.length === 0) this.finds("gap", "there are no links, so there is no genesis");
    return this.graph;
  }

  private finds(what: TrustFinding, says: string): void {
    this.graph.findings.push({ what, number: this.number, says });
  }

  /** The key as the log's key signs it, and it that one. */
  private bind(bytes: Uint8Array): void {
    const read = this.read(bytes, boundKey);
    if (!read) return;
    const { statement: said, signature_by_log, signature_by_instance } = read;
    const signed = utf8(canonical({ ...said }));
    const isByLog = publicKey(said.log_pubkey)?.verifies(signed, hexExact("signature", signature_by_log, 64)) ?? false;
    if (!isByLog) this.finds("no_log_key", "the log's key did not sign the key of the instance");
    if (!verifies(said.instance_pubkey, signed, signature_by_instance)) this.finds("no_log_key", "the key of the instance did not sign the log's key");
    this.graph.instanceId = said.instance_id;
    this.graph.keyInForce = said.instance_pubkey;
    if (this.graph.findings.length === 0) this.graph.logKey = said.log_pubkey;
  }

  private read<T>(bytes: Uint8Array, shape: Shape<T>): T | undefined {
    try {
      if (bytes.length > LINK_BYTES_MAX) throw new Malformed("link", `it has more than ${LINK_BYTES_MAX} bytes`);
      return shape(parseCanonical(bytes));
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      this.finds("malformed", error.message);
      return undefined;
    }
  }

  private take(line: Uint8Array): void {
    const read = this.read(line, signedLink);
    if (!read) return;
    const bytes = utf8(canonical(linkIn(line)));
    const sha256Of = digestOf(bytes);
    const one = read.link;
    const found = this.graph.findings.length;
    this.graph.instanceId ??= one.instance_id;
    if (one.instance_id !== this.graph.instanceId) this.finds("other_instance", "it belongs to another instance");
    const wanted = signersOf(one);
    const isSigned = wanted.length === read.signatures.length && wanted.every((signer, at) => {
      const made = read.signatures[at];
      return made?.pubkey === signer && verifies(signer, bytes, made.signature);
    });
    if (!isSigned) this.finds("bad_signature", "it is not signed by the keys that it names, in their order");
    this.place(one, sha256Of);
    this.keys(one, wanted);
    this.order(one);
    this.graph.links.push({ number: this.number ?? 0, sha256: sha256Of, link: one });
    this.known.set(sha256Of, { followed: false });
    // What does not hold decides nothing for those after it.
    if (this.graph.findings.length === found) this.apply(one);
  }

  /** Which link it follows. */
  private place(one: Link, own: string): void {
    if (this.known.has(own)) return this.finds("fork", "it stands before it already");
    if (one.previous === undefined) {
      if (this.known.size > 0) this.finds("second_genesis", "nothing is before it, and it is not the first");
      return;
    }
    const before = this.known.get(one.previous);
    if (!before) this.finds("gap", `the link before it, ${one.previous}, is not here`);
    else if (before.followed) this.finds("fork", "another link names the same one before it");
    else before.followed = true;
  }

  /** Whether its keys may sign. */
  private keys(one: Link, wanted: readonly string[]): void {
    this.graph.keyInForce ??= this.known.size === 0 ? wanted[0] : undefined;
    const [first = "", second] = wanted;
    const gone = this.gone.get(first) ?? (second === undefined ? undefined : this.gone.get(second));
    if (gone !== undefined) this.finds("revoked_key", gone);
    else if (first !== this.graph.keyInForce) this.finds("unknown_key", `the key ${first} is not the one in force`);
    if (one.kind === "handover" && first === second) this.finds("malformed", "a key hands over to itself");
    if (one.kind === "revocation" && one.revoked_pubkey === one.by_pubkey) this.finds("malformed", "a key revokes itself");
  }

  private order(one: Link): void {
    const time = madeAt(one);
    if (time < this.time) this.finds("out_of_order", "it is older than the link before it");
    else if (one.kind === "attestation" && (one.version < this.version || one.version === 0)) this.finds("out_of_order", `version ${one.version} does not follow version ${this.version}`);
    this.time = Math.max(this.time, time);
    if (one.kind === "attestation") this.version = Math.max(this.version, one.version);
  }

  private apply(one: Link): void {
    if (one.kind === "handover") {
      this.gone.set(one.from_pubkey, "one of its keys had handed over before");
      this.graph.keyInForce = one.to_pubkey;
    } else if (one.kind === "revocation") {
      this.gone.set(one.revoked_pubkey, "one of its keys was revoked before");
    }
  }
}

/** The link as it stands in a line that was read. */
function linkIn(line: Uint8Array): Json {
  const value = parseCanonical(line);
  return isObject(value) ? value["link"] ?? null : null;
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
