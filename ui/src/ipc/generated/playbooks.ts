// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.

/** Nothing to say. */
export type List = Record<string, never>;

/** A playbook of one's own. */
export interface Read {
  /** The text of its file. */
  text: string;
}

/** All at hand. */
export interface Playbooks {
  playbooks: Playbook[];
}

/** One playbook. */
export interface Playbook {
  name: string;
  about: string;
  /** What it does, for somebody about to run it. */
  description: string;
  parameters: Parameter[];
}

/** One of its parameters. */
export interface Parameter {
  name: string;
  about: string;
  /** Used when none is given; absent when one must be. */
  standard: string | null;
}
