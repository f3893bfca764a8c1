/** `SHA256SUMS`: all files, no other file, in order, signed twice by the manifest key; and the keys it covers. */
import { textOf } from "./read/bytes.ts";
import { isDigest } from "./read/digest.ts";
import { CANON, parseCanonical } from "./read/canon.ts";
import type { Check } from "./check.ts";
import { linesOf, readWhole } from "./container.ts";
import { PublicKey } from "./keys.ts";
import * as l from "./layout.ts";
import { VerifierKey } from "./note.ts";
import { STATEMENT_TYPE } from "./generated/nouns.ts";
import { array, boolean, digest, id, integer, nullable, object, string, u64, type Of } from "./read/shape.ts";
import { allowedSigner, checkSshSignature, IN_TOTO, openEnvelope } from "./signed.ts";
import { at, Malformed, Stop } from "./read/stop.ts";

/** What a store with keys puts into every bundle. */
const ALWAYS = [l.SUMS_ED25519, l.SUMS_SSHSIG, l.KEY_RECEIPT, l.KEY_MANIFEST, l.KEY_VKEYS, l.KEY_ALLOWED, l.TASK_CHECKPOINT_PROOF];
/** What it puts into every bundle but one receipt's alone, which carries them inside its proofs or not at all. */
const LARGE = [l.KEY_LOG, l.LOG_CHECKPOINT, l.TASK_CHECKPOINT, l.STATEMENT];
/** What one receipt alone never has, beside those. */
const NEVER_SINGLE = [l.STATEMENT_BARE, l.GATE_CHECKPOINT, l.GATE_CHECKPOINT_PROOF, l.TASK_EVENTS, l.PROV, l.STATE_ROOTED, l.STATE_ROOTED_PROOF, l.STATE_CHECKPOINT_PROOF, l.STATE_SUBJECTS];
/** What only a store with keys can have. */
const NEVER_UNSIGNED = [l.IDENTITY_KEY, l.IDENTITY_LINKS, l.STATE_ROOTED, l.STATE_ROOTED_PROOF, l.STATE_CHECKPOINT_PROOF, l.STATE_SUBJECTS, l.GATE_CHECKPOINT, l.GATE_CHECKPOINT_PROOF, l.LOG_PREVIOUS, l.LOG_CONSISTENCY, l.LOG_POLICY, l.DISCLOSED];
const PREDICATE_TYPE = "https://hermit.local/proof/v1";

const predicate = object(
  {
    bundle: string,
    canon: string,
    log_id: string,
    task_id: id("task"),
    receipt_id: nullable(id("rcp")),
    span: nullable(pair),
    task_size: u64,
    task_root: digest,
    exported_at_ms: integer,
    keys: digests,
    disclosures: boolean,
    redacted: nullable(string),
    artifacts: string,
  },
  "closed",
);
/** Which part of which store, as of when, under which keys. */
export type Predicate = Of<typeof predicate>;

const statement = object(
  {
    _type: string,
    subject: array(object({ name: string, digest: object({ sha256: digest }, "closed") }, "closed")),
    predicateType: string,
    predicate,
  },
  "closed",
);

/** First and last event of a span. */
function pair(value: Parameters<typeof u64>[0]): [number, number] {
  const [first, last, ...more] = array(u64)(value);
  if (first === undefined || last === undefined || more.length > 0) throw new Malformed("document", "two numbers are expected");
  return [first, last];
}

/** Whether it is about all events of the task. */
export function isWhole(about: Predicate): boolean {
  return about.receipt_id === undefined && about.span === undefined;
}

function digests(value: Parameters<typeof digest>[0]): Record<string, string> {
  object({})(value);
  return Object.fromEntries(Object.entries(value ?? {}).map(([name, member]) => [name, digest(member)]));
}

/** Reads the list, holds it against the files that are there, and checks both signatures. */
export function checkManifest(check: Check): void {
  check.sums = readSums(check);
  const there = check.container.sizes;
  for (const name of there.keys()) {
    if (l.isSummed(name) && !check.sums.has(name)) throw new Stop(name, "SHA256SUMS does not list it: it was added");
  }
  for (const name of check.sums.keys()) {
    if (!there.has(name)) throw new Stop(name, "SHA256SUMS lists it and it is missing: it was removed");
  }
  check.signed = [...ALWAYS, ...LARGE].some((name) => check.has(name));
  if (!check.signed) {
    const stray = NEVER_UNSIGNED.find((name) => check.has(name)) ?? [...there.keys()].find((name) => name.startsWith(l.ANCHORS));
    if (stray !== undefined) throw new Stop(stray, "the bundle of a store without keys has no such file");
    // A person's key is not one of the store's; there may be one where the store has none.
    if (check.has(l.KEY_APPROVAL)) check.keys = { approval: key(check, l.KEY_APPROVAL) };
    return;
  }
  checkShape(check);
  readKeys(check);
  checkSignatures(check);
}

/** Whether the files are those of a task or a span, or those of one receipt alone. */
function checkShape(check: Check): void {
  const absent = ALWAYS.find((name) => !check.has(name));
  if (absent !== undefined) throw new Stop(absent, "it is missing: a signed bundle always has it");
  check.single = !LARGE.some((name) => check.has(name));
  if (check.single) {
    const strange = NEVER_SINGLE.find((name) => check.has(name)) ?? [...check.container.sizes.keys()].find((name) => name.startsWith("disclosures/"));
    if (strange !== undefined) throw new Stop(strange, "the bundle of one receipt alone has no such file");
    return;
  }
  const large = LARGE.find((name) => !check.has(name));
  if (large !== undefined) throw new Stop(large, "it is missing: the bundle of a task always has it");
  if (check.has(l.DISCLOSED)) throw new Stop(l.DISCLOSED, "only one receipt alone has its disclosures in one file");
}

