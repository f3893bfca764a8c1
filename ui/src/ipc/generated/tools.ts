// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";
import type { ActionClass, ActionState, LoginState, ResultCode, ToolServerState } from "./words";

export type { Submitted } from "./task";

/** A server: how it is started. It is started once, behind walls, to hear what it offers. */
export interface Add {
  /** Its name: a-z, 0-9 and `-`. */
  server: string;
  /** Program and arguments; with `again`, none is as it was registered. */
  argv?: string[];
  /** Where it is reached instead (Streamable HTTP); it is then neither started nor has other hosts. */
  url?: string | null;
  /** Hosts it may reach, as `name:port`. */
  hosts?: string[];
  /** Environment variables that hold a secret, by its handle; of one that is reached, headers. */
  secrets?: Record<string, string>;
  /** Environment variables that hold no secret; what may be one is refused. */
  variables?: Record<string, string>;
  /** Folders beside the system's that its program needs to read. */
  reads?: string[];
  /** What some of its tools may do, each a class by the tool's name: a person is asked about it with the server. */
  classes?: Record<string, string>;
  /** Look at a registered server anew. */
  again?: boolean;
  /** The folder it is started in. */
  workspace: string;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** How much a server may ask of a model. */
export interface Sampling {
  server: string;
  /** Nothing any more. */
  off?: boolean;
  /** Questions during one call of a tool; 4 when absent. */
  calls?: number | null;
  /** Tokens of one question and its answer together; 4000 when absent. */
  tokens?: number | null;
  /** Tokens of all of them in one task; 20000 when absent. */
  task_tokens?: number | null;
  /** The folder of the task that asks. */
  workspace: string;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** Whether the classified tools of a server are passed on to agents of other programs. */
export interface PassOn {
  server: string;
  /** The folder of the task that asks. */
  workspace: string;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** The tools of a server are passed on no longer. */
export interface PassOff {
  server: string;
}

/** A log-in at a server that is reached by an address. */
export interface Login {
  server: string;
  /** Its address, where it is not registered yet. */
  url?: string | null;
  /** Scopes in the place of those that the server names; beside those that were allowed before. */
  scopes?: string[];
  /** The client that the person has made where tokens are given. */
  client_id?: string | null;
  /** The handle of its secret. */
  client_secret?: string | null;
  /** The folder of the task that asks. */
  workspace: string;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** A log-in that a person has allowed within the last minutes. */
export interface LoginBegin {
  server: string;
}

/** A log-in that waits for a person. */
export interface LoginCancel {
  server: string;
}

/** A log-in, as the process that holds the store knows it. */
export interface LoginStands {
  server: string;
}

/** A log-in whose tokens are forgotten. */
export interface Logout {
  server: string;
}

/** All log-ins. */
export type LoginList = Record<string, never>;

/** What a tool may do. */
export interface Classify {
  server: string;
  tool: string;
  class: string;
  /** JSON pointers to arguments that are places in the folder. */
  paths?: string[];
  /** JSON pointers to arguments that are hosts. */
  hosts?: string[];
  /** JSON pointers to arguments that are amounts: a card shows them apart. */
  amounts?: string[];
  /** Only in this folder; else everywhere. */
  here?: boolean;
  /** Arguments of a call, each one JSON object as text, that is to be judged so. They are tried. */
  matches?: string[];
  /** Arguments of a call that is to be refused. They are tried. */
  no_matches?: string[];
  /** Whether a call may be made again when nobody saw how it ended. */
  repeatable?: boolean;
  /** Whether its answers are trusted. */
  trusted?: boolean;
  /** How many seconds a call may take; 120 when absent. */
  time_limit_s?: number | null;
  /** The folder of the task that asks. */
  workspace: string;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** One call of a tool. */
export interface Call {
  server: string;
  tool: string;
  /** One JSON object, as text. */
  arguments: string;
  /** The folder of the task. */
  workspace: string;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** A prompt, whose text is got. */
export interface Prompt {
  server: string;
  prompt: string;
  arguments?: Record<string, string>;
  /** The folder of the task. */
  workspace: string;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** All of them. */
export type List = Record<string, never>;

/** One server by its name. */
export interface Show {
  server: string;
}

/** One server by its name. */
export interface Disable {
  server: string;
  /** What was said of this tool, and nothing else. */
  tool?: string | null;
  reason?: string | null;
}

/** One server by its name. */
export interface Remove {
  server: string;
}

/** All log-ins. */
export interface Logins {
  logins: LoginAt[];
}

/** The log-in at one server. */
export interface LoginAt {
  server: string;
  url: string;
  /** Who gives the tokens. */
  issuer: string;
  /** Where one says yes, `name:port`. */
  host: string;
  /** What the token allows, or is to allow. */
  scopes: string[];
  state: LoginState;
  /** Why it is not logged in, in words. */
  why: string | null;
  /** Where the person says yes in a browser, while they are waited for. */
  address: string | null;
  /** Until when they are. */
  until: number | null;
  /** Since when they are logged in. */
  since: number | null;
  /** When the first token ended; it is renewed. */
  expires_at: number | null;
  /** What to type next, where the calls of the server are not signed with the log-in yet. */
  next?: string | null;
}

/** A log-in that is over. */
export interface LoggedOut {
  server: string;
  /** Why whoever gave the token did not take it back, in words. */
  not_revoked: string | null;
}

/** All of them. */
export interface Servers {
  servers: Server[];
}

/** One server. */
export interface Server {
  server: string;
  state: ToolServerState;
  /** Why it is not ready, in words. */
  why: string | null;
  /** Program and arguments; none where it is reached by an address. */
  argv: string[];
  /** Where it is reached. */
  url: string | null;
  hosts: string[];
  /** When it was registered last. */
  since: number;
  /** The pin of all that it says of its tools. */
  manifest_sha256: string;
  tools: Tool[];
}

/** One tool. */
export interface Tool {
  name: string;
  /** The name by which a model calls it. */
  offered_as: string;
  /** What a person said that it is; none while nobody has. */
  class: ActionClass | null;
  /** Whether that was switched off: it counts as said by nobody. */
  off: boolean;
  /** The only folder in which it holds; everywhere where none is named. */
  only_in: string | null;
  /** Which of its arguments are places, hosts and amounts, as JSON pointers. */
  paths: string[];
  hosts: string[];
  amounts: string[];
  /** Calls that were tried when it was said. */
  examples: TermsExample[];
  repeatable: boolean;
  trusted: boolean;
  /** How many seconds a call may take, where a person said so. */
  time_limit_s: number | null;
  /** Whether the server says something else of it than when it was registered. */
  changed: boolean;
}

/** One server with every word that it says. */
export interface Shown {
  server: Server;
  /** Files that its words name, with the digest each had. */
  pins: Pin[];
  /** The package that is started, with its version or that none is pinned, in words. */
  package: string | null;
  secrets: Record<string, string>;
  /** Environment variables that hold no secret. */
  variables: Record<string, string>;
  reads: string[];
  words: Words[];
  /** Resources, and templates of their addresses. */
  resources: ResourceWords[];
  prompts: PromptWords[];
  /** What it offers beside these and why that is left out, in words. */
  left_out: string[];
  /** How much it may ask of a model, in words; nothing is nothing at all. */
  sampling: string | null;
  /** Whether its classified tools are passed on to agents of other programs. */
  passed_on: boolean;
  /** Its latest calls, the newest first. */
  calls: LastCall[];
}

/** Arguments of a call, and whether it is judged so or refused. */
export interface TermsExample {
  arguments: string;
  matches: boolean;
}

/** One call of a server. */
export interface LastCall {
  /** The act in one line, or that it was erased. */
  summary: Text;
  /** When it was asked for. */
  at: number;
  task_id: string;
  state: ActionState;
  /** How it ended, where it did. */
  result: ResultCode | null;
  /** Why it came to nothing, where it did, with the last that the server wrote on its error output where it ended. */
  why?: string | null;
  receipt_id: string | null;
}

/** What a server says of one resource. */
export interface ResourceWords {
  /** Its address, or the template of addresses. */
  uri: string;
  is_template: boolean;
  name: string;
  title: string | null;
  description: string | null;
  media_type: string | null;
  /** Whether the server says something else of it than when it was registered. */
  changed: boolean;
}

/** What a server says of one prompt. */
export interface PromptWords {
  name: string;
  title: string | null;
  description: string | null;
  arguments: PromptArgumentWords[];
  /** Whether the server says something else of it than when it was registered. */
  changed: boolean;
}

/** What a prompt takes. */
export interface PromptArgumentWords {
  name: string;
  description: string | null;
  required: boolean;
}

/** A file with the digest it had. */
export interface Pin {
  name: string;
  path: string;
  sha256: string;
}

/** What a server says of one tool. */
export interface Words {
  name: string;
  title: string | null;
  description: string | null;
  /** JSON Schema of its arguments, as text. */
  input_schema: string;
  /** JSON Schema of its structured result, as text. */
  output_schema: string | null;
  /** What it says of itself, such as `read-only`: a hint, which decides nothing. */
  says_of_itself: string[];
  /** The class that these hints propose. */
  proposes: ActionClass | null;
  sha256: string;
}
