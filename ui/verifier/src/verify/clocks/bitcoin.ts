/** Bitcoin as far as a time needs it: headers with their work, transactions, and the proof that one stands in a block. */
import { concat, hex, same, textOf, utf8 } from "../read/bytes.ts";
import { sha256 } from "../read/digest.ts";
import { Malformed } from "../read/stop.ts";

export const HEADER_BYTES = 80;
/** More headers than this are not read: the chain will have so many in the year 2047. */
const HEADERS_MAX = 2_000_000;
/** A longer file of them is not read: so many lines of hex, and more. */
export const HEADERS_BYTES_MAX = 512 * 1024 * 1024;
/** No block has more transactions: its greatest weight over that of the smallest one. */
const TRANSACTIONS_MAX = 4_000_000 / 240;
/** More inputs than this are refused. */
const INPUTS_MAX = 100_000;

function bad(what: string, why: string): Malformed {
  return new Malformed(what, why);
}

export function hash256(...parts: Uint8Array[]): Uint8Array {
  return sha256(sha256(...parts));
}

/** A hash as Bitcoin spells it: its bytes reversed, in hex. */
export function spelled(hash: Uint8Array): string {
  return hex(Uint8Array.from(hash).reverse());
}

/** A block's header. */
interface Header {
  bytes: Uint8Array;
  previous: Uint8Array;
  root: Uint8Array;
  /** Seconds since 1970, as its miner stated. */
  time: number;
  hash: Uint8Array;
  target: bigint;
  /** Hashes that it takes on average to find one like it. */
  work: bigint;
}

