/**
 * A bundle as one file: a zip without compression, comments, extra fields, gaps or choices.
 *
 * Every header is what its name, size and CRC make of it, so the reader builds the header it expects and compares.
 */
import { concat, same, textOf, utf8 } from "./read/bytes.ts";
import { checkName, refuseVersion, type Container } from "./container.ts";
import { crc32 } from "./read/digest.ts";
import { FILES_MAX, NAME_BYTES_MAX, README } from "./layout.ts";
import { Malformed, Stop } from "./read/stop.ts";

const LOCAL = 0x0403_4b50;
const CENTRAL = 0x0201_4b50;
const END = 0x0605_4b50;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
const VERSION = 10;
/** Made on Unix, so that the permissions below count. */
const MADE_BY = 0x0300 | VERSION;
/** A regular file that everybody may read. */
const ATTRIBUTES = (0o100644 << 16) >>> 0;
/** 1980-01-01, the zero of DOS dates. */
const DATE = 0x0021;

interface Entry {
  offset: number;
  size: number;
  crc: number;
}

function u16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset] ?? 0) | ((bytes[offset + 1] ?? 0) << 8);
}

function u32(bytes: Uint8Array, offset: number): number {
  return (u16(bytes, offset) | (u16(bytes, offset + 2) << 16)) >>> 0;
}

/** Numbers in little-endian, `[value, bytes]` each. */
function little(...fields: [number, 2 | 4][]): Uint8Array {
  const bytes: number[] = [];
  for (const [value, width] of fields) {
    for (let index = 0; index < width; index += 1) bytes.push((value >>> (8 * index)) & 0xff);
  }
  return Uint8Array.from(bytes);
}

/** The fields that both headers of a file share, from the version needed to the length of extra fields. */
function shared(name: Uint8Array, { crc, size }: Entry): Uint8Array {
  return little([VERSION, 2], [0, 2], [0, 2], [0, 2], [DATE, 2], [crc, 4], [size, 4], [size, 4], [name.length, 2], [0, 2]);
}

function local(name: Uint8Array, entry: Entry): Uint8Array {
  return concat(little([LOCAL, 4]), shared(name, entry), name);
}

function central(name: Uint8Array, entry: Entry): Uint8Array {
  const rest = little([0, 2], [0, 2], [0, 2], [ATTRIBUTES, 4], [entry.offset, 4]);
  return concat(little([CENTRAL, 4], [MADE_BY, 2]), shared(name, entry), rest, name);
}

function end(files: number, directoryBytes: number, directoryAt: number): Uint8Array {
  return little([END, 4], [0, 2], [0, 2], [files, 2], [files, 2], [directoryBytes, 4], [directoryAt, 4], [0, 2]);
}

/** A zip that is being read. */
export class Zip implements Container {
  readonly sizes: ReadonlyMap<string, number>;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly entries: ReadonlyMap<string, Entry>,
  ) {
    this.sizes = new Map([...entries].map(([name, { size }]) => [name, size]));
  }

  open(name: string): { bytes: Uint8Array; fault?: string } {
    const entry = this.entries.get(name);
    if (!entry) throw new Stop(name, "it is missing");
    const header = local(utf8(name), entry);
    const start = entry.offset + header.length;
    if (!same(this.bytes.subarray(entry.offset, start), header)) {
      throw new Stop(name, "its header differs from what the zip's directory says of it");
    }
    const bytes = this.bytes.subarray(start, start + entry.size);
    return crc32(bytes) === entry.crc ? { bytes } : { bytes, fault: "its bytes do not give the zip's CRC" };
  }

  /** Where a file's bytes stand in the zip. */
  span(name: string): { start: number; end: number } | undefined {
    const entry = this.entries.get(name);
    if (!entry) return undefined;
    const start = entry.offset + LOCAL_BYTES + utf8(name).length;
    return { start, end: start + entry.size };
  }
}

/** Where the first file of a bundle's zip begins: behind its header and its name. */
const README_AT = LOCAL_BYTES + README.length;

