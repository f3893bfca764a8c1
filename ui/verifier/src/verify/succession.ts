/** How one key follows another, signed by both, and how its owner revokes it: notes about keys (proof.md 3). */
import { hexExact, same } from "./read/bytes.ts";
import { PublicKey } from "./keys.ts";
import { noteBytes, parseNote, verifyNote, VerifierKey } from "./note.ts";
import { Malformed } from "./read/stop.ts";

/** One key takes the place of another, for one purpose in one log. */
export interface Succession {
  logId: string;
  purpose: string;
  old: PublicKey;
  new: PublicKey;
}

/** A key that must not be believed any more, as one of its line says. */
export interface Revocation {
  logId: string;
  purpose: string;
  key: PublicKey;
  by: PublicKey;
}

interface Lines {
  /** The name under which keys of the purpose sign notes about keys. */
  name: string;
  logId: string;
  purpose: string;
  first: PublicKey;
  second: PublicKey;
}

/** The note's lines: log and purpose, and the two keys under the two words. */
function read(bytes: Uint8Array, what: string, words: readonly [string, string]): Lines {
  const bad = (why: string): Malformed => new Malformed(what, why);
  const lines = parseNote(bytes).text.slice(0, -1).split("\n");
  const [name, first, second] = lines;
  if (name === undefined || first === undefined || second === undefined || lines.length > 3) throw bad("it does not have three lines");
  const [, logId, purpose] = /^hermit\.local\/([^/]+)\/keys\/([^/]+)$/.exec(name) ?? [];
  if (logId === undefined || purpose === undefined) throw bad("its log or purpose cannot be read");
  const key = (line: string, word: string): PublicKey => {
    if (!line.startsWith(`${word} `)) throw bad("a line does not name its key");
    return PublicKey.fromBytes(hexExact("public key", line.slice(word.length + 1), 32));
  };
  return { name, logId, purpose, first: key(first, words[0]), second: key(second, words[1]) };
}

/** Reads a note that both keys have signed, and nobody else. */
export function openSuccession(bytes: Uint8Array): Succession {
  const what = "succession of keys";
  const { name, logId, purpose, first, second } = read(bytes, what, ["old", "new"]);
  if (first.equals(second)) throw new Malformed(what, "a key cannot follow itself");
  const keys = [new VerifierKey(name, first), new VerifierKey(name, second)];
  const note = verifyNote(bytes, keys);
  const both = note.signatures.map(({ keyId }) => keyId).join() === keys.map(({ keyId }) => keyId).join();
  if (!both || !same(noteBytes(note), bytes)) throw new Malformed(what, "not exactly the two keys it names have signed it");
  return { logId, purpose, old: first, new: second };
}

/** Reads a note that the naming key has signed, and nobody else. */
export function openRevocation(bytes: Uint8Array): Revocation {
  const what = "revocation of a key";
  const { name, logId, purpose, first, second } = read(bytes, what, ["revoked", "by"]);
  if (first.equals(second)) throw new Malformed(what, "a key cannot revoke itself");
  const note = verifyNote(bytes, [new VerifierKey(name, second)]);
  if (!same(noteBytes(note), bytes)) throw new Malformed(what, "others than the key it names have signed it");
  return { logId, purpose, key: first, by: second };
}

/** The keys of a purpose from which a chain leads to `last`, the nearest first. A ring ends where it closes. */
export function before(last: PublicKey, purpose: string, all: readonly Succession[]): PublicKey[] {
  const leading = new Map<string, PublicKey[]>();
  for (const step of all) {
    if (step.purpose !== purpose) continue;
    const known = leading.get(step.new.hex);
    if (known) known.push(step.old);
    else leading.set(step.new.hex, [step.old]);
  }
  const seen = new Set([last.hex]);
  const found: PublicKey[] = [];
  const next = (key: PublicKey): PublicKey | undefined => leading.get(key.hex)?.find((old) => !seen.has(old.hex));
  for (let old = next(last); old; old = next(old)) {
    seen.add(old.hex);
    found.push(old);
  }
  return found;
}
