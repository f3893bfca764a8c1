// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { BoxState, ToolMode, ToolOffer } from "./words";

/** Looks where servers of models usually listen on this machine, and nowhere else. */
export interface Find {
  /** Further ports of this machine. */
  ports?: number[];
}

/** What is set for one model: what is absent stays as it is. */
export interface Set {
  /** Its address. */
  address: string;
  /** Tokens that prompt and answer may have together; 0 asks its server again. */
  context?: number | null;
  /** Tokens of one answer; 0 leaves it to Hermit. */
  output?: number | null;
  /** `own` for the model's own, or from 0 to 2; empty leaves it to Hermit. */
  temperature?: string | null;
  /** `auto`, `tools` or `json_schema`. */
  mode?: string | null;
  /** `all`, `few`, or `auto`. */
  tools?: string | null;
  /** Whether it is shown pictures. */
  sees?: boolean | null;
  /** US dollars for a million tokens read; empty leaves it to Hermit. */
  price_in?: string | null;
  /** US dollars for a million tokens written; empty leaves it to Hermit. */
  price_out?: string | null;
}

/** Asks a server which models it offers: one of this machine, or one elsewhere that a key was given for. */
export interface Test {
  /** Its base URL, such as `http://127.0.0.1:8080/v1`. */
  url: string;
  /** Protocol that it speaks: `openai`, which is meant when absent, `responses`, `anthropic`, `gemini` or `ollama`. */
  api?: string | null;
  /** Handle of the key to send along; the one that was given for this server when absent. */
  secret?: string | null;
}

/** What models have cost, by day and by model. */
export interface Costs {
  /** How many days, today among them: 7 when absent, 366 at most. */
  days?: number | null;
}

/** Sets what models may cost in a day. A call that would go beyond it is not made. */
export interface Ceiling {
  /** US dollars, such as `5.00`; no bound when absent. */
  dollars?: string | null;
}

/** How many reads of one answer of a model run at the same time. */
export type Reads = Record<string, never>;

/** Sets how many reads of one answer of a model run at the same time, from the next answer on. */
export interface SetReads {
  /** From 1 to 64; as many as without a setting when absent. */
  at_once?: number | null;
}

/** Models in the box: those whose weights are here, and those that can be had by name. */
export type InBox = Record<string, never>;

/** Begins to fetch the weights of a model in the box, or goes on where it stopped. */
export interface Get {
  /** Its name, of those that can be had. */
  name: string;
}

/** Stops a fetch; what has come stays, for when it goes on. */
export interface StopGet {
  /** The model's name. */
  name: string;
}

/** Takes away the weights of a model in the box, with what has come of them. */
export interface Remove {
  /** The model's name. */
  name: string;
}

/** Which embedding model is named, and how far its vectors are made. */
export type Embedded = Record<string, never>;

/** Names the embedding model by which memory is found by meaning: one at a server of this machine. */
export interface Embed {
  /** Such as `openai:http://127.0.0.1:8080/v1#minilm`; none when absent. */
  address?: string | null;
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
  /** Models that something is set for, and the standard. */
  set: Asked[];
  /** Addresses that were named in the newest tasks of a person or of a page and stand nowhere above, the newest first. */
  used?: string[];
}

/** A server of models. */
export interface Server {
  /** `Ollama` and others, as far as it can be told. */
  name: string;
  /** Its base URL. */
  url: string;
  models: Model[];
  /** Why it lists no model. */
  trouble: string | null;
}

/** A model of a server. */
export interface Model {
  /** Its name there. */
  id: string;
  /** What to name it by in a task. */
  address: string;
  /** How it is asked. */
  asked: Asked | null;
}

/** How a model is asked. */
export interface Asked {
  /** What it is named by in a task. */
  address: string;
  /** Tokens that prompt and answer may have together. */
  context: number;
  /** Tokens of one answer. */
  output: number;
  /** Where the sizes are known from, in words. */
  from: string;
  /** `own`, or a number. */
  temperature: string;
  mode: ToolMode;
  tools: ToolOffer;
  /** What it costs, where that is known. */
  price: Price | null;
  /** Parameters that its server refuses. */
  without: string[];
  /** Whether it is shown pictures. */
  sees: boolean;
}

/** What a model costs, in US dollars for a million tokens. */
export interface Price {
  input: string;
  output: string;
  /** Where it is known from, in words. */
  from: string;
}

/** A server that has a key. */
export interface Provider {
  /** Its base URL. */
  url: string;
  /** Handle of the key; its value is kept in the vault. */
  secret: string;
  /** Whether there is such a secret. */
  kept: boolean;
}

/** What models have cost. */
export interface CostsBy {
  /** Today, such as `2026-11-27`. */
  today: string;
  /** When today ends, in milliseconds since 1970. */
  ends_at: number;
  /** What models may cost in a day, in millionths of a US dollar; no bound when absent. */
  ceiling_micros: number | null;
  /** What was spent today, in millionths of a US dollar. */
  spent_micros: number;
  /** What is set aside for calls that are under way. */
  aside_micros: number;
  /** Each day, the newest first. */
  days: DayCosts[];
  /** All these days together, by model, the dearest first. */
  models: ModelCosts[];
}

/** What models have cost in one day. */
export interface DayCosts {
  /** Such as `2026-11-27`. */
  day: string;
  tokens: number;
  cost_micros: number;
  models: ModelCosts[];
}

/** What one model has used. */
export interface ModelCosts {
  /** The protocol that it speaks. */
  provider: string;
  model: string;
  tokens: number;
  cost_micros: number;
}

/** How many reads of one answer run at the same time. */
export interface ReadsAtOnce {
  at_once: number;
  /** Whether a person set it. */
  is_set: boolean;
  /** As many as run without a setting. */
  standard: number;
  /** As many as can be set. */
  most: number;
}

/** What models may cost in a day from now on, in millionths of a US dollar. */
export interface CeilingSet {
  ceiling_micros: number | null;
}

/** How memory is found by meaning. */
export interface Embeddings {
  /** The embedding model that is named; memory is found by words alone when absent. */
  model: string | null;
  /** Records of memory that are held. */
  memories: number;
  /** How many of them have a vector of this model. */
  with_vectors: number;
  /** Why the model could not be used when it was last asked; memory is found by words meanwhile. */
  trouble: string | null;
}

/** Models in the box, by name. */
export interface BoxModels {
  models: BoxModel[];
  /** Why none of them can be asked here, where that is so: the program that runs them is missing. */
  trouble: string | null;
}

/** A model in the box. */
export interface BoxModel {
  name: string;
  /** Its address, such as `box:qwen2.5-coder-1.5b`. */
  address: string;
  /** Bytes of its weights. */
  bytes: number;
  /** SHA-256 of them. */
  sha256: string;
  license: string | null;
  /** What it is good for. */
  about: string | null;
  state: BoxState;
  /** Bytes that are here. */
  bytes_here: number;
  /** Why the last fetch ended before its end, and what helps. */
  trouble: string | null;
}

/** Who proposes from now on. */
export interface Chosen {
  standard: string | null;
}
