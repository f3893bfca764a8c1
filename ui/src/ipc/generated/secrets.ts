// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { VaultKind } from "./words";

/** All of them. */
export type List = Record<string, never>;

/** All of them. */
export interface Secrets {
  secrets: Secret[];
}

/** One secret. */
export interface Secret {
  handle: string;
  /** Where it may go, as `name:port`; nowhere when there is none. */
  hosts: string[];
  /** Which vault its value is kept in. */
  kept_in: VaultKind;
  /** Where in a request its value may stand beside the headers: `url`, `body`. */
  also_in: string[];
  /** When it was set last. */
  since: number;
}
