// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.

/** Every passkey. */
export type List = Record<string, never>;

/** A passkey by its identifier. */
export interface Revoke {
  passkey: string;
}

/** All of them. */
export interface Passkeys {
  passkeys: Passkey[];
}

/** A passkey. */
export interface Passkey {
  passkey_id: string;
  name: string;
  rp_id: string;
  origin: string;
  algorithm: string;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
  backed_up: boolean;
  transports: string[];
}
