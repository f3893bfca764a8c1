/** Behind each receipt the chain from goal to change, each link with the place in the bundle it is read from. */
import type { Json } from "../verify/read/canon.ts";
import { artifactPath } from "../verify/layout.ts";
import { append, h, hash, icon, short, shortId } from "./dom.ts";
import type { Opened, State } from "./state.ts";
import { changesOf, dig, filled, goalAt, items, num, say, type ChangeTold, type ReceiptTold, type Told } from "./story.ts";
import { bytes, clock, count, moment, POLICY, resourceName, RESULT, shown, spoken, SURFACES, UNDO, WALLS } from "./words.ts";

/** What the page can be asked to show. */
export interface Go {
  event(seq: number): void;
  artifact(id: string): void;
  receipt(id: string): void;
  bytes(file: string, offset: number): void;
}

interface Link {
  term: string;
  /** Whether a person decided here. */
  person?: boolean;
  body: (Node | string | undefined)[];
  cites?: (Node | undefined)[];
}

const WITHHELD = "withheld";

function said(text: string | undefined): Node[] {
  return text === undefined ? [h("span", { class: "tag s-mute" }, WITHHELD)] : shown(text);
}

function sentence(text: string | undefined): Node[] {
  return [h("p", { class: "sentence" }, ...said(text))];
}

function cite(label: string, title: string, act: () => void): HTMLElement {
  return h("button", { type: "button", class: "cite", title, click: act }, label);
}

function tag(result: string): HTMLElement {
  const found = RESULT[result] ?? { word: spoken(result), tone: "mute", sign: "ask" };
  return h("span", { class: `tag s-${found.tone}` }, icon(found.sign, 11), found.word);
}

const RISK_SIGNS: Record<string, string> = { low: "ring", moderate: "half", high: "ask", critical: "cross" };

function risk(band: string | undefined): Node | undefined {
  return band === undefined ? undefined : h("span", { class: `tag r-${band}` }, icon(RISK_SIGNS[band] ?? "ask", 11), `${band} risk`);
}

export function receiptsView(state: State, opened: Opened, go: Go): HTMLElement {
  const { receipts, events } = opened.story;
  if (receipts.length === 0) return empty("No receipt is in this bundle.", "A receipt stands for each important act. This task had none, or it was left out.");
  const chosen = receipts.find(({ id }) => id === state.receipt) ?? receipts[0];
  const list = h("ul", { class: "pick", "aria-label": "Receipts" });
  for (const receipt of receipts) {
    const result = say(receipt.statement, "predicate", "result_code") ?? "";
    const label = h(
      "button",
      { type: "button", class: "pick-row", "aria-current": receipt === chosen ? "true" : undefined, click: () => go.receipt(receipt.id) },
      h("span", { class: "pick-title" }, ...said(headline(receipt))),
      h("span", { class: "pick-meta" }, tag(result), receipt.issued ? clock(receipt.issued.at) : ""),
    );
    append(list, [h("li", {}, label)]);
  }
  const pane = chosen ? chain(chosen, events, opened, go) : h("div");
  return h("div", { class: "view split" }, h("div", { class: "split-list" }, h("h2", { class: "split-head" }, count(receipts.length, "receipt")), list), pane);
}

export function empty(title: string, line: string): HTMLElement {
  return h("div", { class: "view empty" }, h("h2", {}, title), h("p", {}, line));
}

/** What was done, in one line. */
function headline(receipt: ReceiptTold): string | undefined {
  const statement = receipt.statement;
  if (say(statement, "predicate", "receipt_class") === "approval_resolution") {
    const yes = say(statement, "predicate", "result_code") === "granted";
    return `${yes ? "Yes" : "No"} to: ${say(receipt.packet, "action_summary") ?? "an act"}`;
  }
  return say(receipt.policy, "action_summary") ?? say(receipt.packet, "action_summary") ?? say(statement, "predicate", "result_summary");
}

function chain(receipt: ReceiptTold, events: readonly Told[], opened: Opened, go: Go): HTMLElement {
  const result = say(receipt.statement, "predicate", "result_code") ?? "";
  const invalid = opened.checked.report.verdict === "invalid";
  const warning = invalid && h("p", { class: "untold" }, icon("cross", 14), "The check refused this bundle. What follows is what it says, and none of it is proven.");
  const links = linksOf(receipt, events, opened, go);
  const rows = links.map(({ term, body, cites, person }) =>
    h(
      "li",
      { class: person ? "link person" : "link" },
      h("h4", {}, term),
      h("div", { class: "link-body" }, ...body.filter((part) => part !== undefined), cites?.some(Boolean) ? h("p", { class: "cites" }, ...cites.filter((part) => part !== undefined)) : ""),
    ),
  );
  return h(
    "article",
    { class: "split-pane", "aria-label": "Receipt" },
    h("header", { class: "pane-head" }, h("h2", {}, ...said(headline(receipt))), tag(result), h("span", { class: "push" }), hash(receipt.id)),
    warning || "",
    h("ol", { class: "chain" }, ...rows),
  );
}

