/** RSA signatures (RFC 8017): PKCS #1 v1.5 and PSS. Only checking: nothing here is secret. */
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { concat, hex, same } from "../read/bytes.ts";

/** Hashes that a signature may be made over, by object identifier. */
export const HASHES: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  "2.16.840.1.101.3.4.2.1": sha256,
  "2.16.840.1.101.3.4.2.2": sha384,
  "2.16.840.1.101.3.4.2.3": sha512,
};
export const SHA256 = "2.16.840.1.101.3.4.2.1";
export const SHA384 = "2.16.840.1.101.3.4.2.2";
export const SHA512 = "2.16.840.1.101.3.4.2.3";

/** What stands before the hash in a padded block: its algorithm and its length, in DER. */
const PREFIXES: Readonly<Record<string, readonly [number, number]>> = { [SHA256]: [1, 32], [SHA384]: [2, 48], [SHA512]: [3, 64] };

const BITS_MIN = 2048;
const BITS_MAX = 8192;

export interface RsaKey {
  modulus: bigint;
  exponent: bigint;
}

/** Whether a key may be believed: neither too small nor so large that checking takes long. */
export function isUsable({ modulus, exponent }: RsaKey): boolean {
  const bits = modulus.toString(2).length;
  return bits >= BITS_MIN && bits <= BITS_MAX && (modulus & 1n) === 1n && exponent >= 3n && exponent < 1n << 33n && (exponent & 1n) === 1n;
}

/** The block that a signature opens to, as long as the modulus; nothing where it is none of this key. */
function opened({ modulus, exponent }: RsaKey, signature: Uint8Array): Uint8Array | undefined {
  const length = Math.ceil(modulus.toString(2).length / 8);
  if (signature.length !== length) return undefined;
  let base = BigInt(`0x${hex(signature)}`);
  if (base >= modulus) return undefined;
  let power = 1n;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) power = (power * base) % modulus;
    base = (base * base) % modulus;
  }
  const text = power.toString(16).padStart(2 * length, "0");
  return Uint8Array.from({ length }, (_, at) => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16));
}

/** RSASSA-PKCS1-v1_5: the whole block must be the one that the hash gives. */
export function verifiesPkcs1(key: RsaKey, hash: string, message: Uint8Array, signature: Uint8Array): boolean {
  const [digest, prefix] = [HASHES[hash], PREFIXES[hash]];
  const block = isUsable(key) ? opened(key, signature) : undefined;
  if (!block || !digest || !prefix) return false;
  const [number, length] = prefix;
  const info = Uint8Array.of(0x30, 17 + length, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, number, 0x05, 0x00, 0x04, length);
  const filler = new Uint8Array(block.length - 3 - info.length - length).fill(0xff);
  return same(block, concat(Uint8Array.of(0, 1), filler, Uint8Array.of(0), info, digest(message)));
}

/** RSASSA-PSS with one hash for the message and one for the mask. */
export function verifiesPss(key: RsaKey, [hash, mask]: readonly [string, string], saltLength: number, message: Uint8Array, signature: Uint8Array): boolean {
  const digest = HASHES[hash];
  const whole = isUsable(key) ? opened(key, signature) : undefined;
  if (!whole || !digest || !HASHES[mask]) return false;
  const bits = key.modulus.toString(2).length - 1;
  const length = Math.ceil(bits / 8);
  if (length < whole.length && whole[0] !== 0) return false;
  const block = whole.subarray(whole.length - length);
  const hashed = digest(message);
  const masked = length - hashed.length - 1;
  if (masked < saltLength + 1 || block.at(-1) !== 0xbc) return false;
  const [data, seal] = [block.subarray(0, masked), block.subarray(masked, length - 1)];
  const unused = 8 * length - bits;
  if ((data[0] ?? 0) >> (8 - unused)) return false;
  const plain = maskOf(mask, seal, masked).map((byte, at) => byte ^ (data[at] ?? 0));
  plain[0] = (plain[0] ?? 0) & (0xff >> unused);
  const salt = masked - saltLength;
  if (plain.subarray(0, salt - 1).some((byte) => byte !== 0) || plain[salt - 1] !== 1) return false;
  return same(seal, digest(concat(new Uint8Array(8), hashed, plain.subarray(salt))));
}

/** MGF1. */
function maskOf(hash: string, seed: Uint8Array, length: number): Uint8Array {
  const digest = HASHES[hash];
  const mask = new Uint8Array(length);
  for (let [at, counter] = [0, 0]; digest && at < length; counter += 1) {
    const piece = digest(concat(seed, Uint8Array.of(counter >>> 24, counter >>> 16, counter >>> 8, counter)));
    mask.set(piece.subarray(0, length - at), at);
    at += piece.length;
  }
  return mask;
}
