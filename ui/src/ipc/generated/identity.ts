// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { HandoverReason, TrustFinding } from "./words";

export type { Submitted } from "./task";

/** This instance. */
export interface Show {
  /** An older version of SOUL.md; the newest when it is not said. */
  version?: number | null;
}

/** SOUL.md as it is to be from now on. */
export interface Write {
  text: string;
  /** The version that it takes the place of; refused where that is not the newest. 0 for the first. */
  replaces: number;
}

/** An attestation of SOUL.md as it is. */
export type Attest = Record<string, never>;

/** The chain of this instance at relays, where anybody reads it. */
export interface Publish {
  /** Addresses of relays; those that are set for the mesh when it is empty. */
  relays: string[];
  /** The surface: `cli` (the standard) or `app`. */
  channel?: string | null;
}

/** A chain that is followed. */
export interface Verify {
  /** A proof, or a file of signed links, a line each; the chain of this store when it is not said. */
  path?: string | null;
}

/** A chain that is written to a file: a line for each link, behind one for the key. */
export interface Export {
  path: string;
}

/** Who this instance is. */
export interface Identity {
  instance_id: string;
  /** The newest version of SOUL.md; 0 where there is none. */
  version: number;
  /** The version that is shown. */
  shown: number;
  /** Its text; none where there is none, or it was erased. */
  soul: string | null;
  soul_sha256: string | null;
  /** When it was written. */
  written_at: number | null;
  versions: SoulVersion[];
  /** The key, 32 bytes in hex; none before the first attestation. */
  instance_pubkey: string | null;
  /** The same as Nostr spells it. */
  npub: string | null;
  /** The address of that key on Bitcoin's main chain. */
  address: string | null;
  /** Whether the newest version is attested. */
  attested: boolean;
  /** Waits for a person's yes. */
  asked: string | null;
  graph: TrustGraph;
}

/** One version of SOUL.md. */
export interface SoulVersion {
  version: number;
  soul_sha256: string;
  written_at: number;
  task_id: string | null;
  attested: boolean;
}

/** An attestation was made. */
export interface Attested {
  number: number;
  link_sha256: string;
  version: number;
}

/** What follows a chain back to genesis found. */
export interface TrustGraph {
  instance_id: string | null;
  /** Whether every link is signed by the key in force and names the one before it, back to one genesis. */
  unbroken: boolean;
  /** The key in force at the end. */
  key_in_force: string | null;
  /** The log's key that vouches for the first key, and it for that. */
  log_key: string | null;
  links: TrustLink[];
  findings: Finding[];
}

/** One link. */
export interface TrustLink {
  number: number;
  link_sha256: string;
  /** `attestation`, `handover` or `revocation`. */
  kind: string;
  previous: string | null;
  /** The version of SOUL.md, of an attestation. */
  version: number | null;
  soul_sha256: string | null;
  /** Who signed, in order. */
  signed_by: string[];
  reason: HandoverReason | null;
  /** The key that is not to be believed, of a revocation. */
  revoked: string | null;
  made_at: number;
  /** Heads of the log that it names: size and root. */
  log_size: number | null;
  /** Where it was published; none where it was not. */
  published: string[];
}

/** Something that is wrong with a chain. */
export interface Finding {
  what: TrustFinding;
  number: number | null;
  says: string;
}

/** A chain was written. */
export interface Exported {
  path: string;
  links: number;
}