function linksOf(receipt: ReceiptTold, events: readonly Told[], opened: Opened, go: Go): Link[] {
  const body = dig(receipt.statement, "predicate");
  const approval = say(filled(body, "approval_ref"));
  const about = (type: string, name: string, value: string | undefined): Told | undefined => {
    return value === undefined ? undefined : events.find((event) => event.type === type && (say(event.payload, name) ?? say(event.payload, "approval", name)) === value);
  };
  const on = (event: Told | undefined, what = ""): Node | undefined => {
    return event && cite(`${what}${what === "" ? "" : ", "}event ${event.seq}`, event.name, () => go.event(event.seq));
  };
  const request = say(receipt.request, "action_request_id");
  const file = (ref: Json | undefined, label: string): Node | undefined => {
    const digest = say(ref);
    if (digest === undefined) return undefined;
    const path = artifactPath(digest);
    if (!opened.zip?.sizes.has(path)) return h("code", { class: "hash", title: digest }, `${label} ${short(digest)}`);
    return cite(`${label} ${short(digest)}`, digest, () => go.bytes(path, 0));
  };
  const ref = (name: string): Json | undefined => filled(body, "authorized", name);
  const goal = goalAt(events, receipt.issued?.seq ?? Number.MAX_SAFE_INTEGER);
  const isYes = say(body, "receipt_class") === "approval_resolution";
  const links: Link[] = [
    { term: "Goal", body: sentence(goal.goal ?? say(receipt.packet, "goal")), cites: [on(goal.event)] },
    { term: "Evidence", ...evidence(body, opened, go) },
    { term: "Proposed", ...proposal(receipt), cites: [on(about("action.requested", "action_request_id", request)), file(dig(filled(body, "action_request_ref"), "sha256"), "request")] },
    { term: "Policy", ...policy(receipt.policy), cites: [on(about("policy.evaluated", "action_request_id", request)), file(ref("policy_result_sha256"), "result")] },
    approvalLink(receipt, events, approval, { on, about, file, ref }),
  ];
  if (!isYes) {
    links.push(
      { term: "Looked again", ...witness(body, events, request), cites: [on(about("witness.validated", "action_request_id", request)), file(ref("witness_sha256"), "witness")] },
      { term: "Grant", ...grant(receipt.grant, body), cites: [on(about("grant.issued", "grant_id", say(filled(body, "capability_grant_ref")))), file(ref("capability_grant_sha256"), "grant")] },
      { term: "What ran", ...ran(body), cites: [on(about("effect.dispatched", "action_request_id", request)), file(dig(filled(body, "environment_ref"), "sha256"), "environment")] },
      { term: "What changed", body: [changed(receipt.statement)] },
      { term: "Observed", body: observed(body), cites: [on(about("effect.observed", "action_request_id", request))] },
      { term: "Can it be undone", ...undo(body, events, receipt.id, go) },
    );
  }
  links.push({ term: "Can others check", ...proof(receipt), cites: [on(receipt.issued), cite("its bytes", receipt.file, () => go.bytes(receipt.file, 0))] });
  return links;
}

function evidence(body: Json | undefined, opened: Opened, go: Go): Omit<Link, "term"> {
  const refs = items(body, "input_refs");
  if (refs.length === 0) return { body: ["Nothing was given as evidence."] };
  const cites = refs.map((one) => {
    const id = say(one, "artifact_id") ?? "";
    const kept = opened.story.artifacts.find((artifact) => artifact.id === id);
    return cite(kept ? spoken(kept.kind) : shortId(id), kept ? `${kept.trust}, ${kept.digest}` : id, () => go.artifact(id));
  });
  const trust = new Set(opened.story.artifacts.filter(({ id }) => refs.some((one) => say(one, "artifact_id") === id)).map((kept) => spoken(kept.trust)));
  return { body: [`${count(refs.length, "artifact")} before the model${trust.size > 0 ? `, ${[...trust].join(" and ")}` : ""}.`], cites };
}

