/** What tests build: bundles signed again, headers and blocks with easy work, and links of an instance. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { schnorr } from "@noble/curves/secp256k1.js";
import { hash256, parseHeader } from "../src/verify/clocks/bitcoin.ts";
import { taggedHash } from "../src/verify/identity.ts";
import { PublicKey, sshString } from "../src/verify/keys.ts";
import { isSummed } from "../src/verify/layout.ts";
import { base64, concat, hex, utf8 } from "../src/verify/read/bytes.ts";
import { canonical, type Json } from "../src/verify/read/canon.ts";
import { digestOf, sha256 } from "../src/verify/read/digest.ts";
import { NAMESPACE } from "../src/verify/signed.ts";
import { writeZip } from "../src/verify/zip.ts";

/** The log of the store that made `task.zip`; its keys have these seeds. */
export const LOG_ID = "5f3a9c1ed0b74a22896cfe01a3d5b7c9";
const LOG_SEED = new Uint8Array(32).fill(10);
const MANIFEST_SEED = new Uint8Array(32).fill(12);

/** The files as an insider would pack them, who has the manifest key. */
export function packed(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const names = [...files.keys()].filter(isSummed).sort();
  const sums = utf8(names.map((name) => `${digestOf(files.get(name) ?? new Uint8Array())}  ${name}\n`).join(""));
  const all = new Map(files).set("SHA256SUMS", sums).set("SHA256SUMS.ed25519", ed25519.sign(sums, MANIFEST_SEED)).set("SHA256SUMS.sshsig", sshSignature(sums));
  return writeZip(new Map([...all].sort(([left], [right]) => (left < right ? -1 : 1))));
}

function sshSignature(message: Uint8Array): Uint8Array {
  const [namespace, nothing, hash] = [sshString(utf8(NAMESPACE)), sshString(new Uint8Array()), sshString(utf8("sha256"))];
  const signed = ed25519.sign(concat(utf8("SSHSIG"), namespace, nothing, hash, sshString(sha256(message))), MANIFEST_SEED);
  const key = PublicKey.fromBytes(ed25519.getPublicKey(MANIFEST_SEED));
  const inner = sshString(concat(sshString(utf8("ssh-ed25519")), sshString(signed)));
  const blob = base64(concat(utf8("SSHSIG"), Uint8Array.of(0, 0, 0, 1), sshString(key.sshBlob), namespace, nothing, hash, inner));
  return utf8(`-----BEGIN SSH SIGNATURE-----\n${(blob.match(/.{1,70}/g) ?? []).join("\n")}\n-----END SSH SIGNATURE-----\n`);
}

/** Bytes of the least first. */
export function little(number: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => Math.floor(number / 256 ** at) % 256);
}

/** A header with the easiest work there is. */
export function mine(previous: Uint8Array, root: Uint8Array, time: number, bits = 0x207f_ffff): Uint8Array {
  for (let nonce = 0; ; nonce += 1) {
    const header = concat(little(4, 4), previous, root, little(time, 4), little(bits, 4), little(nonce, 4));
    try {
      parseHeader(header);
      return header;
    } catch {
      if (nonce > 10_000) throw new Error("no header has this work");
    }
  }
}

/** Headers on each other, the first with no known one before it. */
export function chain(roots: readonly Uint8Array[], time: number): Uint8Array[] {
  const all: Uint8Array[] = [];
  for (const [at, root] of roots.entries()) all.push(mine(at === 0 ? new Uint8Array(32).fill(7) : hash256(all[at - 1] ?? new Uint8Array()), root, time + 600 * at));
  return all;
}

/** A transaction with one input and these scripts, with or without a witness; both have one id. */
export function transaction(scripts: readonly Uint8Array[], hasWitness = true): Uint8Array {
  const input = concat(new Uint8Array(32).fill(3), little(1, 4), little(0, 1), little(0xffff_fffd, 4));
  const outputs = scripts.map((script) => concat(little(0, 8), little(script.length, 1), script));
  const body = concat(little(1, 1), input, little(outputs.length, 1), ...outputs);
  const witness = concat(little(2, 1), little(3, 1), utf8("sig"), little(2, 1), utf8("pk"));
  return hasWitness ? concat(little(2, 4), Uint8Array.of(0, 1), body, witness, little(0, 4)) : concat(little(2, 4), body, little(0, 4));
}

/** The Merkle root of ids, as Bitcoin pairs them. */
export function merkleRoot(ids: readonly Uint8Array[]): Uint8Array {
  let row = [...ids];
  while (row.length > 1) row = Array.from({ length: Math.ceil(row.length / 2) }, (_, at) => hash256(row[2 * at] ?? new Uint8Array(), row[2 * at + 1] ?? row[2 * at] ?? new Uint8Array()));
  return row[0] ?? new Uint8Array(32);
}