/** A later format is named as what it is, before anything else is said. */
function checkVersion(head: Uint8Array): void {
  if (!same(head.subarray(LOCAL_BYTES, README_AT), utf8(README))) return;
  refuseVersion(new TextDecoder().decode(head.subarray(README_AT)));
}

/** Lists the files without reading them; refuses whatever was not written as a bundle is. */
export function openZip(bytes: Uint8Array): Zip {
  const bad = (why: string): Stop => new Stop("the zip", why);
  checkVersion(bytes.subarray(0, README_AT + 64));
  if (bytes.length < END_BYTES) throw bad("it is too short to be one");
  const tail = bytes.subarray(bytes.length - END_BYTES);
  const [files, directoryBytes, directoryAt] = [u16(tail, 10), u32(tail, 12), u32(tail, 16)];
  if (!same(tail, end(files, directoryBytes, directoryAt))) {
    throw bad("it does not end as a bundle's zip does: a comment, more than one part, or no zip");
  }
  if (directoryAt + directoryBytes + END_BYTES !== bytes.length) throw bad("bytes stand before, between or behind its parts");
  if (directoryBytes > files * (CENTRAL_BYTES + NAME_BYTES_MAX) || files > FILES_MAX) {
    throw bad("its directory is larger than its files need");
  }
  const directory = bytes.subarray(directoryAt, directoryAt + directoryBytes);
  return new Zip(bytes, parseDirectory(directory, files, directoryAt));
}

function parseDirectory(directory: Uint8Array, files: number, endsAt: number): Map<string, Entry> {
  const bad = (why: string): Stop => new Stop("the zip's directory", why);
  const entries = new Map<string, Entry>();
  let [read, offset, last] = [0, 0, ""];
  for (let file = 0; file < files; file += 1) {
    const head = directory.subarray(read, read + CENTRAL_BYTES);
    const length = u16(head, 28);
    const spelled = directory.subarray(read + CENTRAL_BYTES, read + CENTRAL_BYTES + length);
    if (head.length < CENTRAL_BYTES || spelled.length < length) throw bad("it ends too early");
    read += CENTRAL_BYTES + length;
    const name = nameOf(spelled);
    const entry = parseEntry(name, head, spelled, offset);
    if (file > 0 && last >= name) throw new Stop(name, "the zip's files are not sorted, or one comes twice");
    last = name;
    offset += LOCAL_BYTES + length + entry.size;
    entries.set(name, entry);
  }
  if (read !== directory.length || offset !== endsAt) throw bad("bytes stand between or behind the files of the zip");
  return entries;
}

function nameOf(spelled: Uint8Array): string {
  try {
    return textOf(spelled, "name");
  } catch (error) {
    if (error instanceof Malformed) throw new Stop("the zip's directory", "a name is not UTF-8");
    throw error;
  }
}

function parseEntry(name: string, head: Uint8Array, spelled: Uint8Array, offset: number): Entry {
  checkName(name);
  const method = u16(head, 10);
  if (method !== 0) throw new Stop(name, `it is compressed (method ${method}), and nothing in a bundle is`);
  if (u32(head, 38) >>> 28 !== ATTRIBUTES >>> 28) throw new Stop(name, "it is a link or a special file, and a bundle has none");
  const entry = { offset: u32(head, 42), size: u32(head, 24), crc: u32(head, 16) };
  if (entry.offset !== offset) throw new Stop(name, "bytes stand between the files of the zip, or two files share some");
  if (!same(concat(head, spelled), central(spelled, entry))) {
    throw new Stop(name, "its entry in the zip's directory is not as a bundle writes it");
  }
  return entry;
}

/** A zip of these files as the format wants it, for tests that put a changed bundle together again. */
export function writeZip(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const [bodies, directory]: [Uint8Array[], Uint8Array[]] = [[], []];
  let offset = 0;
  for (const [name, bytes] of files) {
    const spelled = utf8(name);
    const entry = { offset, size: bytes.length, crc: crc32(bytes) };
    bodies.push(local(spelled, entry), bytes);
    directory.push(central(spelled, entry));
    offset += LOCAL_BYTES + spelled.length + bytes.length;
  }
  const listed = concat(...directory);
  return concat(...bodies, listed, end(files.size, listed.length, offset));
}