function proposal(receipt: ReceiptTold): Omit<Link, "term"> {
  const { request } = receipt;
  if (request === undefined) return { body: [h("span", { class: "dim" }, "The request's content does not go along; its digest is signed.")] };
  const argv = items(request, "action", "argv").map((word) => say(word) ?? "?");
  const body: Node[] = [h("p", {}, ...said(say(request, "reason")))];
  if (argv.length > 0) body.push(h("code", { class: "command" }, ...shown(argv.join(" "))));
  body.push(h("p", { class: "dim" }, `Tool ${say(request, "action", "tool") ?? "?"}, class ${spoken(say(request, "action_class") ?? "?")}, ${count(items(request, "target_resources").length, "resource")} touched.`));
  return { body };
}

function policy(result: Json | undefined): Omit<Link, "term"> {
  if (result === undefined) return { body: [h("span", { class: "dim" }, "The result's content does not go along; its digest is signed.")] };
  const rules = items(result, "determining_rules").map((rule) => h("code", {}, say(rule) ?? "?"));
  return {
    body: [
      h("p", { class: "inline" }, h("strong", {}, POLICY[say(result, "verdict") ?? ""] ?? "?"), risk(say(result, "risk_band"))),
      h("p", {}, ...said(say(result, "reasoning_summary"))),
      h("p", { class: "dim" }, `Profile ${say(result, "policy_profile") ?? "?"}, rule `, ...rules),
    ],
  };
}

interface Finders {
  on(event: Told | undefined, what?: string): Node | undefined;
  about(type: string, name: string, value: string | undefined): Told | undefined;
  file(ref: Json | undefined, label: string): Node | undefined;
  ref(name: string): Json | undefined;
}

function approvalLink(receipt: ReceiptTold, events: readonly Told[], approval: string | undefined, find: Finders): Link {
  const term = "Approval";
  if (approval === undefined) return { term, body: ["Nobody was asked: the path taken did not need it."] };
  const asked = find.about("approval.requested", "approval_id", approval);
  const answered = events.find((event) => (event.type === "approval.granted" || event.type === "approval.denied") && say(event.payload, "approval_id") === approval);
  const yes = answered?.type === "approval.granted";
  const where = SURFACES[say(answered?.payload, "surface") ?? ""] ?? "";
  const scope = say(receipt.decision, "choice") === "standing" ? "and similar actions, within limits" : "once";
  const lines: Node[] = [];
  if (answered) {
    lines.push(h("p", {}, h("strong", {}, yes ? `A person approved it, ${scope},` : "A person denied it"), ` ${where}, `, moment(answered.at), "."));
    const signer = say(answered.payload, "passkey", "sha256") === undefined ? "the approval key" : "a passkey that the approval key lets say yes";
    lines.push(h("p", { class: "dim" }, `Signed with ${signer}, for exactly the packet that was shown, and no other.`));
    const before = say(answered.payload, "first", "sha256");
    const first = before === undefined ? undefined : events.find((event) => event.type === "approval.signed" && say(event.payload, "envelope", "sha256") === before);
    if (first) lines.push(h("p", { class: "dim" }, `Two different keys had to say yes. The other said so before, ${SURFACES[say(first.payload, "surface") ?? ""] ?? ""}, `, moment(first.at), "."));
  } else lines.push(h("p", {}, "A person was asked. The answer is not in this bundle."));
  const feedback = say(receipt.decision, "feedback");
  if (feedback !== undefined) lines.push(h("blockquote", {}, ...shown(feedback)));
  return {
    term,
    person: true,
    body: lines,
    cites: [find.on(asked, "asked"), find.on(answered, "answered"), find.file(find.ref("approval_packet_sha256"), "packet"), find.file(find.ref("approval_decision_sha256"), "decision")],
  };
}

function witness(body: Json | undefined, events: readonly Told[], request: string | undefined): Omit<Link, "term"> {
  if (filled(body, "authorized", "witness_sha256") === undefined) return { body: ["No precondition had to be observed."] };
  const again = events.some((event) => event.type === "witness.validated" && say(event.payload, "action_request_id") === request);
  return { body: [again ? "What it was about was observed again before it ran, and was as it had been." : "What it was about was observed before it ran."] };
}

