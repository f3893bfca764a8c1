/** OpenTimestamps: a detached `.ots` file, which is a tree of operations from the digest to what calendars or Bitcoin attest. */
import { ripemd160, sha1 } from "@noble/hashes/legacy.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { concat, hex, same, textOf, utf8 } from "../read/bytes.ts";
import { sha256 } from "../read/digest.ts";
import { Malformed } from "../read/stop.ts";
import type { Headers } from "./bitcoin.ts";
import { atTime, elsewhere, type Clocks, type Stamp } from "./stamp.ts";

const MAGIC = Uint8Array.of(0, ...utf8("OpenTimestamps"), 0, 0, ...utf8("Proof"), 0, 0xbf, 0x89, 0xe2, 0xe8, 0x84, 0xe8, 0x92, 0x94);
const VERSION = 1;
const OF_SHA256 = 0x08;
const ATTESTATION = 0x00;
const FORK = 0xff;

/** The longest message of an operation, the deepest tree, and the most operations and attestations of one file. */
const MESSAGE_MAX = 4096;
const DEPTH_MAX = 256;
const STEPS_MAX = 4096;
/** Blocks that one file may name: each is looked for among headers. A stamp has one from each calendar that was asked. */
const BLOCKS_MAX = 64;
const FILE_BYTES_MAX = 256 * 1024;
const PAYLOAD_MAX = 8192;
const URI_MAX = 1000;

const PENDING = "83dfe30d2ef90c8e";
const BITCOIN = "0588960d73d71901";

/** Operations on the message alone. */
const UNARY: Readonly<Record<number, (message: Uint8Array) => Uint8Array>> = {
  0x02: sha1,
  0x03: ripemd160,
  0x08: (message) => sha256(message),
  0x67: keccak_256,
  0xf2: (message) => Uint8Array.from(message).reverse(),
  0xf3: (message) => utf8(hex(message)),
};
const APPEND = 0xf0;
const PREPEND = 0xf1;

/** What is attested of a message that the digest led to. */
type Attestation = { kind: "pending"; uri: string } | { kind: "bitcoin"; height: number; message: Uint8Array } | { kind: "unknown" };

function bad(why: string): Malformed {
  return new Malformed("OpenTimestamps proof", why);
}

/** All attestations of a file whose digest must be this one. */
export function attestationsOf(proof: Uint8Array, digest: Uint8Array): Attestation[] {
  if (proof.length > FILE_BYTES_MAX) throw bad("it is too long");
  const reader = new OtsReader(proof);
  if (!same(reader.take(MAGIC.length), MAGIC)) throw bad("it has another beginning");
  if (reader.number() !== VERSION) throw bad("it has an unknown version");
  if (reader.byte() !== OF_SHA256 || !same(reader.take(32), digest)) throw bad("it is of another digest");
  const found: Attestation[] = [];
  let [steps, blocks] = [0, 0];
  const tree = (message: Uint8Array, depth: number): void => {
    if (depth >= DEPTH_MAX) throw bad(`it is deeper than ${DEPTH_MAX} operations`);
    let tag = reader.byte();
    for (; tag === FORK; tag = reader.byte()) branch(message, reader.byte(), depth);
    branch(message, tag, depth);
  };
  const branch = (message: Uint8Array, tag: number, depth: number): void => {
    steps += 1;
    if (steps > STEPS_MAX) throw bad(`it has more than ${STEPS_MAX} operations`);
    if (tag !== ATTESTATION) return tree(applied(reader, tag, message), depth + 1);
    const one = attestation(reader, message);
    if (one.kind === "bitcoin") blocks += 1;
    if (blocks > BLOCKS_MAX) throw bad(`it names more than ${BLOCKS_MAX} blocks`);
    found.push(one);
  };
  tree(digest, 0);
  reader.end();
  return found;
}

function applied(reader: OtsReader, tag: number, message: Uint8Array): Uint8Array {
  const argument = tag === APPEND || tag === PREPEND ? reader.counted(1, MESSAGE_MAX) : undefined;
  const unary = UNARY[tag];
  if (!argument && !unary) throw bad(`the operation ${tag} is unknown`);
  const result = argument ? (tag === APPEND ? concat(message, argument) : concat(argument, message)) : unary?.(message);
  if (!result || result.length > MESSAGE_MAX) throw bad(`a message is longer than ${MESSAGE_MAX} bytes`);
  return result;
}

