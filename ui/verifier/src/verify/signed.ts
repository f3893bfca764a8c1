/** The two signed wrappings of a bundle: DSSE envelopes and SSH signatures. */
import { base64, base64Decode, base64Exact, concat, Reader, same, textOf, utf8 } from "./read/bytes.ts";
import { parseCanonical } from "./read/canon.ts";
import { sha256 } from "./read/digest.ts";
import { PublicKey, sshString } from "./keys.ts";
import { array, digest, object, string } from "./read/shape.ts";
import { Malformed } from "./read/stop.ts";

/** Payload type of in-toto statements: receipts and bundle statements. */
export const IN_TOTO = "application/vnd.in-toto+json";
/** The namespace of bundle signatures. */
export const NAMESPACE = "hermit-proof@v1";
const SIGNATURES_MAX = 16;

const envelope = object({ payloadType: string, payload: string, signatures: array(object({ keyid: digest, sig: string }, "closed")) }, "closed");

/** The bytes that are signed: type and payload with their lengths, so that neither can pass for the other. */
function pae(type: string, payload: Uint8Array): Uint8Array {
  return concat(utf8(`DSSEv1 ${utf8(type).length} ${type} ${payload.length} `), payload);
}

interface Envelope {
  type: string;
  payload: Uint8Array;
  signatures: { keyid: string; sig: Uint8Array }[];
}

export function parseEnvelope(bytes: Uint8Array): Envelope {
  const read = envelope(parseCanonical(bytes));
  const payload = base64Decode("envelope", read.payload);
  const signatures = read.signatures.map(({ keyid, sig }) => ({ keyid, sig: base64Exact("signature", sig, 64) }));
  const count = signatures.length;
  if (count === 0 || count > SIGNATURES_MAX) throw new Malformed("envelope", `it carries ${count} signatures, not 1 to ${SIGNATURES_MAX}`);
  if (new Set(signatures.map(({ keyid }) => keyid)).size !== count) throw new Malformed("envelope", "a key signs twice");
  return { type: read.payloadType, payload, signatures };
}

/** Whose signatures an envelope carries, none of them checked; nobody's where it is no envelope. */
export function signersOf(bytes: Uint8Array): string[] {
  try {
    return parseEnvelope(bytes).signatures.map(({ keyid }) => keyid);
  } catch (error) {
    if (error instanceof Malformed) return [];
    throw error;
  }
}

/** The payload of a DSSE envelope of this type, once the signature by `key` holds. */
export function openEnvelope(bytes: Uint8Array, type: string, key: PublicKey): Uint8Array {
  const read = parseEnvelope(bytes);
  const { payload, signatures } = read;
  if (read.type !== type) throw new Malformed("envelope", `its payload is \`${read.type}\`, not \`${type}\``);
  const ours = signatures.find(({ keyid }) => keyid === key.keyid);
  if (!ours) throw new Malformed("envelope", "it is not signed by the key it should be signed by");
  if (!key.verifies(pae(type, payload), ours.sig)) throw new Malformed("envelope", "its signature does not hold");
  return payload;
}

const WHAT = "SSH signature";
const MAGIC = utf8("SSHSIG");
const HASH = sshString(utf8("sha256"));
const NOTHING = sshString(new Uint8Array());
const KEY_TYPE = utf8("ssh-ed25519");
const BEGIN = "-----BEGIN SSH SIGNATURE-----\n";
const END = "-----END SSH SIGNATURE-----\n";
/** `ssh-keygen` breaks its lines here. */
const LINE = 70;

/** Checks an armoured SSH signature over `message`; only the one spelling that `ssh-keygen -Y sign` writes. */
export function checkSshSignature(bytes: Uint8Array, message: Uint8Array, key: PublicKey): void {
  const armored = textOf(bytes, WHAT);
  if (!armored.startsWith(BEGIN) || !armored.endsWith(END)) throw new Malformed(WHAT, "it is not an `SSH SIGNATURE` block");
  const body = armored.slice(BEGIN.length, -END.length).replaceAll("\n", "");
  const { signer, signature } = sshParts(base64Decode(WHAT, body));
  if (!signer.equals(key)) throw new Malformed(WHAT, "another key made it");
  // Writing it again settles namespace, reserved field, hash name and line breaks at once.
  const namespace = sshString(utf8(NAMESPACE));
  if (armor(signer, namespace, signature) !== armored) throw new Malformed(WHAT, "it is for another purpose");
  const preimage = concat(MAGIC, namespace, NOTHING, HASH, sshString(sha256(message)));
  if (!key.verifies(preimage, signature)) throw new Malformed(WHAT, "it does not hold");
}

function sshParts(blob: Uint8Array): { signer: PublicKey; signature: Uint8Array } {
  const reader = new Reader(WHAT, blob);
  const next = (from: Reader): Uint8Array => from.take(from.u32());
  if (!same(reader.take(MAGIC.length), MAGIC) || reader.u32() !== 1) throw new Malformed(WHAT, "it is not version 1");
  const key = new Reader(WHAT, next(reader));
  if (!same(next(key), KEY_TYPE)) throw new Malformed(WHAT, "its key is not Ed25519");
  const signer = PublicKey.fromBytes(next(key));
  for (let skipped = 0; skipped < 3; skipped += 1) next(reader);
  const inner = new Reader(WHAT, next(reader));
  next(inner);
  const signature = next(inner);
  if (signature.length !== 64) throw new Malformed(WHAT, "it is not 64 bytes long");
  return { signer, signature };
}

function armor(key: PublicKey, namespace: Uint8Array, signature: Uint8Array): string {
  const version = Uint8Array.of(0, 0, 0, 1);
  const inner = sshString(concat(sshString(KEY_TYPE), sshString(signature)));
  const blob = concat(MAGIC, version, sshString(key.sshBlob), namespace, NOTHING, HASH, inner);
  const lines = base64(blob).match(new RegExp(`.{1,${LINE}}`, "g")) ?? [];
  return `${BEGIN}${lines.map((line) => `${line}\n`).join("")}${END}`;
}

/** The line of an `allowed_signers` file that lets `principal` sign bundles. */
export function allowedSigner(principal: string, key: PublicKey): string {
  return `${principal} namespaces="${NAMESPACE}" ssh-ed25519 ${base64(key.sshBlob)}\n`;
}