function grant(record: Json | undefined, body: Json | undefined): Omit<Link, "term"> {
  if (record === undefined) return { body: [filled(body, "capability_grant_ref") === undefined ? "No grant was needed." : h("span", { class: "dim" }, "The grant's content does not go along; its digest is signed.")] };
  const uses = num(record, "max_uses") ?? 0;
  return { body: [h("p", {}, `For this request alone, ${uses === 1 ? "once" : `${uses} times`}, until `, moment(num(record, "expires_at") ?? 0), `. ${count(items(record, "resource_scope").length, "resource")}, ${items(record, "network_scope").length === 0 ? "no network" : "network"}, ${items(record, "secret_scope").length === 0 ? "no secret" : "secrets"}.`)] };
}

function ran(body: Json | undefined): Omit<Link, "term"> {
  const did = filled(body, "ran");
  if (did === undefined) return { body: ["Nothing ran."] };
  const [from, to] = [num(did, "started_at") ?? 0, num(did, "finished_at") ?? 0];
  const argv = items(did, "argv").map((word) => say(word) ?? "?");
  const exit = num(did, "exit_code");
  const sandbox = WALLS[say(body, "sandbox_level") ?? ""] ?? "?";
  return {
    body: [
      argv.length > 0 ? h("code", { class: "command" }, ...shown(argv.join(" "))) : undefined,
      h("p", {}, h("code", {}, say(did, "executor") ?? "?"), ", ", moment(from), `, ${count(Math.max(0, to - from), "millisecond")}${exit === undefined ? "" : `, exit code ${exit}`}.`),
      h("p", { class: "dim" }, `Sandbox: ${sandbox}.`),
    ],
  };
}

const SIGNS: Record<ChangeTold["what"], string> = { deleted: "−", "folder taken away": "−", replaced: "±", moved: "→", created: "+", "folder made": "+", other: "·" };

function changed(statement: Json): HTMLElement {
  const changes = changesOf(statement);
  if (changes.length === 0) return h("p", {}, "Nothing changed.");
  const rows = changes.slice(0, 200).map((change) => {
    const path = change.path === undefined ? said(undefined) : shown(resourceName(change.path));
    const to = change.to === undefined ? [] : [h("span", { class: "arrow" }, " → "), ...shown(resourceName(change.to))];
    const size = num(change.after, "byte_size") ?? num(change.before, "byte_size");
    const digest = say(change.after, "sha256") ?? say(change.before, "sha256");
    const lost = change.what === "deleted" || change.what === "folder taken away";
    return h(
      "tr",
      { class: lost ? "lost" : "" },
      h("td", { class: "sign", "aria-hidden": "true" }, SIGNS[change.what]),
      h("td", {}, h("span", { class: "dim" }, `${change.what} `), h("span", { class: "path" }, ...path, ...to), change.outcome === "done" ? "" : h("span", { class: "tag s-unknown" }, spoken(change.outcome))),
      h("td", { class: "size" }, size === undefined ? "" : bytes(size)),
      h("td", {}, digest === undefined ? "" : hash(digest)),
    );
  });
  const more = changes.length - rows.length;
  return h("div", {}, h("table", { class: "changes" }, h("tbody", {}, ...rows)), more > 0 ? h("p", { class: "dim" }, `and ${more} more`) : "");
}

function observed(body: Json | undefined): Node[] {
  const lines = items(body, "observed").map((line) => h("p", {}, ...said(say(line))));
  const summary = h("p", {}, ...said(say(body, "result_summary")));
  return [summary, ...lines];
}

function undo(body: Json | undefined, events: readonly Told[], id: string, go: Go): Omit<Link, "term"> {
  const how = UNDO[say(body, "rollback", "reversibility") ?? ""] ?? "?";
  const undone = events.find((event) => event.type === "receipt.issued" && say(event.payload, "rolls_back") === id);
  const undoes = say(body, "rollback", "rolls_back");
  const needs = items(body, "rollback", "prerequisites").map((line) => h("li", {}, ...said(say(line))));
  return {
    body: [
      h("p", {}, how, undoes === undefined ? "" : " This act is itself an undo."),
      needs.length > 0 ? h("ul", { class: "needs" }, ...needs) : undefined,
    ],
    cites: [undone && cite(`undone in event ${undone.seq}`, undone.name, () => go.event(undone.seq))],
  };
}

function proof(receipt: ReceiptTold): Omit<Link, "term"> {
  const signer = say(filled(receipt.statement, "predicate", "signer_ref"));
  return {
    body: [
      h("p", {}, signer === undefined ? "Nobody signed it; its place in the chain is all it has." : "Signed, and its very bytes are recorded in the log."),
      h("p", { class: "dim" }, `Replay: ${spoken(say(receipt.statement, "predicate", "replay_class") ?? "?")}.`),
    ],
    ...(signer !== undefined && { cites: [hash(signer)] }),
  };
}
