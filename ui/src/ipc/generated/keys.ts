// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";
import type { KeyPurpose, KeyStatus } from "./words";

/** Those in force; with `all` those that were in force before, too. */
export interface List {
  all?: boolean;
}

/** Keys made elsewhere. */
export interface Register {
  keys: NewKey[];
  kept_in: string;
}

/** A public key. */
export interface NewKey {
  /** `log`, `receipt`, `manifest`, `approval`. */
  purpose: string;
  /** A PEM block. */
  pem: string;
}

/** All of them. */
export interface Keys {
  keys: Key[];
}

/** One key in force. */
export interface Key {
  purpose: KeyPurpose;
  /** SHA-256 of its SPKI DER. */
  keyid: string;
  pem: string;
  /** As `ssh-keygen -l` shows it. */
  ssh_fingerprint: string;
  /** Whether its secret half is open in this process; absent when this process cannot know. */
  open: boolean | null;
  status: KeyStatus;
  /** When it came into force. */
  since: number;
  /** When another followed it. */
  until: number | null;
  /** When it was revoked. */
  revoked_at: number | null;
  /** Why it was revoked. */
  revoked_because: Text | null;
  /** The key as C2SP notes name it, for the log key. */
  vkey: string | null;
}
