// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { SkinState } from "./words";

export type { Submitted } from "./task";

/** Every skin that there is. */
export interface List {
  /** The conversation whose skin is told of. */
  conversation?: string | null;
}

/** One skin, with every word of it. */
export interface Show {
  /** Its name, or the digest of its file. */
  skin: string;
}

/** The text of a file, as it was written. */
export interface Check {
  text: string;
}

/** The name of a new one. */
export interface Draft {
  name: string;
}

/** The file that a person is asked about. */
export interface Trust {
  /** All of it. */
  text: string;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** The skin that is not trusted any more. */
export interface Untrust {
  /** Its name, for all of it; or the digest of its file. */
  skin: string;
  reason?: string | null;
}

/** The skin of a conversation from the next context on. */
export interface Choose {
  /** The first one when absent. */
  conversation?: string | null;
  /** Its name, or the digest of its file; none when absent, or `none`. */
  skin?: string | null;
}

/** What there is. */
export interface SkinList {
  skins: SkinRow[];
  /** The skin of the conversation that was named. */
  chosen: ChosenSkin | null;
}

/** One skin. */
export interface SkinRow {
  name: string;
  version: number;
  /** What it is like, in a line. */
  about: string;
  state: SkinState;
  /** Why, in words. */
  why: string | null;
  sha256: string;
  /** The key that signed it; one that comes with Hermit is signed by nobody. */
  signed_by: string | null;
  /** What stands before Hermit's name where it speaks. */
  mark: string | null;
  colours: SkinColours | null;
  /** The tools that a model is offered under it, of those that its task is offered anyway; all of them when absent. */
  tools: string[] | null;
  /** What else a person should know of it. */
  notes: string[];
  /** Since when it is trusted. */
  since: number | null;
}

/** The colour of Hermit's name where it speaks, as `#rrggbb`. */
export interface SkinColours {
  light: string;
  dark: string;
}

/** The skin of a conversation. */
export interface ChosenSkin {
  name: string;
  sha256: string;
  since: number;
  /** Why the conversation goes on without it, where it does. */
  why: string | null;
}

/** One skin with every word of it. */
export interface SkinShown {
  skin: SkinRow;
  /** How it speaks. */
  voice: string;
  /** The form of its answers. */
  form: string;
  /** All of its file. */
  text: string;
}

/** A file to begin with. */
export interface SkinDraft {
  text: string;
}

/** What is not trusted any more. */
export interface SkinUntrusted {
  skin: string;
  sha256: string[];
}

/** The skin that a conversation has now. */
export interface SkinChosen {
  conversation_id: string;
  name: string | null;
  sha256: string | null;
}
