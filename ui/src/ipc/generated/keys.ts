// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.

/** Nothing to say. */
export type List = Record<string, never>;

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
  purpose: string;
  /** SHA-256 of its SPKI DER. */
  keyid: string;
  pem: string;
  /** As `ssh-keygen -l` shows it. */
  ssh_fingerprint: string;
  /** Whether its secret half is open in this process; absent when this process cannot know. */
  open: boolean | null;
}
