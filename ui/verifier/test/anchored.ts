/** A bundle of a store that anchored its log and knows who it is, as tests build one. */
import { Headers, parseTransaction } from "../src/verify/clocks/bitcoin.ts";
import { scriptOf } from "../src/verify/clocks/op_return.ts";
import { NO_CLOCKS, type Clocks } from "../src/verify/clocks/stamp.ts";
import { certificatesOf } from "../src/verify/clocks/x509.ts";
import { verify, type Checked } from "../src/verify/check.ts";
import { parseCheckpoint, parseNote } from "../src/verify/note.ts";
import { concat, hex, hexExact, textOf, utf8 } from "../src/verify/read/bytes.ts";
import { canonical, type Json } from "../src/verify/read/canon.ts";
import { digestOf, sha256 } from "../src/verify/read/digest.ts";
import { parseTrust } from "../src/verify/trust.ts";
import { openZip } from "../src/verify/zip.ts";
import { bound, chain, links, merkleRoot, otsTo, packed, signedLink, transaction, txOutProof } from "./build.ts";
import { data, filesOf } from "./place.ts";
import { authority, stamped } from "./stamp.ts";

const trust = [parseTrust(textOf(data("log.pub.pem"), "key"))];
export const plain = filesOf(data("task.zip"));
export const of = (files: ReadonlyMap<string, Uint8Array>, name: string): Uint8Array => files.get(name) ?? new Uint8Array();
export const check = (files: ReadonlyMap<string, Uint8Array>, clocks: Clocks = NO_CLOCKS): Checked => verify(() => openZip(packed(files)), trust, undefined, clocks);
export const json = (value: Json): Uint8Array => utf8(canonical(value));

export const note = of(plain, "log/checkpoint");
const text = parseNote(note).text;
const head = parseCheckpoint(text);
const digest = sha256(utf8(text));
export const subject = { of: "head", origin: head.origin, size: Number(head.size), root: hex(head.root), note_sha256: digestOf(note) };
export const asked = (number: number, change: Record<string, Json> = {}): Uint8Array => json({ digest: hex(digest), number, requested_at: 5, subject, ...change });
export const way = utf8(`hermit-consistency/1\nold ${head.size}\nnew ${head.size}\n`);

export const by = authority("ec");
const stamp = stamped(digest, { by }).response;
const { file: ots, root: otsRoot } = otsTo(digest, 101);
const raw = transaction([scriptOf(digest)]);
const ids = [parseTransaction(raw).id, sha256(utf8("another"))];
export const TIME = 1_800_000_000;
const [below = new Uint8Array(), ofOts = new Uint8Array(), ofOwn = new Uint8Array()] = chain([digest, otsRoot, merkleRoot(ids)], TIME);
const own = json({ header: hex(ofOwn), height: 102, raw_tx: hex(raw), tx_out_proof: hex(txOutProof(ofOwn, ids, 0)) });
/** The headers as a file. */
export const headers = concat(utf8("# height 100\n"), below, ofOts, ofOwn);
export const clocks: Clocks = { authorities: certificatesOf(by.root), headers: Headers.parse(headers) };

export const genesis = signedLink(links.attestation(1, 1, 3), 1);
export const second = signedLink(links.attestation(1, 2, 4, genesis.sha256), 1);
const identity: [string, Uint8Array][] = [
  ["identity/key.json", bound(1)],
  ["identity/links.jsonl", concat(genesis.line, utf8("\n"), second.line, utf8("\n"))],
];
const anchored: [string, Uint8Array][] = [
  ["anchors/7.json", asked(7)],
  ["anchors/7.checkpoint", note],
  ["anchors/7.consistency", way],
  ["anchors/7.tlog-proof", of(plain, "task/checkpoint.tlog-proof")],
  ["anchors/7.rfc3161.tsr", stamp],
  ["anchors/7.opentimestamps.ots", ots],
  ["anchors/7.op_return.json", own],
];
const linked: [string, Uint8Array][] = [
  ["anchors/12.json", asked(12, { digest: second.sha256, subject: { of: "link", number: 2 } })],
  ["anchors/12.opentimestamps.ots", otsTo(hexExact("digest", second.sha256, 32), 150).file],
];
export const whole = new Map([...plain, ...identity, ...anchored, ...linked]);
export { ots };