/** What `gettxoutproof` gives for one of a block's transactions. */
export function txOutProof(header: Uint8Array, ids: readonly Uint8Array[], wanted: number): Uint8Array {
  const [bits, hashes]: [number[], Uint8Array[]] = [[], []];
  const width = (height: number): number => Math.ceil(ids.length / 2 ** height);
  const walk = (height: number, place: number): void => {
    const [from, to] = [place * 2 ** height, (place + 1) * 2 ** height];
    const has = wanted >= from && wanted < to;
    bits.push(has ? 1 : 0);
    if (height === 0 || !has) return void hashes.push(merkleRoot(padded(ids.slice(from, to), height)));
    walk(height - 1, 2 * place);
    if (2 * place + 1 < width(height - 1)) walk(height - 1, 2 * place + 1);
  };
  let height = 0;
  while (width(height) > 1) height += 1;
  walk(height, 0);
  const flags = Array.from({ length: Math.ceil(bits.length / 8) }, (_, at) => bits.slice(8 * at, 8 * at + 8).reduce((all, bit, place) => all | (bit << place), 0));
  return concat(header, little(ids.length, 4), little(hashes.length, 1), ...hashes, little(flags.length, 1), Uint8Array.from(flags));
}

/** A part of the lowest row that is as high as its node: what is short is paired with itself at each level. */
function padded(ids: readonly Uint8Array[], height: number): Uint8Array[] {
  let row = [...ids];
  for (let level = 0; level < height; level += 1) row = Array.from({ length: Math.ceil(row.length / 2) }, (_, at) => hash256(row[2 * at] ?? new Uint8Array(), row[2 * at + 1] ?? row[2 * at] ?? new Uint8Array()));
  return row;
}

/** A detached OpenTimestamps file by which a digest leads through one step to a block's root, and to a calendar. */
export function otsTo(digest: Uint8Array, height: number): { file: Uint8Array; root: Uint8Array } {
  const magic = concat(Uint8Array.of(0), utf8("OpenTimestamps"), Uint8Array.of(0, 0), utf8("Proof"), Uint8Array.of(0, 0xbf, 0x89, 0xe2, 0xe8, 0x84, 0xe8, 0x92, 0x94, 1, 8));
  const varint = height < 0x80 ? [height] : [(height & 0x7f) | 0x80, height >> 7];
  const bitcoin = Uint8Array.of(0, 0x05, 0x88, 0x96, 0x0d, 0x73, 0xd7, 0x19, 0x01, varint.length, ...varint);
  return { file: concat(magic, digest, Uint8Array.of(0xf0, 2), utf8("ab"), Uint8Array.of(8), bitcoin), root: sha256(digest, utf8("ab")) };
}

/** A key of an instance by a number, and its secret. */
export function instanceKey(number: number): { scalar: Uint8Array; pubkey: string } {
  const scalar = new Uint8Array(32).fill(number);
  return { scalar, pubkey: hex(schnorr.getPublicKey(scalar)) };
}

/** The statement that binds a key to the log's. */
export function bound(number: number, change: Record<string, Json> = {}): Uint8Array {
  const statement = {
    format: "hermit-instance-key/1", instance_id: LOG_ID, instance_pubkey: instanceKey(number).pubkey, soul_sha256: "aa".repeat(32), log_pubkey: hex(ed25519.getPublicKey(LOG_SEED)), ...change,
  };
  const bytes = utf8(canonical(statement));
  const byInstance = hex(schnorr.sign(taggedHash(bytes), instanceKey(number).scalar));
  return utf8(canonical({ statement, signature_by_log: hex(ed25519.sign(bytes, LOG_SEED)), signature_by_instance: byInstance }));
}

/** A link signed by these keys, in order. */
export function signedLink(link: Record<string, Json>, ...signers: number[]): { line: Uint8Array; sha256: string } {
  const bytes = utf8(canonical(link));
  const signatures = signers.map((number) => ({ pubkey: instanceKey(number).pubkey, signature: hex(schnorr.sign(taggedHash(bytes), instanceKey(number).scalar)) }));
  return { line: utf8(canonical({ link, signatures })), sha256: digestOf(bytes) };
}

const HEAD = (size: number): Json => ({ origin: `hermit.local/${LOG_ID}`, size, root: "bb".repeat(32) });

/** Links of a chain, each on the one before it. */
export const links = {
  attestation: (by: number, version: number, at: number, previous?: string): Record<string, Json> => ({
    kind: "attestation", format: "hermit-identity/1", instance_id: LOG_ID, version, soul_sha256: version === 1 ? "aa".repeat(32) : "ab".repeat(32),
    ...(previous !== undefined && { previous }), instance_pubkey: instanceKey(by).pubkey, log_head: HEAD(at), attested_at: at,
  }),
  handover: (from: number, to: number, at: number, previous: string): Record<string, Json> => ({
    kind: "handover", format: "hermit-identity/1", instance_id: LOG_ID, previous, from_pubkey: instanceKey(from).pubkey, to_pubkey: instanceKey(to).pubkey, reason: "rotation", log_head: HEAD(at), handed_over_at: at,
  }),
  revocation: (of: number, by: number, at: number, previous: string): Record<string, Json> => ({
    kind: "revocation", format: "hermit-identity/1", instance_id: LOG_ID, previous, revoked_pubkey: instanceKey(of).pubkey, by_pubkey: instanceKey(by).pubkey, revoked_at: at,
  }),
};
