/** Names of the files of a bundle, and what none of them may be (proof.md 6). */

/** Name and version of the bundle format. */
export const FORMAT = "hermit-proof/1";

export const README = "README.txt";
export const SUMS = "SHA256SUMS";
export const SUMS_ED25519 = "SHA256SUMS.ed25519";
export const SUMS_SSHSIG = "SHA256SUMS.sshsig";
export const KEY_RECEIPT = "keys/receipt.pub.pem";
export const KEY_MANIFEST = "keys/manifest.pub.pem";
export const KEY_LOG = "keys/log.pub.pem";
export const KEY_APPROVAL = "keys/approval.pub.pem";
export const KEY_VKEYS = "keys/log.vkey";
export const KEY_ALLOWED = "keys/allowed_signers";
export const LOG_CHECKPOINT = "log/checkpoint";
/** The checkpoint of the global log that the receiver holds already. */
export const LOG_PREVIOUS = "log/checkpoint.prev";
/** Hashes that lead from that one to the one in the bundle. */
export const LOG_CONSISTENCY = "log/consistency.txt";
/** Which witnesses the store asks to cosign its log. */
export const LOG_POLICY = "log/policy";
export const TASK_EVENTS = "task/events.jsonl";
export const TASK_CHECKPOINT = "task/checkpoint";
export const TASK_CHECKPOINT_PROOF = "task/checkpoint.tlog-proof";
export const GATE_ENTRIES = "gate/entries.jsonl";
export const GATE_CHECKPOINT = "gate/checkpoint";
export const GATE_CHECKPOINT_PROOF = "gate/checkpoint.tlog-proof";
/** The event that states roots of conversations and memory, and its place in the store's own stream. */
export const STATE_ROOTED = "state/rooted.json";
export const STATE_ROOTED_PROOF = "state/rooted.tlog-proof";
/** The place of that stream's head in the global log. */
export const STATE_CHECKPOINT_PROOF = "state/checkpoint.tlog-proof";
/** Roots, a line each, with their leaves and their places under the root over all. */
export const STATE_SUBJECTS = "state/subjects.jsonl";
/** The key of the instance, bound to the log's key, and what the instance said of itself, a line each from genesis on. */
export const IDENTITY_KEY = "identity/key.json";
export const IDENTITY_LINKS = "identity/links.jsonl";
/** What clocks elsewhere stamped, and what they gave for it. */
export const ANCHORS = "anchors/";
export const STATEMENT = "statement.dsse.json";
/** The statement of a store without keys, which nobody signed. */
export const STATEMENT_BARE = "statement.json";
export const PROV = "prov.json";
/** Disclosures of one receipt alone, a line each; elsewhere each has a file. */
export const DISCLOSED = "disclosures.jsonl";

/** Who signs `SHA256SUMS`, as `allowed_signers` names it. */
export const MANIFEST_PRINCIPAL = "manifest";

/** More files than this are refused before any is opened. */
export const FILES_MAX = 4_000_000;
/** No name of ours is longer. */
export const NAME_BYTES_MAX = 128;
/** A file that is read whole, other than an artifact, is at most this long. */
export const WHOLE_BYTES_MAX = 64 * 1024 * 1024;
/** A record of authority, which is read whole and understood, is at most this long. */
export const RECORD_BYTES_MAX = 16 * 1024 * 1024;
/** A key, a note or a proof is at most this long. */
export const SMALL_BYTES_MAX = 1024 * 1024;
/** An event, a gate entry or a disclosure is at most this long. */
export const LINE_BYTES_MAX = 4 * 1024 * 1024;

const FIXED: ReadonlySet<string> = new Set([
  README, SUMS, SUMS_ED25519, SUMS_SSHSIG, KEY_RECEIPT, KEY_MANIFEST, KEY_LOG, KEY_APPROVAL, KEY_VKEYS, KEY_ALLOWED,
  LOG_CHECKPOINT, LOG_PREVIOUS, LOG_CONSISTENCY, LOG_POLICY, DISCLOSED, TASK_EVENTS, TASK_CHECKPOINT, TASK_CHECKPOINT_PROOF, GATE_ENTRIES,
  GATE_CHECKPOINT, GATE_CHECKPOINT_PROOF, STATE_ROOTED, STATE_ROOTED_PROOF, STATE_CHECKPOINT_PROOF, STATE_SUBJECTS, IDENTITY_KEY, IDENTITY_LINKS,
  STATEMENT, STATEMENT_BARE, PROV,
]);

