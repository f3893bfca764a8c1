/**
 * What a bundle tells: its task, its events, its artifacts, and behind each receipt the chain from goal to change.
 *
 * It is read for show only. Whether any of it is proven is the verifier's word, so a bundle that is refused is told
 * as far as it can be read.
 */
import { isObject, parseCanonical, type Json } from "../verify/read/canon.ts";
import { linesOf, type Container } from "../verify/container.ts";
import { base64Decode, textOf } from "../verify/read/bytes.ts";
import { parseDisclosure, reveal } from "../verify/disclose.ts";
import { REGISTRY, type EventType } from "../verify/generated/nouns.ts";
import * as l from "../verify/layout.ts";
import { answersOf, type AnswerTold } from "./answers.ts";

/** One event, sensitive values put back where their disclosures are here. */
export interface Told {
  seq: number;
  /** Its registered type; nothing for one of a newer Hermit, which `name` tells. */
  type: EventType | undefined;
  name: string;
  at: number;
  actor: string;
  payload: Json;
  whole: Json;
  /** Where its bytes are. */
  file: string;
  line?: number;
}

/** One artifact that the events name. */
export interface Kept {
  id: string;
  digest: string;
  kind: string;
  size: number;
  media: string;
  trust: string;
  at: number;
  alias?: string;
  /** The event that made it. */
  seq: number;
  /** Whether its content goes along. */
  here: boolean;
}

/** A receipt and what it rests on. */
export interface ReceiptTold {
  id: string;
  file: string;
  statement: Json;
  /** The event that recorded it. */
  issued?: Told;
  request?: Json;
  policy?: Json;
  packet?: Json;
  decision?: Json;
  grant?: Json;
  environment?: Json;
}

export interface Story {
  events: Told[];
  artifacts: Kept[];
  receipts: ReceiptTold[];
  /** What a model said at the end, where it was compared with the log. */
  answers: AnswerTold[];
  statement: Json;
}

/** A member deep inside; `undefined` where there is none. */
export function dig(value: Json | undefined, ...path: string[]): Json | undefined {
  let found = value;
  for (const name of path) found = isObject(found) ? found[name] : undefined;
  return found;
}

/** A text deep inside. A sensitive leaf is told as its text, or as nothing where it is withheld. */
export function say(value: Json | undefined, ...path: string[]): string | undefined {
  const found = dig(value, ...path);
  if (typeof found === "string") return found;
  return typeof found === "number" || typeof found === "boolean" ? String(found) : undefined;
}

export function num(value: Json | undefined, ...path: string[]): number | undefined {
  const found = dig(value, ...path);
  return typeof found === "number" ? found : undefined;
}

