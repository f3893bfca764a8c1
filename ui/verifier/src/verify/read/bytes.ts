/** Hex, base64, UTF-8 and decimals, each with exactly one accepted spelling. */
import { Malformed } from "./stop.ts";

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const ENCODER = new TextEncoder();
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map([...ALPHABET].map((letter, value) => [letter, value]));

/** The bytes of a text. */
export function utf8(text: string): Uint8Array {
  return ENCODER.encode(text);
}

/** The text of bytes that are UTF-8 to the last one; nothing is replaced, no byte order mark is swallowed. */
export function textOf(bytes: Uint8Array, what: string): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new Malformed(what, "it is not UTF-8");
  }
}

export function concat(...parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

export function same(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += DIGITS[byte];
  return text;
}

/** Exactly `length` bytes in lower-case hex. */
export function hexExact(what: string, text: string, length: number): Uint8Array {
  if (text.length !== 2 * length) throw new Malformed(what, `it has ${text.length} characters, not ${2 * length}`);
  if (!/^[0-9a-f]*$/.test(text)) throw new Malformed(what, "it is not lower-case hex");
  return Uint8Array.from({ length }, (_, index) => Number.parseInt(text.slice(2 * index, 2 * index + 2), 16));
}

/** Standard base64 with padding (RFC 4648 section 4). */
export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let index = 0; index < bytes.length; index += 3) {
    const [a, b, c] = [bytes[index] ?? 0, bytes[index + 1] ?? 0, bytes[index + 2] ?? 0];
    const left = bytes.length - index;
    text += ALPHABET.charAt(a >> 2) + ALPHABET.charAt(((a & 3) << 4) | (b >> 4));
    text += left > 1 ? ALPHABET.charAt(((b & 15) << 2) | (c >> 6)) : "=";
    text += left > 2 ? ALPHABET.charAt(c & 63) : "=";
  }
  return text;
}

/** Standard base64 in its one spelling: padding required, no stray bits, no white space. */
export function base64Decode(what: string, text: string): Uint8Array {
  const refused = (): Malformed => new Malformed(what, "its base64 is refused");
  if (text.length % 4 !== 0) throw refused();
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const letters = text.length - padding;
  let [bits, held, written] = [0, 0, 0];
  for (let index = 0; index < letters; index += 1) {
    const value = VALUES.get(text.charAt(index));
    if (value === undefined) throw refused();
    bits = ((bits << 6) | value) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[written] = (bits >> held) & 0xff;
      written += 1;
    }
  }
  if ((bits & ((1 << held) - 1)) !== 0) throw refused();
  return bytes;
}

/** {@link base64Decode} of exactly `length` bytes. */
export function base64Exact(what: string, text: string, length: number): Uint8Array {
  const bytes = base64Decode(what, text);
  if (bytes.length !== length) throw new Malformed(what, `its base64 holds ${bytes.length} bytes, not ${length}`);
  return bytes;
}

const U64_MAX = (1n << 64n) - 1n;

/** A decimal without sign and without leading zeros, at most 64 bits. */
export function decimal(what: string, text: string): bigint {
  if (!/^(0|[1-9][0-9]*)$/.test(text)) throw new Malformed(what, `\`${text}\` is not a plain decimal number`);
  const number = text.length > 20 ? U64_MAX + 1n : BigInt(text);
  if (number > U64_MAX) throw new Malformed(what, `\`${text}\` is beyond 64 bits`);
  return number;
}

/** Reads a byte string piece by piece, refusing to run past its end. */
export class Reader {
  private offset = 0;

  constructor(
    private readonly what: string,
    private readonly bytes: Uint8Array,
  ) {}

  take(length: number): Uint8Array {
    if (length > this.bytes.length - this.offset) throw new Malformed(this.what, "it ends too early");
    const piece = this.bytes.subarray(this.offset, this.offset + length);
    this.offset += length;
    return piece;
  }

  /** Four bytes, the greatest first. */
  u32(): number {
    const piece = this.take(4);
    return new DataView(piece.buffer, piece.byteOffset, 4).getUint32(0);
  }
}
