// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.

/** Nothing to say. */
export type Show = Record<string, never>;

/** A part of what this version tells of itself. */
export interface Introspect {
  topic: Introspected;
  /** Only what has these words in its name, its place or what it is for; everything when absent. */
  words?: string | null;
  /** The `next` of the part before. */
  after?: string | null;
  limit?: number | null;
}

/** The running version. */
export interface Version {
  version: string;
  /** The digest of its source as `hermit source` writes it; none in a program that carries none. */
  source_sha256: string | null;
  /** Files of it. */
  source_files: number;
  /** Bytes of it. */
  source_bytes: number;
}

/** A part of what this version tells of itself, in the order of its source. */
export interface ToldList {
  rows: Told[];
  /** Where to go on; absent at the end. */
  next: string | null;
}

/** One thing that a version tells of itself. */
export interface Told {
  name: string;
  /** What it is for. */
  about: string;
  /** Its value, or how it stands; empty where it has none. */
  value: string;
  /** Where it stands in the source: a path, with `:LINE` where it is a line. */
  at: string;
  /** What it leads to: doors of a room, tests of a requirement, requirements of a test, topics of a command. */
  leads_to: string[];
}

/** What can be asked of a version. */
export type Introspected =
  /** Crates, with their purpose and the rooms each needs. */
  | "rooms"
  /** Which room may import which. */
  | "doors"
  /** Commands of every surface, with what each needs. */
  | "commands"
  /** Constants that bound something. */
  | "limits"
  /** Requirements, how each stands, and the tests that show it. */
  | "requirements"
  /** Tests that show a requirement. */
  | "tests";
