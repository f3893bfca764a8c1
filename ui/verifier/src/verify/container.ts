/** Where the files of a bundle come from, and how they are read. */
import { FORMAT, isKnown, LINE_BYTES_MAX, NAME_BYTES_MAX, README } from "./layout.ts";
import { Stop } from "./read/stop.ts";

/** A bundle that is being read: a zip in memory, or a folder. */
export interface Container {
  /** Sizes by name, sorted by name. */
  readonly sizes: ReadonlyMap<string, number>;
  /** The bytes of a file, and what is wrong with how the container itself keeps them. */
  open(name: string): { bytes: Uint8Array; fault?: string };
}

/** A whole file of at most `max` bytes. */
export function readWhole(container: Container, name: string, max: number): Uint8Array {
  const size = container.sizes.get(name);
  if (size === undefined) throw new Stop(name, "it is missing");
  if (size > max) throw new Stop(name, `it has ${size} bytes, more than the ${max} such a file may have`);
  const { bytes, fault } = container.open(name);
  if (fault !== undefined) throw new Stop(name, fault);
  return bytes;
}

/** Lines that each end in LF, and their numbers from 1. What the container promises is checked at the end. */
export function* linesOf(container: Container, name: string): Generator<[number, Uint8Array]> {
  if (!container.sizes.has(name)) throw new Stop(name, "it is missing");
  const { bytes, fault } = container.open(name);
  let number = 0;
  for (let start = 0; start < bytes.length; ) {
    number += 1;
    const end = bytes.indexOf(0x0a, start);
    const place = `${name} line ${number}`;
    const long = end < 0 ? bytes.length - start > LINE_BYTES_MAX : end - start > LINE_BYTES_MAX;
    if (long) throw new Stop(place, "the line is longer than any of ours");
    if (end < 0) throw fault === undefined ? new Stop(place, "the line does not end in a newline: it was cut off") : new Stop(name, fault);
    yield [number, bytes.subarray(start, end)];
    start = end + 1;
  }
  if (fault !== undefined) throw new Stop(name, fault);
}

/** Refuses a name before anything is done with it. */
export function checkName(name: string): void {
  if (isKnown(name)) return;
  throw new Stop([...name].slice(0, NAME_BYTES_MAX).map(escaped).join(""), "a bundle has no file of this name");
}

/** Refuses what its README.txt says to be a bundle of another version. One that says nothing is read on. */
export function refuseVersion(readme: string): void {
  const first = readme.split(/\s+/).find((word) => word !== "") ?? "";
  if (!first.startsWith("hermit-proof/") || first === FORMAT) return;
  const name = [...first].slice(0, 32).map(escaped).join("");
  throw new Stop(README, `it is a \`${name}\` bundle, and this program reads ${FORMAT}; use a newer one`);
}

const SHORT: Record<string, string> = { "\t": "\\t", "\r": "\\r", "\n": "\\n", "'": "\\'", '"': '\\"', "\\": "\\\\" };

/** A character as it can be shown without doing anything. */
function escaped(character: string): string {
  if (/^[\x20-\x7e]$/.test(character)) return SHORT[character] ?? character;
  return SHORT[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