export function items(value: Json | undefined, ...path: string[]): Json[] {
  const found = dig(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The value of a slot, `{"value": …}`. */
export function filled(value: Json | undefined, ...path: string[]): Json | undefined {
  return dig(value, ...path, "value");
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Reads a bundle for show; what cannot be read is left out. */
export function tell(container: Container): Story {
  const bytesOf = (name: string): Uint8Array | undefined => (container.sizes.has(name) ? attempt(() => container.open(name).bytes) : undefined);
  const opened = disclosures(container, bytesOf);
  const shown = (value: Json): Json => reveal(value, (digest) => opened.get(digest));
  const events = eventsOf(container, bytesOf, shown);
  const content = (digest: Json | undefined): Json | undefined => {
    const bytes = typeof digest === "string" ? bytesOf(l.artifactPath(digest)) : undefined;
    return bytes && attempt(() => parseCanonical(bytes));
  };
  const receipts: ReceiptTold[] = [];
  for (const name of container.sizes.keys()) {
    const named = l.parseName(name);
    const bytes = named?.kind === "receipt" || named?.kind === "bare receipt" ? bytesOf(name) : undefined;
    const value = bytes && attempt(() => parseCanonical(bytes));
    if (value === undefined || (named?.kind !== "receipt" && named?.kind !== "bare receipt")) continue;
    const statement = shown(named.kind === "receipt" ? (payload(value) ?? null) : value);
    receipts.push(receiptOf(named.id, name, statement, events, content));
  }
  receipts.sort((left, right) => (left.issued?.seq ?? 0) - (right.issued?.seq ?? 0));
  const bare = bytesOf(l.STATEMENT_BARE);
  const signed = bytesOf(l.STATEMENT);
  const statement = (signed ? attempt(() => payload(parseCanonical(signed))) : bare && attempt(() => parseCanonical(bare))) ?? null;
  const answers = answersOf(events, content, (digest) => bytesOf(l.artifactPath(digest)));
  return { events, receipts, answers, artifacts: artifactsOf(events, container), statement };
}

function payload(envelope: Json): Json | undefined {
  const text = say(envelope, "payload");
  return text === undefined ? undefined : attempt(() => parseCanonical(base64Decode("envelope", text)));
}

function disclosures(container: Container, bytesOf: (name: string) => Uint8Array | undefined): Map<string, Json> {
  const opened = new Map<string, Json>();
  // One receipt alone has them in one file, a line each.
  if (container.sizes.has(l.DISCLOSED)) {
    attempt(() => {
      for (const [, line] of linesOf(container, l.DISCLOSED)) {
        const { digest, value } = parseDisclosure(line);
        opened.set(digest, value);
      }
    });
  }
  for (const name of container.sizes.keys()) {
    if (!name.startsWith("disclosures/")) continue;
    const bytes = bytesOf(name);
    const found = bytes && attempt(() => parseDisclosure(bytes));
    if (found) opened.set(found.digest, found.value);
  }
  return opened;
}

function eventsOf(container: Container, bytesOf: (name: string) => Uint8Array | undefined, shown: (value: Json) => Json): Told[] {
  const events: Told[] = [];
  const take = (bytes: Uint8Array, file: string, line?: number): void => {
    const whole = attempt(() => shown(parseCanonical(bytes)));
    if (whole === undefined) return;
    events.push({
      seq: num(whole, "task_seq") ?? 0,
      type: REGISTRY.find((name) => name === say(whole, "event_type")),
      name: say(whole, "event_type") ?? "",
      at: num(whole, "occurred_at") ?? 0,
      actor: say(whole, "actor_type") ?? "",
      payload: dig(whole, "payload") ?? null,
      whole,
      file,
      ...(line !== undefined && { line }),
    });
  };
  if (container.sizes.has(l.TASK_EVENTS)) {
    attempt(() => {
      for (const [number, line] of linesOf(container, l.TASK_EVENTS)) take(line, l.TASK_EVENTS, number);
    });
  }
  for (const name of container.sizes.keys()) {
    const bytes = l.parseName(name)?.kind === "event" ? bytesOf(name) : undefined;
    if (bytes) take(bytes, name);
  }
  return events.sort((left, right) => left.seq - right.seq);
}

function artifactsOf(events: readonly Told[], container: Container): Kept[] {
  return events.filter(({ type }) => type === "artifact.created").map(({ payload: body, seq, at }) => {
    const artifact = dig(body, "artifact");
    const digest = say(artifact, "content_hash") ?? "";
    const alias = say(artifact, "task_local_alias");
    return {
      id: say(artifact, "artifact_id") ?? "",
      digest,
      kind: say(artifact, "kind") ?? "",
      size: num(artifact, "byte_size") ?? 0,
      media: say(artifact, "media_type") ?? "",
      trust: say(artifact, "trust_tier") ?? "",
      at,
      seq,
      here: container.sizes.has(l.artifactPath(digest)),
      ...(alias !== undefined && { alias }),
    };
  });
}

function receiptOf(id: string, file: string, statement: Json, events: readonly Told[], content: (digest: Json | undefined) => Json | undefined): ReceiptTold {
  const receipt = dig(statement, "predicate");
  const authorized = (name: string): Json | undefined => content(filled(receipt, "authorized", name));
  const told: ReceiptTold = { id, file, statement };
  const issued = events.find((event) => event.type === "receipt.issued" && say(event.payload, "receipt_id") === id);
  if (issued) told.issued = issued;
  const parts: [keyof ReceiptTold, Json | undefined][] = [
    ["request", content(dig(filled(receipt, "action_request_ref"), "sha256"))],
    ["policy", authorized("policy_result_sha256")],
    ["packet", authorized("approval_packet_sha256")],
    ["decision", payload(authorized("approval_decision_sha256") ?? null)],
    ["grant", authorized("capability_grant_sha256")],
    ["environment", content(dig(filled(receipt, "environment_ref"), "sha256"))],
  ];
  for (const [name, value] of parts) if (value !== undefined) Object.assign(told, { [name]: value });
  // Where the content of the request does not go along, the packet that was shown holds it whole.
  told.request ??= dig(told.packet, "action_request");
  return told;
}

/** The content of an artifact as text, when it is text. */
export function asText(bytes: Uint8Array): string | undefined {
  const text = attempt(() => textOf(bytes, "text"));
  // eslint-disable-next-line no-control-regex -- bytes that no text holds
  return text === undefined || /[\u0000-\u0008\u000e-\u001a]/.test(text) ? undefined : text;
}

/** One change of a receipt, or two that are one move. */
export interface ChangeTold {
  what: "deleted" | "replaced" | "moved" | "created" | "folder made" | "folder taken away" | "other";
  path?: string;
  to?: string;
  before?: Json;
  after?: Json;
  outcome: string;
}

/** Changes in the order in which they are to be read: what is lost comes first. */
export function changesOf(statement: Json): ChangeTold[] {
  const all = items(statement, "predicate", "changes").map(changeOf);
  const told: ChangeTold[] = [];
  const gone = all.filter((change) => change.what === "deleted");
  const moved = new Set<ChangeTold>();
  for (const change of all) {
    if (change.what !== "created") continue;
    const digest = say(change.after, "sha256");
    const from = gone.find((other) => !moved.has(other) && digest !== undefined && say(other.before, "sha256") === digest && other.outcome === change.outcome);
    if (!from) continue;
    moved.add(from).add(change);
    told.push({ ...change, what: "moved", ...(from.path !== undefined && { path: from.path }), ...(change.path !== undefined && { to: change.path }) });
  }
  const order: ChangeTold["what"][] = ["deleted", "folder taken away", "replaced", "moved", "created", "folder made", "other"];
  return [...all.filter((change) => !moved.has(change)), ...told].sort((left, right) => order.indexOf(left.what) - order.indexOf(right.what));
}

function changeOf(change: Json): ChangeTold {
  const [before, after] = [dig(change, "before"), dig(change, "after")];
  const [was, is] = [say(before, "found"), say(after, "found")];
  const path = say(change, "resource");
  let what: ChangeTold["what"] = "other";
  if (was === "file" && is === "absent") what = "deleted";
  else if (was === "absent" && is === "file") what = "created";
  else if (was === "file" && is === "file") what = "replaced";
  else if (was === "absent" && is === "folder") what = "folder made";
  else if (was === "folder" && is === "absent") what = "folder taken away";
  const told: ChangeTold = { what, outcome: say(change, "outcome") ?? "unknown" };
  if (path !== undefined) told.path = path;
  if (before !== undefined) told.before = before;
  if (after !== undefined) told.after = after;
  return told;
}

/** An event in a few words. */
export function gist({ type, payload: body }: Told): string {
  const from = say(body, "from");
  if (from !== undefined) return `${from} → ${say(body, "to") ?? "?"}${say(body, "reason") ? `: ${say(body, "reason")}` : ""}`;
  if (type === "attempt.terminated") return `unverified, a model's own words: ${say(body, "summary") ?? "withheld"}`;
  const artifact = dig(body, "artifact");
  if (type === "artifact.created") return `${say(artifact, "kind") ?? "artifact"}, ${say(artifact, "byte_size") ?? "?"} bytes`;
  if (type === "policy.evaluated") return `${say(body, "verdict") ?? "?"}, ${say(body, "risk_band") ?? "?"} risk`;
  if (type === "effect.dispatched") return `to ${say(body, "executor") ?? "?"}`;
  if (type === "approval.granted" || type === "approval.signed") return `${say(body, "scope", "shape") ?? ""}, at ${say(body, "surface") ?? "?"}`;
  if (type === "attempt.context_compiled") return `${say(body, "items") ?? "?"} items, ${say(body, "tokens") ?? "?"} tokens`;
  if (type === "attempt.model_requested") return `${say(body, "provider") ?? "?"}: ${say(body, "model") ?? "?"}`;
  const direct = [["summary"], ["task", "goal"], ["goal"], ["decision", "summary"], ["record", "model_decision"], ["result_code"], ["reason"], ["text"]];
  for (const path of direct) {
    const found = say(body, ...path);
    if (found !== undefined) return found;
  }
  return "";
}

/** The goal that held when an event was recorded. */
export function goalAt(events: readonly Told[], seq: number): { goal?: string; event?: Told } {
  const goals = events.filter((event) => event.seq <= seq && (event.type === "task.created" || event.type === "task.goal_changed"));
  const event = goals.at(-1);
  if (!event) return {};
  const goal = say(event.payload, "goal") ?? say(event.payload, "task", "goal");
  return goal === undefined ? { event } : { goal, event };
}