/** Reads a header whose hash is no greater than the target that it states itself. */
export function parseHeader(bytes: Uint8Array): Header {
  if (bytes.length !== HEADER_BYTES) throw bad("Bitcoin header", `it has ${bytes.length} bytes, not ${HEADER_BYTES}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const target = targetOf(view.getUint32(72, true));
  const hash = hash256(bytes);
  if (BigInt(`0x${spelled(hash)}`) > target) throw bad("Bitcoin header", "it has not the work that it states");
  return { bytes, previous: bytes.subarray(4, 36), root: bytes.subarray(36, 68), time: view.getUint32(68, true), hash, target, work: (1n << 256n) / (target + 1n) };
}

/** The target of the compact form; none that is negative, nothing, or beyond 256 bits. */
function targetOf(bits: number): bigint {
  const [size, word] = [bits >>> 24, BigInt(bits & 0x7f_ffff)];
  const target = size <= 3 ? word >> BigInt(8 * (3 - size)) : word << BigInt(8 * (Math.min(size, 64) - 3));
  if ((bits & 0x80_0000) !== 0 || target === 0n || target >= 1n << 256n) throw bad("Bitcoin header", "its target is none");
  return target;
}

/** A header among those of a file. */
export interface Found {
  header: Header;
  /** Where heights are known. */
  height?: number;
  /** Headers that lie on top of it. */
  onTop: number;
}

/** What may stand before the headers: the height of the first. */
const HEIGHT = /^(?:# )?height (0|[1-9][0-9]{0,8})\r?$/;
/** Bitcoin's own first block; what begins with it must change its targets as Bitcoin does. */
const GENESIS = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f";
/** The greatest target of Bitcoin's own chain; blocks between two targets, and the seconds that these are to take. */
const EASIEST = 0xffffn << 208n;
const PERIOD = 2016;
const PERIOD_S = 14n * 24n * 60n * 60n;

/** Headers that lead to each other, each with the work that it states. The first one is on trust. */
export class Headers {
  private constructor(
    private readonly raw: Uint8Array,
    /** Their hashes, one after the other. */
    private readonly hashes: Uint8Array,
    /** Hashes that it takes on average to make all of them. */
    readonly work: bigint,
    /** The height of the first one, if the file or the header itself says it. */
    private readonly start: number | undefined,
  ) {}

  /** Reads a file: headers one after the other, or a line of hex for each, behind a line `height N` or `# height N` where the first one's height is known. */
  static parse(bytes: Uint8Array): Headers {
    const what = "file of Bitcoin headers";
    if (bytes.length > HEADERS_BYTES_MAX) throw bad(what, `it has more than ${HEADERS_BYTES_MAX} bytes`);
    const hasHeight = ["# height ", "height "].some((word) => same(bytes.subarray(0, word.length), utf8(word)));
    const end = hasHeight ? bytes.subarray(0, 64).indexOf(0x0a) : -1;
    const said = end < 0 ? undefined : HEIGHT.exec(textOf(bytes.subarray(0, end), what))?.[1];
    if (hasHeight && said === undefined) throw bad(what, "its first line is not `height N`");
    const body = bytes.subarray(end + 1);
    const raw = body.every(isHexOrSpace) ? fromHex(what, body) : body;
    const count = raw.length / HEADER_BYTES;
    if (count === 0 || !Number.isInteger(count)) throw bad(what, `it is not a whole number of headers of ${HEADER_BYTES} bytes`);
    if (count > HEADERS_MAX) throw bad(what, `it has more than ${HEADERS_MAX} headers`);
    const hashes = new Uint8Array(32 * count);
    let [work, before]: [bigint, Uint8Array | undefined] = [0n, undefined];
    let targets: Targets | undefined;
    for (let at = 0; at < count; at += 1) {
      const header = parseHeader(raw.subarray(at * HEADER_BYTES, (at + 1) * HEADER_BYTES));
      if (before && !same(before, header.previous)) throw bad(what, `header ${at + 1} does not follow the one before it`);
      if (at === 0 && spelled(header.hash) === GENESIS) targets = new Targets();
      if (targets && !targets.follows(at, header)) throw bad(what, `the block at height ${at} names another target than Bitcoin had`);
      before = header.hash;
      hashes.set(header.hash, 32 * at);
      work += header.work;
    }
    const isGenesis = raw.subarray(4, 36).every((byte) => byte === 0);
    if (isGenesis && said !== undefined && said !== "0") throw bad(what, "the first header has nothing before it, so its height is 0");
    return new Headers(raw, hashes, work, isGenesis ? 0 : said === undefined ? undefined : Number(said));
  }

  get size(): number {
    return this.raw.length / HEADER_BYTES;
  }

  /** What one has to believe of them, in words. */
  get onTrust(): string {
    const many = this.size === 1 ? "the header you gave is" : `the ${this.size} headers you gave are`;
    const bits = this.work.toString(2).length - 1;
    const height = this.start === undefined ? "whose height the file does not say" : `at height ${this.start}`;
    const work = bits < 32 ? "next to no work" : `about 2^${bits} hashes`;
    return `that ${many} of Bitcoin's chain: each has the work that it states (${work} together) and leads to the one before it, back to the first, ${spelled(this.hashes.subarray(0, 32))} ${height}, which is on trust`;
  }

  withHash(hash: Uint8Array): Found | undefined {
    return this.find(this.hashes, 32, 0, hash);
  }

  withRoot(root: Uint8Array): Found | undefined {
    return this.find(this.raw, HEADER_BYTES, 36, root);
  }

  /** Whether the height of each is known. */
  get knowsHeights(): boolean {
    return this.start !== undefined;
  }

  /** The header at a height, where heights are known. */
  at(height: number): Found | undefined {
    return this.start === undefined ? undefined : this.place(height - this.start);
  }

  /** The first header with these 32 bytes, which stand `offset` behind every `step`. A bundle may make this search long, so it makes nothing. */
  private find(bytes: Uint8Array, step: number, offset: number, wanted: Uint8Array): Found | undefined {
    const isIt = (start: number): boolean => {
      for (let index = 0; index < 32; index += 1) if (bytes[start + index] !== wanted[index]) return false;
      return true;
    };
    let at = 0;
    while (at < this.size && !isIt(at * step + offset)) at += 1;
    return this.place(at);
  }

  private place(at: number): Found | undefined {
    if (at < 0 || at >= this.size) return undefined;
    const header = parseHeader(this.raw.subarray(at * HEADER_BYTES, (at + 1) * HEADER_BYTES));
    return { header, onTop: this.size - 1 - at, ...(this.start !== undefined && { height: this.start + at }) };
  }
}

/** How targets follow each other on Bitcoin's own chain. */
class Targets {
  private wanted = EASIEST;
  private began = 0;
  private last = 0;

  /** Whether the header at this height, the next one, has the target that it should have. */
  follows(height: number, { target, time }: Header): boolean {
    if (height % PERIOD === 0) {
      if (height > 0) this.wanted = next(this.wanted, this.last - this.began);
      this.began = time;
    }
    this.last = time;
    return target === this.wanted;
  }
}

/** The target of the next period: by how much longer the one that ends took than it was to take, at most four times either way. */
export function next(target: bigint, took: number): bigint {
  const seconds = BigInt(Math.min(Math.max(took, Number(PERIOD_S) / 4), Number(PERIOD_S) * 4));
  const wanted = (target * seconds) / PERIOD_S;
  return rounded(wanted < EASIEST ? wanted : EASIEST);
}

/** A target as the compact form keeps it: its highest three bytes, the first below 0x80. */
function rounded(target: bigint): bigint {
  const bytes = Math.ceil(target.toString(2).length / 8);
  const isHigh = target >> BigInt(8 * bytes - 1) === 1n;
  const below = BigInt(8 * Math.max(0, bytes - (isHigh ? 2 : 3)));
  return (target >> below) << below;
}

function isHexOrSpace(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66) || (byte >= 0x41 && byte <= 0x46) || byte === 0x0a || byte === 0x0d;
}

