// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.

/** All of them. */
export type List = Record<string, never>;

/** A passkey on a security key, as a person's approval key lets it say yes. */
export interface Enrol {
  /** Base64 of the DSSE envelope, exact bytes. */
  envelope: string;
  /** What its owner calls it. */
  name: string;
}

/** The one that says yes no more. */
export interface Revoke {
  /** Its identifier, the beginning of it, or its name. */
  passkey: string;
  reason?: string | null;
}

/** All of them, the oldest first. */
export interface Passkeys {
  passkeys: Passkey[];
}

/** One passkey. */
export interface Passkey {
  /** SHA-256 of its public key's SPKI DER. */
  passkey_id: string;
  /** What its owner calls it; none when that was erased. */
  name: string | null;
  /** The host it is for. */
  rp_id: string;
  /** The one origin at which it may be used. */
  origin: string;
  /** `ES256` or `EdDSA`. */
  algorithm: string;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
  /** Whether it can say yes: not when it is revoked, nor when the approval key was replaced since. */
  in_force: boolean;
  /** Whether its authenticator says that it was copied to other devices. */
  backed_up: boolean;
  /** How it is reached, as the browser told: `internal`, `usb`, ... */
  transports: string[];
}
