/** C2SP cosignatures: a witness says when it saw a log that had only grown; and the policy that says who is asked. */
import { base64, base64Exact, concat, hex, hexExact, utf8 } from "./read/bytes.ts";
import { sha256 } from "./read/digest.ts";
import { PublicKey } from "./keys.ts";
import { VerifierKey, type Note } from "./note.ts";
import { Malformed } from "./read/stop.ts";

/** The algorithm byte of `cosignature/v1` with Ed25519. */
const COSIGNATURE_V1 = Uint8Array.of(4);
const POLICY_LINES_MAX = 256;
/** Unicode white space at both ends; unlike `trim`, no byte order mark. */
const ENDS = /^[\t \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;
// eslint-disable-next-line no-control-regex -- no policy may hold one but newline and tab
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** A key that verifies cosignatures: `name+hash+base64(0x04 || key)`. */
export class WitnessKey {
  constructor(
    readonly name: string,
    readonly key: PublicKey,
  ) {
    // It refuses a name that no key may have.
    new VerifierKey(name, key);
  }

  get keyId(): string {
    return hex(sha256(utf8(this.name), utf8("\n"), COSIGNATURE_V1, this.key.bytes).subarray(0, 4));
  }

  toString(): string {
    return `${this.name}+${this.keyId}+${base64(concat(COSIGNATURE_V1, this.key.bytes))}`;
  }

  static parse(text: string): WitnessKey {
    const bad = (why: string): Malformed => new Malformed("witness key", why);
    const [name, id, ...rest] = text.split("+");
    if (name === undefined || id === undefined || rest.length === 0) throw bad("it does not have the form `name+hash+key`");
    const key = base64Exact("witness key", rest.join("+"), 33);
    if (key[0] !== 4) throw bad("it is not a key for `cosignature/v1`");
    const read = new WitnessKey(name, PublicKey.fromBytes(key.subarray(1)));
    if (hex(hexExact("witness key", id, 4)) !== read.keyId) throw bad("its hash belongs to another key or name");
    return read;
  }

  /** When this witness cosigned the note, in seconds since 1970; a line under its name that does not hold is refused. */
  cosigned(note: Note): bigint | undefined {
    const id = this.keyId;
    const line = note.signatures.find((made) => made.name === this.name && made.keyId === id);
    if (!line) return undefined;
    if (line.bytes.length !== 8 + 64) throw new Malformed("cosignature", "it does not hold");
    const time = BigInt(`0x${hex(line.bytes.subarray(0, 8))}`);
    const message = utf8(`cosignature/v1\ntime ${time}\n${note.text}`);
    if (!this.key.verifies(message, line.bytes.subarray(8))) throw new Malformed("cosignature", "it does not hold");
    return time;
  }
}

interface Witness {
  name: string;
  key: WitnessKey;
}

/** Which witnesses there are, and which of them are asked for (c2sp.org/tlog-policy). */
export class Policy {
  readonly witnesses: Witness[] = [];
  private readonly groups = new Map<string, { threshold: number; members: string[] }>();
  private readonly names = new Set(["none"]);
  private readonly grouped = new Set<string>();
  private asked?: string;

  /** Reads a policy file. Lines of logs are read over: which log is meant is known otherwise. */
  static parse(text: string): Policy {
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    if (lines.length > POLICY_LINES_MAX || CONTROLS.test(text)) throw bad("it has too many lines, or control characters");
    const policy = new Policy();
    for (const line of lines.map((one) => one.replace(ENDS, ""))) {
      if (line !== "" && !line.startsWith("#")) policy.line(line.split(/[ \t]+/));
    }
    if (policy.asked === undefined) throw bad("it does not say what it asks for");
    return policy;
  }

  private line([word, name, ...rest]: string[]): void {
    const [first, ...more] = rest;
    if (name === undefined) throw bad("a line cannot be read");
    if (word === "log" && rest.length <= 1) return;
    if (word === "witness" && first !== undefined && more.length <= 1) return this.witness(name, WitnessKey.parse(first));
    if (word === "group" && first !== undefined && more.length > 0) return this.group(name, first, more);
    if (word === "quorum" && rest.length === 0 && this.asked === undefined && this.names.has(name)) {
      this.asked = name;
      return;
    }
    throw bad("a line cannot be read");
  }

  private witness(name: string, key: WitnessKey): void {
    const twice = this.witnesses.some((known) => known.key.key.equals(key.key));
    if (twice || this.names.has(name)) throw bad("a witness or a name comes twice");
    this.names.add(name);
    this.witnesses.push({ name, key });
  }

  private group(name: string, count: string, members: string[]): void {
    if (!/^(all|any|\+?[0-9]+)$/.test(count)) throw bad("a group's number cannot be read");
    const threshold = count === "all" ? members.length : count === "any" ? 1 : Number(count);
    const known = (member: string): boolean => member !== "none" && this.names.has(member) && !this.grouped.has(member);
    if (threshold < 1 || threshold > members.length || !members.every(known)) {
      throw bad("a group asks for more than it has, or for a name it may not");
    }
    // One voice is one voice: a member that is named twice would count twice.
    if (new Set(members).size < members.length || this.names.has(name)) throw bad("a name comes twice");
    for (const member of members) this.grouped.add(member);
    this.names.add(name);
    this.groups.set(name, { threshold, members });
  }

  /** Who of the witnesses cosigned the note. */
  cosigned(note: Note): string[] {
    return this.witnesses.filter(({ key }) => key.cosigned(note) !== undefined).map(({ name }) => name);
  }

  /** Whether these witnesses are enough. */
  isMet(cosigned: readonly string[]): boolean {
    return this.asked === undefined || this.asked === "none" || this.met(this.asked, new Set(cosigned));
  }

  /** A group has only members of lines before it, so this comes to an end. */
  private met(name: string, cosigned: ReadonlySet<string>): boolean {
    const group = this.groups.get(name);
    if (!group) return cosigned.has(name);
    return group.members.filter((member) => this.met(member, cosigned)).length >= group.threshold;
  }
}

function bad(why: string): Malformed {
  return new Malformed("witness policy", why);
}