/** The bytes of lines of hex, one for each header. */
function fromHex(what: string, text: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(text.length >> 1);
  let [written, digits, held] = [0, 0, 0];
  for (const letter of text) {
    if (letter === 0x0a || letter === 0x0d) {
      if (digits !== 0 && digits !== 2 * HEADER_BYTES) throw bad(what, "a line has not 160 characters");
      digits = 0;
      continue;
    }
    held = held * 16 + (letter < 0x3a ? letter - 0x30 : (letter | 0x20) - 0x57);
    digits += 1;
    if (digits % 2 === 1) continue;
    bytes[written] = held;
    [written, held] = [written + 1, 0];
  }
  if (digits !== 0 && digits !== 2 * HEADER_BYTES) throw bad(what, "a line has not 160 characters");
  return bytes.subarray(0, written);
}

/** Reads bytes as Bitcoin orders them: the least first. */
class Wire {
  private offset = 0;

  constructor(
    private readonly what: string,
    private readonly bytes: Uint8Array,
  ) {}

  take(length: number): Uint8Array {
    if (length > this.bytes.length - this.offset) throw bad(this.what, "it ends too early");
    this.offset += length;
    return this.bytes.subarray(this.offset - length, this.offset);
  }

  u32(): number {
    const piece = this.take(4);
    return new DataView(piece.buffer, piece.byteOffset, 4).getUint32(0, true);
  }

  /** A count in its shortest form, of which each is at least one byte. */
  count(): number {
    const first = this.take(1)[0] ?? 0;
    if (first < 0xfd) return first;
    const [length, least] = first === 0xfd ? [2, 0xfd] : first === 0xfe ? [4, 0x1_0000] : [8, 0x1_0000_0000];
    const read = this.take(length).reduceRight((all, byte) => all * 256 + byte, 0);
    if (read < least || read > this.bytes.length) throw bad(this.what, "a count is not in its shortest form, or too large");
    return read;
  }

  get place(): number {
    return this.offset;
  }

  since(start: number): Uint8Array {
    return this.bytes.subarray(start, this.offset);
  }

