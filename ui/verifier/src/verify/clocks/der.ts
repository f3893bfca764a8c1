/** DER (X.690): one accepted encoding of each value, read piece by piece. */
import { hex, same } from "../read/bytes.ts";
import { Malformed } from "../read/stop.ts";

export const BOOLEAN = 0x01;
export const INTEGER = 0x02;
export const BIT_STRING = 0x03;
export const OCTET_STRING = 0x04;
const OBJECT_IDENTIFIER = 0x06;
const UTC_TIME = 0x17;
export const GENERALIZED_TIME = 0x18;
export const SEQUENCE = 0x30;
export const SET = 0x31;

/** The tag of a context-specific value: `[n]`. */
export const context = (number: number, constructed = true): number => 0x80 | (constructed ? 0x20 : 0) | number;

/** One value: its tag, its content, and all of its bytes. */
export interface Der {
  tag: number;
  body: Uint8Array;
  raw: Uint8Array;
}

export function bad(why: string): Malformed {
  return new Malformed("DER document", why);
}

/** Values one after the other. */
export class DerReader {
  private offset = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /** Reads bytes that are one value of this tag and nothing else. */
  static one(bytes: Uint8Array, tag: number): Der {
    const reader = new DerReader(bytes);
    const value = reader.next(tag);
    reader.end();
    return value;
  }

  /** The values inside one of this tag. */
  static within(bytes: Uint8Array, tag: number): DerReader {
    return new DerReader(DerReader.one(bytes, tag).body);
  }

  get isAtEnd(): boolean {
    return this.offset === this.bytes.length;
  }

  /** The tag of the next value; nothing at the end. */
  get tag(): number | undefined {
    return this.bytes[this.offset];
  }

  /** The next value, which must have this tag where one is said. */
  next(tag?: number): Der {
    const start = this.offset;
    const found = this.byte();
    if ((found & 0x1f) === 0x1f) throw bad("a tag has a large number");
    if (tag !== undefined && found !== tag) throw bad(`the tag ${found} stands where ${tag} is expected`);
    const length = this.length();
    if (length > this.bytes.length - this.offset) throw bad("it ends too early");
    const body = this.bytes.subarray(this.offset, this.offset + length);
    this.offset += length;
    return { tag: found, body, raw: this.bytes.subarray(start, this.offset) };
  }

  /** The values inside the next one. */
  into(tag: number): DerReader {
    return new DerReader(this.next(tag).body);
  }

  /** The next value, if it has this tag. */
  maybe(tag: number): Der | undefined {
    return this.tag === tag ? this.next(tag) : undefined;
  }

  oid(): string {
    return oidOf(this.next(OBJECT_IDENTIFIER).body);
  }

  /** An integer that is not negative. */
  unsigned(): bigint {
    const { body } = this.next(INTEGER);
    checkInteger(body);
    if ((body[0] ?? 0) & 0x80) throw bad("a number is negative");
    return BigInt(`0x${hex(body)}`);
  }

  /** All values that are left. */
  rest(): Der[] {
    const all: Der[] = [];
    while (!this.isAtEnd) all.push(this.next());
    return all;
  }

  end(): void {
    if (!this.isAtEnd) throw bad("something follows where nothing is expected");
  }

  private byte(): number {
    const byte = this.bytes[this.offset];
    if (byte === undefined) throw bad("it ends too early");
    this.offset += 1;
    return byte;
  }

  /** A length in its one spelling; none that is left open. */
  private length(): number {
    const first = this.byte();
    if (first < 0x80) return first;
    const many = first & 0x7f;
    if (many === 0 || many > 4) throw bad("a length is left open, or too large");
    let length = 0;
    for (let read = 0; read < many; read += 1) length = length * 256 + this.byte();
    if (length < 0x80 || length < 256 ** (many - 1)) throw bad("a length is not in its shortest form");
    return length;
  }
}

/** Refuses an integer that is not in its shortest form. */
export function checkInteger(body: Uint8Array): void {
  const [first, second] = body;
  if (first === undefined) throw bad("a number is empty");
  if (second !== undefined && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80))) throw bad("a number is not in its shortest form");
}

export function oidOf(body: Uint8Array): string {
  if (body.length === 0 || body.length > 64 || (body.at(-1) ?? 0) & 0x80) throw bad("an object identifier does not end");
  const numbers: bigint[] = [];
  let number = 0n;
  let begins = true;
  for (const byte of body) {
    if (begins && byte === 0x80) throw bad("an object identifier is not in its shortest form");
    number = (number << 7n) | BigInt(byte & 0x7f);
    begins = (byte & 0x80) === 0;
    if (!begins) continue;
    numbers.push(number);
    number = 0n;
  }
  const [first = 0n, ...others] = numbers;
  const top = first < 80n ? first / 40n : 2n;
  return [top, first - top * 40n, ...others].join(".");
}

export function booleanOf({ body }: Der): boolean {
  if (body.length !== 1 || (body[0] !== 0 && body[0] !== 0xff)) throw bad("a truth value is neither of the two");
  return body[0] === 0xff;
}

/** The bytes of a bit string that has no unused bits. */
export function bitsOf({ body }: Der): Uint8Array {
  if (body[0] !== 0) throw bad("a bit string has a part of a byte");
  return body.subarray(1);
}

/** A time with the milliseconds since 1970, rounded down, and whether something was cut off. */
interface DerTime {
  ms: number;
  isCut: boolean;
}

/** A UTC time or a generalised one, in the one form that DER has for each. */
export function timeOf({ tag, body }: Der): DerTime {
  const text = String.fromCharCode(...body.subarray(0, 64));
  const form = tag === UTC_TIME ? /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/ : /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(?:\.(\d{0,11}[1-9]))?Z$/;
  const found = tag === UTC_TIME || tag === GENERALIZED_TIME ? form.exec(text) : null;
  if (!found) throw bad("a time is not in its one form");
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map(Number);
  const fraction = found[7] ?? "";
  const century = tag === UTC_TIME ? (year < 50 ? 2000 : 1900) : 0;
  const date = new Date(0);
  date.setUTCFullYear(century + year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  date.setUTCHours(hour, minute, second);
  if (!isDay || hour > 23 || minute > 59 || second > 59) throw bad("a time is none of the calendar");
  return { ms: date.getTime() + Number(fraction.slice(0, 3).padEnd(3, "0")), isCut: fraction.length > 3 };
}

/** An algorithm and what is said of it. */
export interface Algorithm {
  oid: string;
  parameters?: Der;
}

export function algorithmOf(value: Der): Algorithm {
  const reader = new DerReader(value.body);
  const oid = reader.oid();
  const parameters = reader.isAtEnd ? undefined : reader.next();
  reader.end();
  return { oid, ...(parameters && { parameters }) };
}

/** Whether nothing is said of an algorithm: no parameters, or the NULL that stands for none. */
export function isPlain({ parameters }: Algorithm): boolean {
  return parameters === undefined || same(parameters.raw, Uint8Array.of(0x05, 0x00));
}
