// A passkey as a browser holds it: made and asked here, checked by the host. Nothing of it is kept by the page.
import { Refused } from "./host";

/** What a host asks a browser to make a passkey with. Bytes are base64url without padding. */
interface MakePasskey {
  challenge: string;
  rp_id: string;
  rp_name: string;
  user_id: string;
  user_name: string;
  algorithms: number[];
  exclude: string[];
  expires_at: number;
}

/** What a browser made. */
export interface Attested { client_data_json: string; attestation_object: string; transports: string[] }

/** What a passkey has to sign for a card. */
export interface Asked { decision: string; challenge: string; credentials: string[]; rp_id: string }

/** Its signature. */
export interface Asserted { credential_id: string; client_data_json: string; authenticator_data: string; signature: string; decision: string }

/** What a passkey has to sign, so that a page without a session is signed in. */
export interface SignInAsked { challenge: string; rp_id: string; ticket: string }

/** Its signature. */
interface SignedIn { ticket: string; credential_id: string; client_data_json: string; authenticator_data: string; signature: string }

const REMEMBERED = "hermit-passkeys";
/** Passkeys that this device remembers having used here, the newest first. */
const REMEMBERED_MAX = 8;

/** Their identifiers, which open nothing: a passkey that its authenticator does not list by itself is found by them. */
export function remembered(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(REMEMBERED) ?? "[]");
    return Array.isArray(kept) ? kept.filter((id): id is string => typeof id === "string" && /^[\w-]+$/.test(id) && id.length % 4 !== 1).slice(0, REMEMBERED_MAX) : [];
  } catch {
    return [];
  }
}

function remember(id: string): void {
  localStorage.setItem(REMEMBERED, JSON.stringify([id, ...remembered().filter((one) => one !== id)].slice(0, REMEMBERED_MAX)));
}

/** The origin that a page's passkeys belong to, or why it can have none. */
export type Place = { origin: string; why: null } | { origin: null; why: "address" | "insecure" | "absent" };

export function toBase64url(bytes: ArrayBuffer | Uint8Array): string {
  let text = "";
  for (const byte of bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) throw new Refused({ code: "failed", message: "the host sent something that is no base64url" });
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(bytes, (letter) => letter.charCodeAt(0));
}

/** Passkeys belong to a name: an address of numbers has none. */
export function placeOf({ hostname, origin }: { hostname: string; origin: string }, isSecure: boolean, isThere: boolean): Place {
  if (/^[\d.]+$/.test(hostname) || hostname.startsWith("[") || hostname === "") return { origin: null, why: "address" };
  if (!isSecure) return { origin: null, why: "insecure" };
  return isThere ? { origin, why: null } : { origin: null, why: "absent" };
}

/** Why a browser did not do it, by the name that it gives to that. */
export function explained(thrown: unknown, act: "add" | "allow" | "sign_in"): Refused {
  if (thrown instanceof Refused) return thrown;
  const nothing = { add: "nothing was added", allow: "nothing was decided", sign_in: "nobody was signed in" }[act];
  const said = (message: string, hint: string) => new Refused({ code: "cancelled", message: `${message}; ${nothing}`, hint });
  switch (thrown instanceof DOMException ? thrown.name : "") {
    case "NotAllowedError":
    case "AbortError":
      return said(
        "the passkey was not used",
        act === "add" ? "it was cancelled, took too long, or this device has none and no security key was found; try again"
          : act === "sign_in" ? "it was cancelled, took too long, or there is no passkey for this address on this device; try again, or open a new link"
          : "it was cancelled, took too long, or the passkey is not on this device; try again, or use the passphrase",
      );
    case "InvalidStateError":
      return said("this device has a passkey for Hermit already", "use that one, or revoke it first");
    case "SecurityError":
      return said("this page is not at the address that the passkey belongs to", "open the page at the address where you added it");
    case "NotSupportedError":
      return said("this device cannot make such a passkey", "use another device or a security key that knows ES256 or EdDSA");
    case "ConstraintError":
      return said("this device cannot check that it is you", "set a screen lock, a fingerprint or a PIN on it first");
    default:
      return new Refused({ code: "failed", message: `${thrown instanceof Error ? thrown.message : String(thrown)}; ${nothing}` });
  }
}

const known = (id: string): PublicKeyCredentialDescriptor => ({ type: "public-key", id: fromBase64url(id) });

/** Has the browser make a passkey that checks who uses it. */
export async function make(asked: MakePasskey): Promise<Attested> {
  try {
    const made = await navigator.credentials.create({
      publicKey: {
        challenge: fromBase64url(asked.challenge),
        rp: { id: asked.rp_id, name: asked.rp_name },
        user: { id: fromBase64url(asked.user_id), name: asked.user_name, displayName: asked.user_name },
        pubKeyCredParams: asked.algorithms.map((alg) => ({ type: "public-key", alg })),
        excludeCredentials: asked.exclude.map(known),
        authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
        attestation: "none",
        timeout: 120_000,
      },
    });
    if (!(made instanceof PublicKeyCredential) || !(made.response instanceof AuthenticatorAttestationResponse)) throw new Error("the browser made no passkey");
    remember(toBase64url(made.rawId));
    const { clientDataJSON, attestationObject } = made.response;
    return { client_data_json: toBase64url(clientDataJSON), attestation_object: toBase64url(attestationObject), transports: made.response.getTransports() };
  } catch (thrown) {
    throw explained(thrown, "add");
  }
}

/** Has a passkey sign a challenge, after it has checked who uses it; with no list of them, one that its authenticator finds. */
async function asserted({ challenge, rp_id: rpId }: Omit<SignInAsked, "ticket">, credentials: readonly string[]): Promise<Omit<SignedIn, "ticket">> {
  const signed = await navigator.credentials.get({
    publicKey: { challenge: fromBase64url(challenge), rpId, allowCredentials: credentials.map(known), userVerification: "required", timeout: 120_000 },
  });
  if (!(signed instanceof PublicKeyCredential) || !(signed.response instanceof AuthenticatorAssertionResponse)) throw new Error("the browser signed nothing");
  const { clientDataJSON, authenticatorData, signature } = signed.response;
  remember(toBase64url(signed.rawId));
  return {
    credential_id: toBase64url(signed.rawId), client_data_json: toBase64url(clientDataJSON),
    authenticator_data: toBase64url(authenticatorData), signature: toBase64url(signature),
  };
}

/** Has a passkey sign a decision. */
export async function sign(asked: Asked): Promise<Asserted> {
  try {
    return { ...await asserted(asked, asked.credentials), decision: asked.decision };
  } catch (thrown) {
    throw explained(thrown, "allow");
  }
}

/** Has a passkey sign this page in. */
export async function signIn(asked: SignInAsked): Promise<SignedIn> {
  try {
    return { ...await asserted(asked, remembered()), ticket: asked.ticket };
  } catch (thrown) {
    throw explained(thrown, "sign_in");
  }
}
