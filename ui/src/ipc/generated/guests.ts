// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.

/** Nothing to say. */
export type List = Record<string, never>;

/** All that are known. */
export interface Agents {
  agents: Agent[];
}

/** One agent, and whether it is here. */
export interface Agent {
  /** What `--agent` takes. */
  name: string;
  /** What its maker calls it. */
  title: string;
  /** Where its program is; absent when it is not here. */
  program: string | null;
  /** How it is installed, in words. */
  install: string;
  /** Hosts of its model, as `name:port`. */
  hosts: string[];
  /** The secret that it signs in with unless another is named. */
  secret: string;
  /** Whether there is that secret. */
  has_secret: boolean;
  /** Whether it can go on with what it did before. */
  goes_on: boolean;
  /** Whether it tells what it changed. */
  tells: boolean;
  /** Whether it speaks the Agent Client Protocol, so that `acp:` may stand before its name. */
  acp: boolean;
}