function attestation(reader: OtsReader, message: Uint8Array): Attestation {
  const tag = hex(reader.take(8));
  const payload = new OtsReader(reader.counted(0, PAYLOAD_MAX));
  if (tag === PENDING) {
    const uri = textOf(payload.counted(0, URI_MAX), "OpenTimestamps proof");
    payload.end();
    if (!/^[A-Za-z0-9.\-_/:]*$/.test(uri)) throw bad("the address of a calendar cannot be read");
    return { kind: "pending", uri };
  }
  if (tag !== BITCOIN) return { kind: "unknown" };
  const height = payload.number();
  payload.end();
  return { kind: "bitcoin", height, message };
}

class OtsReader {
  private offset = 0;

  constructor(private readonly bytes: Uint8Array) {}

  take(length: number): Uint8Array {
    if (length > this.bytes.length - this.offset) throw bad("it ends too early");
    this.offset += length;
    return this.bytes.subarray(this.offset - length, this.offset);
  }

  byte(): number {
    return this.take(1)[0] ?? 0;
  }

  /** A number in groups of seven bits, the least first. */
  number(): number {
    let [number, factor] = [0, 1];
    for (let byte = 0x80; byte & 0x80; factor *= 128) {
      byte = this.byte();
      number += (byte & 0x7f) * factor;
      if (number > Number.MAX_SAFE_INTEGER || factor > 2 ** 49) throw bad("a number is too large");
      if (byte === 0 && factor > 1) throw bad("a number is not in its shortest form");
    }
    return number;
  }

  counted(min: number, max: number): Uint8Array {
    const length = this.number();
    if (length < min || length > max) throw bad(`a part has ${length} bytes, not ${min} to ${max}`);
    return this.take(length);
  }

  end(): void {
    if (this.offset !== this.bytes.length) throw bad("something follows its end");
  }
}

/** Checks a file against the digest and the headers that the reader gave. */
export function checkOts(proof: Uint8Array, digest: Uint8Array, { headers }: Clocks): Stamp {
  const all = attestationsOf(proof, digest);
  const says: string[] = [];
  const blocks = all.flatMap((one) => (one.kind === "bitcoin" ? [one] : [])).sort((left, right) => left.height - right.height);
  const calendars = [...new Set(all.flatMap((one) => (one.kind === "pending" ? [one.uri] : [])))];
  const unknown = all.filter(({ kind }) => kind === "unknown").length;
  const passed = unknown === 0 ? [] : [`${unknown === 1 ? "1 attestation" : `${unknown} attestations`} of kinds that this program does not know: passed over`];
  if (blocks.length === 0) {
    if (calendars.length > 0) says.push(`pending at ${calendars.join(", ")}: a calendar took it, and no block is named yet`);
    return { isPending: calendars.length > 0, says: [...says, ...passed], onTrust: [] };
  }
  let [proven, wrong]: [Stamp["proven"], string | undefined] = [undefined, undefined];
  for (const block of blocks) {
    const found = inBlock(block, headers);
    says.push(found.says);
    if (found.isWrong) wrong = found.says;
    if (found.time !== undefined && found.time < (proven?.notAfter ?? Infinity)) proven = { notAfter: found.time, height: block.height };
  }
  if (wrong !== undefined && !proven) throw bad(wrong);
  if (calendars.length > 0) says.push(`${calendars.join(", ")} took it too, without a block`);
  return { isPending: false, says: [...says, ...passed], onTrust: proven && headers ? [headers.onTrust, BLOCK_TIME] : [], ...(proven && { proven }) };
}

/** What the headers say of a block that a file names. */
function inBlock({ height, message }: { height: number; message: Uint8Array }, headers: Headers | undefined): { says: string; isWrong?: boolean; time?: number } {
  const where = `the Merkle root of Bitcoin block ${height}`;
  if (message.length !== 32) return { says: `what leads to block ${height} is no Merkle root`, isWrong: true };
  if (!headers) return { says: `it leads to ${where}: give headers of Bitcoin to have that checked` };
  const found = headers.knowsHeights ? headers.at(height) : headers.withRoot(message);
  if (!found) return { says: `it leads to ${where}, which is not among the headers you gave` };
  if (!same(found.header.root, message)) return { says: elsewhere(height, "a block with another Merkle root") };
  const time = found.header.time * 1000;
  return { says: `it leads to ${where}, whose header states ${atTime(time)}; ${found.onTop} of the headers you gave lie on top of it`, time };
}

/** What one has to believe of the time of a block. */
export const BLOCK_TIME = "that the miner of the block stated its time about right: Bitcoin's rules let it be off by up to about two hours";
