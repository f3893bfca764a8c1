/** SHA-256, the only hash of the house, and the CRC-32 of zip files. A digest is 64 lower-case hex digits. */
import { sha256 as hash } from "@noble/hashes/sha2.js";
import { hex, hexExact } from "./bytes.ts";

/** The genesis link: what the first entry of every chain points back to. */
export const ZERO = "0".repeat(64);

export function sha256(...parts: Uint8Array[]): Uint8Array {
  const hasher = hash.create();
  for (const part of parts) hasher.update(part);
  return hasher.digest();
}

/** SHA-256 of bytes, as text. */
export function digestOf(...parts: Uint8Array[]): string {
  return hex(sha256(...parts));
}

/** Reads a digest; any other spelling is refused. */
export function parseDigest(text: string): string {
  hexExact("digest", text, 32);
  return text;
}

export function isDigest(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb8_8320 : value >>> 1;
  return value;
});

/** CRC-32 as zip files carry it (IEEE 802.3). It guards against accidents only; digests do the rest. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return ~crc >>> 0;
}