/** What the files of one anchor hold, by how their names end. */
const ANCHOR_PARTS = ["json", "checkpoint", "consistency", "tlog-proof", "rfc3161.tsr", "opentimestamps.ots", "op_return.json"] as const;
export type AnchorPart = (typeof ANCHOR_PARTS)[number];
/** More anchors than this do not go along. */
export const ANCHORS_MAX = 8;

/** A file whose name carries what it is about. */
export type Named =
  | { kind: "event" | "event proof" | "gate proof" | "rotation" | "revocation"; number: bigint }
  | { kind: "anchor"; number: bigint; part: AnchorPart }
  | { kind: "receipt" | "bare receipt"; id: string }
  | { kind: "disclosure" | "artifact"; digest: string };

const NUMBERED = [
  ["event", /^task\/events\/([1-9][0-9]{0,19})\.json$/],
  ["event proof", /^task\/proofs\.tlog-proof\/([1-9][0-9]{0,19})$/],
  ["gate proof", /^gate\/proofs\.tlog-proof\/([1-9][0-9]{0,19})$/],
  // From 1, in the order in which keys followed each other.
  ["rotation", /^keys\/rotations\/([1-9][0-9]{0,19})\.note$/],
  ["revocation", /^keys\/revocations\/([1-9][0-9]{0,19})\.note$/],
] as const;
const ANCHOR = /^anchors\/([1-9][0-9]{0,19})\.([a-z0-9_.-]+)$/;
const RECEIPT = /^receipts\/(rcp_[0-9a-f]{32})(\.dsse)?\.json$/;
const DISCLOSURE = /^disclosures\/([0-9a-f]{64})\.json$/;
const ARTIFACT = /^artifacts\/sha256\/([0-9a-f]{2})\/(\1[0-9a-f]{62})$/;

/** Reads a name; each has one spelling only. */
export function parseName(path: string): Named | undefined {
  for (const [kind, form] of NUMBERED) {
    const number = form.exec(path)?.[1];
    if (number !== undefined) return BigInt(number) < 1n << 64n ? { kind, number: BigInt(number) } : undefined;
  }
  const [, anchor, ending] = ANCHOR.exec(path) ?? [];
  const part = ANCHOR_PARTS.find((one) => one === ending);
  if (anchor !== undefined && part) return BigInt(anchor) < 1n << 64n ? { kind: "anchor", number: BigInt(anchor), part } : undefined;
  const receipt = RECEIPT.exec(path);
  if (receipt?.[1] !== undefined) return { kind: receipt[2] === undefined ? "bare receipt" : "receipt", id: receipt[1] };
  const disclosure = DISCLOSURE.exec(path)?.[1];
  if (disclosure !== undefined) return { kind: "disclosure", digest: disclosure };
  const artifact = ARTIFACT.exec(path)?.[2];
  return artifact === undefined ? undefined : { kind: "artifact", digest: artifact };
}

export const eventProofPath = (seq: bigint): string => `task/proofs.tlog-proof/${seq}`;
export const eventPath = (seq: bigint): string => `task/events/${seq}.json`;
export const gateProofPath = (number: bigint): string => `gate/proofs.tlog-proof/${number}`;
export const rotationPath = (n: number): string => `keys/rotations/${n}.note`;
export const revocationPath = (n: number): string => `keys/revocations/${n}.note`;
export const anchorPath = (number: bigint, part: AnchorPart): string => `${ANCHORS}${number}.${part}`;
export const receiptPath = (id: string): string => `receipts/${id}.dsse.json`;
export const bareReceiptPath = (id: string): string => `receipts/${id}.json`;
export const disclosurePath = (digest: string): string => `disclosures/${digest}.json`;
export const artifactPath = (digest: string): string => `artifacts/sha256/${digest.slice(0, 2)}/${digest}`;

/** Whether a bundle may hold a file of this name. */
export function isKnown(path: string): boolean {
  return FIXED.has(path) || parseName(path) !== undefined;
}

/** Whether `SHA256SUMS` lists a file of this name: all but itself and its signatures. */
export function isSummed(path: string): boolean {
  return path !== SUMS && path !== SUMS_ED25519 && path !== SUMS_SSHSIG;
}

/** Whether a file is a subject of the statement: what is proven, not what proves or explains it. */
export function isSubject(path: string): boolean {
  const fixed = [LOG_CHECKPOINT, TASK_CHECKPOINT, GATE_CHECKPOINT, TASK_EVENTS, GATE_ENTRIES].includes(path);
  return fixed || ["receipts/", "artifacts/", "task/events/"].some((folder) => path.startsWith(folder));
}