function readKeys(check: Check): void {
  check.keys.log = check.single ? logVkey(check) : key(check, l.KEY_LOG);
  check.keys.receipt = key(check, l.KEY_RECEIPT);
  check.keys.manifest = key(check, l.KEY_MANIFEST);
  if (check.has(l.KEY_APPROVAL)) check.keys.approval = key(check, l.KEY_APPROVAL);
  const all = Object.values(check.keys).map((one: PublicKey) => one.keyid);
  if (new Set(all).size !== all.length) throw new Stop("keys", "one key serves two purposes");
}

/** The log key under its own name: the first line of `keys/log.vkey`. */
function logVkey(check: Check): PublicKey {
  const line = check.text(l.KEY_VKEYS).split(/\r?\n/, 1)[0] ?? "";
  return at(l.KEY_VKEYS, () => VerifierKey.parse(line).key);
}

function key(check: Check, name: string): PublicKey {
  const pem = check.text(name);
  return at(name, () => PublicKey.fromPem(pem));
}

function checkSignatures(check: Check): void {
  const sums = check.container.open(l.SUMS).bytes;
  const { manifest } = check.keys;
  if (!manifest) throw new Stop(l.KEY_MANIFEST, "it is missing");
  const raw = readWhole(check.container, l.SUMS_ED25519, l.SMALL_BYTES_MAX);
  if (!manifest.verifies(sums, raw)) throw new Stop(l.SUMS_ED25519, "it is not the manifest key's signature of SHA256SUMS");
  const armored = readWhole(check.container, l.SUMS_SSHSIG, l.SMALL_BYTES_MAX);
  at(l.SUMS_SSHSIG, () => checkSshSignature(armored, sums, manifest));
  if (check.text(l.KEY_ALLOWED) !== allowedSigner(l.MANIFEST_PRINCIPAL, manifest)) {
    throw new Stop(l.KEY_ALLOWED, "it names another key than keys/manifest.pub.pem");
  }
}

/** The bundle's statement: signed by the receipt key, about exactly these files and keys. */
export function checkStatement(check: Check): Predicate {
  const name = check.signed ? l.STATEMENT : l.STATEMENT_BARE;
  if (check.signed && check.has(l.STATEMENT_BARE)) {
    throw new Stop(l.STATEMENT_BARE, "a signed bundle has no statement that nobody signed");
  }
  const bytes = check.whole(name, l.WHOLE_BYTES_MAX);
  const { receipt } = check.keys;
  const read = at(name, () => {
    const made = statement(parseCanonical(receipt ? openEnvelope(bytes, IN_TOTO, receipt) : bytes));
    const ours = made._type === STATEMENT_TYPE && made.predicateType === PREDICATE_TYPE;
    if (!ours || made.predicate.bundle !== l.FORMAT || made.predicate.canon !== CANON) {
      throw new Malformed("statement", `it is not the statement of a ${l.FORMAT} bundle`);
    }
    return made;
  });
  const about = read.predicate;
  const files = [...check.sums].filter(([file]) => l.isSubject(file)).map(([file, sum]) => `${sum} ${file}`);
  const subjects = read.subject.map((subject) => `${subject.digest.sha256} ${subject.name}`);
  if (!equal(subjects, files)) throw new Stop(name, "its subjects are not the files of this bundle");
  if (!equal(pairs(about.keys), pairs(keyids(check)))) throw new Stop(name, "it names other keys than those in keys/");
  if (about.task_size === 0) throw new Stop(name, "the task has no events, and an empty log proves nothing");
  if (about.receipt_id !== undefined && (check.signed || about.span !== undefined)) {
    throw new Stop(name, "one receipt alone has no statement beside its own, and no span");
  }
  const [first, last] = about.span ?? [1, 1];
  if (first === 0 || first > last || last > about.task_size) throw new Stop(name, "its span is none of the task's events");
  return about;
}

function equal(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}

function pairs(keys: Record<string, string>): string[] {
  return Object.entries(keys).map(([purpose, keyid]) => `${purpose} ${keyid}`).sort();
}

/** Key ids by purpose. */
export function keyids(check: Check): Record<string, string> {
  const purposes = ["approval", "log", "manifest", "receipt"] as const;
  return Object.fromEntries(purposes.flatMap((purpose) => {
    const found = check.keys[purpose];
    return found ? [[purpose, found.keyid]] : [];
  }));
}

/** Reads `SHA256SUMS` line by line. */
function readSums(check: Check): Map<string, string> {
  const sums = new Map<string, string>();
  let last = "";
  for (const [number, bytes] of linesOf(check.container, l.SUMS)) {
    const place = `${l.SUMS} line ${number}`;
    const line = at(place, () => textOf(bytes, "line"));
    const gap = line.indexOf("  ");
    if (gap < 0) throw new Stop(place, "it is not `digest  name`");
    const [sum, name] = [line.slice(0, gap), line.slice(gap + 2)];
    if (!isDigest(sum)) throw new Stop(place, "it does not begin with a digest");
    if (!l.isKnown(name) || !l.isSummed(name)) throw new Stop(place, "it lists a file that no bundle has");
    if (last >= name) throw new Stop(place, "the names are not sorted, or one comes twice");
    if (sums.size === l.FILES_MAX) throw new Stop(place, "it lists more files than any bundle has");
    const named = l.parseName(name);
    const own = named?.kind === "artifact" || named?.kind === "disclosure" ? named.digest : sum;
    if (own !== sum) throw new Stop(place, "the file's digest is not the one that is its name");
    sums.set(name, sum);
    last = name;
  }
  if (sums.size === 0) throw new Stop(l.SUMS, "it is empty");
  return sums;
}
