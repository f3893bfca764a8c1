/** C2SP signed notes, the checkpoints written in them, and proofs of a place in a log. */
import { base64, base64Decode, base64Exact, concat, decimal, hex, hexExact, same, textOf, utf8 } from "./read/bytes.ts";
import { sha256 } from "./read/digest.ts";
import { PublicKey } from "./keys.ts";
import { PROOF_LEN_MAX } from "./merkle.ts";
import { Malformed } from "./read/stop.ts";

/** A note carries at most this many signatures. */
export const SIGNATURES_MAX = 16;
const NOTE_BYTES_MAX = 1_000_000;
const ED25519 = Uint8Array.of(1);
/** Unicode white space, the plus and control characters. */
// eslint-disable-next-line no-control-regex -- no name may hold one
const SPACES = /[\u0000-\u0020+\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
const PROOF_HEADER = "c2sp.org/tlog-proof@v1";

interface NoteSignature {
  name: string;
  /** First four bytes of SHA-256 over name, newline, algorithm, key; a hint, no strong hash. */
  keyId: string;
  bytes: Uint8Array;
}

/** A text with signatures. The text ends in a newline, which is signed too. */
export interface Note {
  text: string;
  signatures: NoteSignature[];
}

/** A key that verifies notes: `name+hash+base64(0x01 || key)`, a *vkey*. */
export class VerifierKey {
  constructor(
    readonly name: string,
    readonly key: PublicKey,
  ) {
    checkName(name);
  }

  get keyId(): string {
    return hex(sha256(utf8(this.name), utf8("\n"), ED25519, this.key.bytes).subarray(0, 4));
  }

  toString(): string {
    return `${this.name}+${this.keyId}+${base64(concat(ED25519, this.key.bytes))}`;
  }

  static parse(text: string): VerifierKey {
    const bad = (why: string): Malformed => new Malformed("verifier key", why);
    const [name, id, ...rest] = text.split("+");
    if (name === undefined || id === undefined || rest.length === 0) throw bad("it does not have the form `name+hash+key`");
    const key = base64Exact("verifier key", rest.join("+"), 33);
    if (key[0] !== 1) throw bad("it is not an Ed25519 key");
    const read = new VerifierKey(name, PublicKey.fromBytes(key.subarray(1)));
    if (hex(hexExact("verifier key", id, 4)) !== read.keyId) throw bad("its hash belongs to another key or name");
    return read;
  }
}

function bad(why: string): Malformed {
  return new Malformed("note", why);
}

function checkName(name: string): void {
  if (name === "" || SPACES.test(name)) throw bad(`\`${name}\` is no key name: no spaces, no plus, not empty`);
}

function checkText(text: string): void {
  if (!text.endsWith("\n")) throw bad("its text does not end in a newline");
  // eslint-disable-next-line no-control-regex -- no text may hold one but the newline
  if (/[\u0000-\u0009\u000b-\u001f]/.test(text)) throw bad("it holds a control character");
}

/** Reads a note without verifying anything. What it says must not be believed yet. */
export function parseNote(bytes: Uint8Array): Note {
  if (bytes.length > NOTE_BYTES_MAX) throw bad("it is longer than a million bytes");
  const whole = textOf(bytes, "note");
  const blank = whole.lastIndexOf("\n\n");
  if (blank < 0) throw bad("it has no blank line");
  const text = whole.slice(0, blank + 1);
  checkText(text);
  const lines = whole.slice(blank + 2);
  if (!lines.endsWith("\n")) throw bad("its final newline is missing");
  const signatures: NoteSignature[] = [];
  for (const line of lines.slice(0, -1).split("\n")) {
    const signature = parseSignature(line);
    const twice = signatures.some((other) => other.name === signature.name && other.keyId === signature.keyId);
    if (twice) throw bad(`the key \`${signature.name}\` signs twice`);
    if (signatures.length === SIGNATURES_MAX) throw bad(`it carries more than ${SIGNATURES_MAX} signatures`);
    signatures.push(signature);
  }
  return { text, signatures };
}

function parseSignature(line: string): NoteSignature {
  if (!line.startsWith("\u2014 ")) throw bad("a signature line has another beginning");
  const rest = line.slice(2);
  const space = rest.indexOf(" ");
  if (space < 0) throw bad("a signature line lacks its signature");
  const name = rest.slice(0, space);
  checkName(name);
  const bytes = base64Decode("note", rest.slice(space + 1));
  if (bytes.length < 5) throw bad("a signature is too short");
  return { name, keyId: hex(bytes.subarray(0, 4)), bytes: bytes.subarray(4) };
}

/** The note as it is stored and passed on. */
export function noteBytes(note: Note): Uint8Array {
  const lines = note.signatures.map((made) => {
    return `\u2014 ${made.name} ${base64(concat(hexExact("note", made.keyId, 4), made.bytes))}\n`;
  });
  return utf8(`${note.text}\n${lines.join("")}`);
}

/** Reads a note once a signature by `key` holds; signatures of others neither help nor harm. */
function openNote(bytes: Uint8Array, key: VerifierKey): Note {
  const note = parseNote(bytes);
  const ours = note.signatures.find((made) => made.name === key.name && made.keyId === key.keyId);
  if (!ours) throw new Malformed("note", "it is not signed by the key it should be signed by");
  if (!key.key.verifies(utf8(note.text), ours.bytes)) throw new Malformed("note", "its signature does not hold");
  return note;
}

/** Reads a note with the signatures that hold, dropping those of other keys; at least one of these must have signed. */
export function verifyNote(bytes: Uint8Array, keys: readonly VerifierKey[]): Note {
  const note = parseNote(bytes);
  const text = utf8(note.text);
  const signatures = note.signatures.filter((made) => {
    const known = keys.filter((key) => key.name === made.name && key.keyId === made.keyId);
    if (known.length === 0) return false;
    if (!known.some(({ key }) => key.verifies(text, made.bytes))) throw bad("its signature does not hold");
    return true;
  });
  if (signatures.length === 0) throw bad("it is not signed by the key it should be signed by");
  return { text: note.text, signatures };
}

/** A signed tree head: which log, how many leaves, which root. */
export interface Checkpoint {
  origin: string;
  size: bigint;
  root: Uint8Array;
}

export function parseCheckpoint(text: string): Checkpoint {
  const what = "checkpoint";
  checkText(text);
  const lines = text.slice(0, -1).split("\n");
  const [origin, size, root] = lines;
  if (origin === undefined || size === undefined || root === undefined) throw new Malformed(what, "it has fewer than three lines");
  if (origin === "" || lines.slice(3).includes("")) throw new Malformed(what, "one of its lines is empty");
  const read = { origin, size: decimal(what, size), root: base64Exact(what, root, 32) };
  if (read.size === 0n && !same(read.root, sha256())) throw new Malformed(what, "an empty tree has another root");
  return read;
}

/** Reads a checkpoint of the log `key` is named after, once its signature holds. */
export function openCheckpoint(bytes: Uint8Array, key: VerifierKey): Checkpoint {
  const read = parseCheckpoint(openNote(bytes, key).text);
  if (read.origin !== key.name) throw new Malformed("checkpoint", `it belongs to the log \`${read.origin}\`, not to \`${key.name}\``);
  return read;
}

/** C2SP tlog-proof: that a leaf stands in a log, and the checkpoint it leads to. */
export interface TlogProof {
  index: bigint;
  hashes: Uint8Array[];
  checkpoint: Note;
}

/** Reads a proof without verifying anything; only the spelling without extra data, which is all we write. */
export function parseProof(bytes: Uint8Array): TlogProof {
  const what = "tlog-proof";
  const text = textOf(bytes, what);
  const blank = text.indexOf("\n\n");
  if (blank < 0) throw new Malformed(what, "it has no checkpoint");
  const [header, index, ...hashes] = text.slice(0, blank).split("\n");
  if (header !== PROOF_HEADER) throw new Malformed(what, `its first line is not \`${PROOF_HEADER}\``);
  if (index?.startsWith("extra ")) throw new Malformed(what, "it carries what nobody signed");
  if (!index?.startsWith("index ")) throw new Malformed(what, "its line `index` is missing");
  if (hashes.length > PROOF_LEN_MAX) throw new Malformed(what, "it is longer than any tree is deep");
  return {
    index: decimal(what, index.slice("index ".length)),
    hashes: hashes.map((line) => base64Exact(what, line, 32)),
    checkpoint: parseNote(utf8(text.slice(blank + 2))),
  };
}

/** The note a proof leads to, byte for byte. */
export function proofHead(proof: TlogProof): Uint8Array {
  return noteBytes(proof.checkpoint);
}
