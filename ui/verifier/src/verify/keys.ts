/** Ed25519 keys, and the one strict way in which a signature is checked. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { base64, base64Exact, concat, hex, same, utf8 } from "./read/bytes.ts";
import { digestOf, sha256 } from "./read/digest.ts";
import { Malformed } from "./read/stop.ts";

const { Point } = ed25519;
type Point = ReturnType<typeof Point.fromBytes>;

/** Order of the base point. */
const ORDER = Point.Fn.ORDER;
/** SPKI DER of an Ed25519 key is this prefix and the 32 bytes (RFC 8410). */
const SPKI = Uint8Array.of(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00);
const PEM_BEGIN = "-----BEGIN PUBLIC KEY-----\n";
const PEM_END = "\n-----END PUBLIC KEY-----\n";

function little(bytes: Uint8Array): bigint {
  let number = 0n;
  for (let index = bytes.length - 1; index >= 0; index -= 1) number = (number << 8n) | BigInt(bytes[index] ?? 0);
  return number;
}

function point(bytes: Uint8Array): Point | undefined {
  try {
    return Point.fromBytes(bytes, true);
  } catch {
    return undefined;
  }
}

/** A public key: a point of the curve under which not just anybody can sign. */
export class PublicKey {
  /** The 32 bytes in hexadecimal digits, as notes about keys name it. */
  readonly hex: string;

  private constructor(
    /** The 32 bytes of RFC 8032. */
    readonly bytes: Uint8Array,
    private readonly point: Point,
  ) {
    this.hex = hex(bytes);
  }

  static fromBytes(bytes: Uint8Array): PublicKey {
    const found = bytes.length === 32 ? point(bytes) : undefined;
    if (!found) throw new Malformed("public key", "it is no point of the curve");
    if (found.isSmallOrder()) throw new Malformed("public key", "it is of small order, so anybody could sign for it");
    return new PublicKey(bytes, found);
  }

  /** Reads PEM as `openssl pkey -pubin` writes it, and no other spelling of it. */
  static fromPem(text: string): PublicKey {
    const block = text.startsWith(PEM_BEGIN) && text.endsWith(PEM_END) && text.length >= PEM_BEGIN.length + PEM_END.length;
    if (!block) throw new Malformed("public key", "it is not a PEM `PUBLIC KEY` block");
    const der = base64Exact("public key", text.slice(PEM_BEGIN.length, -PEM_END.length), 44);
    if (!same(der.subarray(0, 12), SPKI)) throw new Malformed("public key", "it is not an Ed25519 key");
    return PublicKey.fromBytes(der.subarray(12));
  }

  /** Name of the key everywhere in the house: SHA-256 of its SPKI DER. */
  get keyid(): string {
    return digestOf(SPKI, this.bytes);
  }

  /** The key's fingerprint as `ssh-keygen -l` shows it. */
  get fingerprint(): string {
    return `SHA256:${base64(sha256(this.sshBlob)).replace(/=+$/, "")}`;
  }

  /** The key as SSH spells it. */
  get sshBlob(): Uint8Array {
    return concat(sshString(utf8("ssh-ed25519")), sshString(this.bytes));
  }

  equals(other: PublicKey): boolean {
    return same(this.bytes, other.bytes);
  }

  /**
   * Whether this key made `signature` over `message`. Strict: no malleable `s`, no `R` or key of small order, no
   * second spelling of `R`, and no cofactor, so that two verifiers never disagree about a signature.
   */
  verifies(message: Uint8Array, signature: Uint8Array): boolean {
    if (signature.length !== 64) return false;
    const [r, scalar] = [signature.subarray(0, 32), little(signature.subarray(32))];
    if (scalar >= ORDER || (point(r)?.isSmallOrder() ?? true)) return false;
    const challenge = little(sha512(concat(r, this.bytes, message))) % ORDER;
    const expected = Point.BASE.multiplyUnsafe(scalar).subtract(this.point.multiplyUnsafe(challenge));
    return same(expected.toBytes(), r);
  }
}

/** An SSH string: its length in four bytes, then the bytes. */
export function sshString(bytes: Uint8Array): Uint8Array {
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, bytes.length);
  return concat(length, bytes);
}
