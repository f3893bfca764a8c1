// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.

/** Looks where servers of models usually listen on this machine, and nowhere else. */
export interface Find {
  /** Further ports of this machine. */
  ports?: number[];
}

/** Who proposes when a task names nobody. */
export interface Standard {
  /** Such as `openai:http://127.0.0.1:8080/v1#qwen`; nobody when absent. */
  address?: string | null;
}

/** What was found, and what is set up. */
export interface Found {
  servers: Server[];
  /** Ports that were looked at. */
  looked: number[];
  /** Who proposes when a task names nobody. */
  standard: string | null;
  providers: Provider[];
}

/** A server on this machine. */
export interface Server {
  /** `Ollama` and others, as far as it can be told. */
  name: string;
  /** Its base URL. */
  url: string;
  models: Model[];
  /** Why it lists no model, when it answers. */
  trouble: string | null;
}

/** A model of a server. */
export interface Model {
  /** Its name there. */
  id: string;
  /** What to name it by in a task. */
  address: string;
}

/** A server that has a key. */
export interface Provider {
  /** Its base URL. */
  url: string;
  /** Handle of the key; its value sleeps in the vault. */
  secret: string;
  /** Whether there is such a secret. */
  kept: boolean;
}

/** Who proposes from now on. */
export interface Chosen {
  standard: string | null;
}