  end(): void {
    if (this.offset !== this.bytes.length) throw bad(this.what, "something follows its end");
  }
}

/** A transaction: its id and the scripts of its outputs. */
interface Transaction {
  id: Uint8Array;
  scripts: Uint8Array[];
}

export function parseTransaction(bytes: Uint8Array): Transaction {
  const what = "Bitcoin transaction";
  const wire = new Wire(what, bytes);
  const version = wire.take(4);
  // Where there are no inputs, what follows says that witnesses stand behind the outputs.
  const hasWitness = bytes[4] === 0;
  if (hasWitness && !same(wire.take(2), Uint8Array.of(0, 1))) throw bad(what, "it has no inputs");
  const start = wire.place;
  const inputs = wire.count();
  if (inputs === 0 || inputs > INPUTS_MAX) throw bad(what, "it has no inputs, or too many");
  for (let read = 0; read < inputs; read += 1) {
    wire.take(36);
    wire.take(wire.count());
    wire.take(4);
  }
  const scripts: Uint8Array[] = [];
  for (let left = wire.count(); left > 0; left -= 1) {
    wire.take(8);
    scripts.push(wire.take(wire.count()));
  }
  const body = wire.since(start);
  let witnesses = 0;
  for (let input = 0; hasWitness && input < inputs; input += 1) {
    for (let left = wire.count(); left > 0; left -= 1) {
      wire.take(wire.count());
      witnesses += 1;
    }
  }
  if (hasWitness && witnesses === 0) throw bad(what, "it says that it has witnesses, and has none");
  const locked = wire.take(4);
  wire.end();
  const plain = concat(version, body, locked);
  // Two hashes side by side are as long: a node of the block's tree could pass for a transaction.
  if (plain.length === 64) throw bad(what, "it is as long as two hashes, which prove nothing");
  return { id: hash256(plain), scripts };
}

/** What `gettxoutproof` gives: a header and the part of its block's tree that leads to the transactions it is about. */
export function parseMerkleBlock(bytes: Uint8Array): { header: Header; ids: Uint8Array[] } {
  const what = "Merkle block";
  const wire = new Wire(what, bytes);
  const header = parseHeader(wire.take(HEADER_BYTES));
  const total = wire.u32();
  const hashes = Array.from({ length: wire.count() }, () => wire.take(32));
  const flags = wire.take(wire.count());
  wire.end();
  if (total === 0 || total > TRANSACTIONS_MAX || hashes.length > total) throw bad(what, "it has no transactions, or too many");
  const ids: Uint8Array[] = [];
  let [bit, taken] = [0, 0];
  const width = (height: number): number => Math.ceil(total / 2 ** height);
  const walk = (height: number, place: number): Uint8Array => {
    const flag = ((flags[bit >> 3] ?? 0) >> (bit & 7)) & 1;
    if (bit >= 8 * flags.length) throw bad(what, "it has too few flags");
    bit += 1;
    if (height === 0 || flag === 0) {
      const hash = hashes[taken];
      if (!hash) throw bad(what, "it has too few hashes");
      taken += 1;
      if (flag === 1) ids.push(hash);
      return hash;
    }
    const left = walk(height - 1, 2 * place);
    if (2 * place + 1 >= width(height - 1)) return hash256(left, left);
    const right = walk(height - 1, 2 * place + 1);
    // Two equal ones would let a list of transactions pass for a longer one.
    if (same(left, right)) throw bad(what, "two nodes of its tree are the same");
    return hash256(left, right);
  };
  let height = 0;
  while (width(height) > 1) height += 1;
  const root = walk(height, 0);
  const isUsed = taken === hashes.length && Math.ceil(bit / 8) === flags.length && (flags.at(-1) ?? 0) >> (((bit - 1) & 7) + 1) === 0;
  if (!isUsed) throw bad(what, "something in it leads nowhere");
  if (!same(root, header.root)) throw bad(what, "it does not lead to the root of its header");
  return { header, ids };
}
