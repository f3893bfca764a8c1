// From events to what a person reads: a timeline of steps and phases, and a conversation. Pure, so that the slider can
// tell the story as it was at any event.
import { BY_A_NO, capital, count, originName, plain, result, tokens, verdict } from "~/screen/words";
import { cameOf } from "~/screen/tense";
import { EVENT_NAME, type EventName } from "~/ipc/generated/events";
import type { Event } from "~/ipc/generated/task_events";
import { ACTION_CLASS, ORIGIN, type Origin, POLICY_VERDICT, PROPOSER, RECEIPT_CLASS, RESULT_CODE, TASK_STATUS, TERMINATION_REASON, TRIAL_OUTCOME, TRUST_TIER } from "~/ipc/generated/words";
import { oneOf } from "~/ipc/words";
import type { MarkName } from "~/primitives/Icon";
import type { Tone } from "~/primitives/Tag";
import type { See } from "~/screen/see";
import { list, number, record, word } from "./events";
import { WAITS, asked } from "./asking";
import { type Given, type Message, givenBy } from "./message";
import { lastWords, origin, plainPaths } from "./spoken";
import { Denials } from "./denials";
import { NEW_DAY, reasonOf } from "./paused";
import { running, stepLook } from "./progress";
import { type Part, ended, foundOf, given, raised, started, waiting } from "./parts";

export interface Row {
  key: string;
  seq: number;
  at: number;
  level: "step" | "attempt" | "phase";
  text: string;
  tone: Tone;
  mark: MarkName | null;
  /** Where a person decided the track has a bite with a dot; where one must, a hollow one. */
  person: "decided" | "asked" | null;
  see: See;
  cite: string | null;
}

export interface Story {
  rows: Row[];
  parts: Part[];
  /** What is under way at its last event, in words; empty where nothing is. */
  doing: string;
  /** Since when that is under way. */
  since: number | null;
  messages: Message[];
  receipts: { id: string; seq: number; result: string }[];
}

export function shortReceipt(id: string): string {
  return `R-${id.slice(-4)}`;
}

/** What a turn is called that said nothing. */
const TOOL = /^[a-z_]{2,24}$/;

/** Events whose names begin so: `Of<"task">` is every `task.…`. */
type Of<Noun extends string> = Extract<EventName, `${Noun}.${string}`>;
function isOf<const Noun extends string>(nouns: readonly Noun[], name: EventName): name is Of<Noun> {
  return nouns.some((noun) => name.startsWith(`${noun}.`));
}

const ANSWERED: Readonly<Record<Exclude<Of<"approval">, "approval.requested" | "approval.signed">, string>> = {
  "approval.granted": "You approved it once", "approval.denied": "You denied it", "approval.expired": "The question expired",
  "approval.cancelled": "The question ended with its task", "approval.invalidated": "The question is no longer valid",
};

class Teller {
  rows: Row[] = [];
  parts: Part[] = [];
  doing = "";
  messages: Message[] = [];
  receipts: Story["receipts"] = [];
  /** The row of each act that is under way, which tells how long. */
  #lasting = new Map<string, Row>();
  #actions = new Map<string, { row: Row; reads: boolean; summary: string }>();
  chosen: ReadonlySet<string> = new Set(); // Acts of a part that a person chose, all of it done: events do not tell.
  #approvals = new Map<string, { row: Row; action: string }>();
  #denials = new Denials();
  #steps = new Map<string, Row>();
  #attempt = 0;
  /** When the model answered in the turn at hand, and how many messages stood before its words. */
  #answered: { at: number; before: number } | null = null;
  /** The key of the agent's words of the turn before, where it had any; and whether nothing was looked at since. */
  #spoke: string | null = null;
  #hasSpoken = false;
  /** The turn that is prepared and not begun, with how much of the context it takes. */
  #turn: { row: Row; size: string } | null = null;
  /** Whether something that it proposed was refused, and whether anything but reading was carried out. */
  #wasRefused = false;
  #didAct = false;
  /** Receipts of acts in this attempt. */
  #proven: string[] = [];
  /** The key of the message whose words were the first goal, where they are still there. */
  #begun = "";
  /** What was given to the task and no message has come with yet. */
  #given: Given[] = [];

  #add(event: Event, level: Row["level"], text: string, see: See, more: Partial<Row> = {}): Row {
    const row: Row = {
      key: `${event.seq}:${this.rows.length}`, seq: event.seq, at: event.at, level, text,
      tone: "mute", mark: null, person: null, see, cite: null, ...more,
    };
    this.rows.push(row);
    return row;
  }

  #say(event: Event, who: Message["who"], text: string, more: Partial<Message> = {}) {
    if (text === "") return;
    this.messages.push({
      key: `${event.seq}`, seq: event.seq, at: event.at, who, from: "", text, receipts: [], final: false, approval: null, action: null, tone: "mute", many: 1, given: [], goal: null, ...more,
    });
  }

  /** The agent's words of a turn that is over: they were said before what was done by them. */
  #says(event: Event, text: string) {
    const answered = this.#answered;
    this.#answered = null;
    this.#spoke = text === "" ? null : `${event.seq}`;
    this.#hasSpoken = text !== "";
    if (answered === null) return this.#say(event, "agent", text);
    const after = this.messages.splice(answered.before);
    this.#say({ ...event, at: answered.at }, "agent", text);
    this.messages.push(...after);
  }

  /** Words that came in: the person's own, or another's, who is named. */
  #said(event: Event, text: unknown, from: Origin) {
    if (from === "person") this.#say(event, "you", word(text));
    else this.#say(event, "other", word(text), { from: originName(from) });
  }

  /** What was given since comes with the message told last. */
  #withIt() {
    const last = this.messages.at(-1);
    if (last !== undefined && this.#given.length > 0) this.messages[this.messages.length - 1] = { ...last, given: this.#given };
    this.#given = [];
  }

  /** Looks one after the other are one line, which tells the last of them and how many there were. */
  #looked(event: Event, text: string) {
    const last = this.messages.at(-1);
    if (!this.#hasSpoken && last?.who === "did" && last.tone === "running") this.messages[this.messages.length - 1] = { ...last, text, many: last.many + 1 };
    else this.#say(event, "did", text, { tone: "running" });
    this.#hasSpoken = false;
  }

  tell(event: Event) {
    const name = oneOf(EVENT_NAME, event.event_type);
    // An event of a newer Hermit has no words here; it stands among all events.
    if (name === null) return;
    const body = record(event.body);
    const here: See = { kind: "event", seq: event.seq };
    this.#now(name, body);
    if (isOf(["task", "step"], name)) return this.#task(name, event, body, here);
    if (isOf(["attempt"], name)) return this.#ofAttempt(name, event, body, here);
    if (isOf(["trial", "action", "policy", "effect"], name)) return this.#ofAction(name, event, body);
    if (isOf(["approval", "witness", "receipt", "grant"], name)) return this.#authority(name, event, body, here);
    return this.#rest(name, event, body, here);
  }

  /** What begins and what ends with an event; all others leave it as it is. */
  #now(name: EventName, body: Record<string, unknown>) {
    if (name === "attempt.model_requested") this.doing = WAITS[oneOf(PROPOSER, body["provider"]) ?? "openai"];
    else if (name === "attempt.model_failed") this.doing = "The model did not answer; trying again";
    else if (name === "trial.started") this.doing = `Trying in a copy of the folder: ${word(body["summary"])}`;
    else if (name === "action.requested") this.doing = `Now: ${word(body["summary"])}`;
    else if (name === "attempt.model_responded" || name === "trial.ended" || name === "effect.observed" || name === "attempt.terminated") this.doing = "";
  }

  #task(name: Of<"task" | "step">, event: Event, body: Record<string, unknown>, here: See) {
    switch (name) {
      case "task.created":
        this.#begun = `${event.seq}`;
        this.#said(event, record(body["task"])["goal"], oneOf(ORIGIN, record(body["task"])["origin"]) ?? "person");
        break;
      case "task.input_added": case "task.input_queued":
        this.#said(event, body["text"], origin(oneOf(TRUST_TIER, body["trust_tier"])));
        this.#withIt();
        break;
      case "step.created": {
        const step = record(body["step"]);
        const row = this.#add(event, "step", word(step["title"], "Step"), here, { mark: "idle" });
        this.#steps.set(word(step["step_id"]), row);
        break;
      }
      case "step.status_changed": {
        const row = this.#steps.get(word(body["about_step_id"]));
        const look = stepLook(body["to"], { nothingDone: this.#nothingDone(), byNo: this.#denials.hasEnded });
        if (row !== undefined && look !== null) [row.tone, row.mark] = look;
        break;
      }
      case "task.status_changed": {
        const to = oneOf(TASK_STATUS, body["to"]);
        // What came with the goal was given before the task was ready.
        if (to === "ready" && this.messages.length === 1) this.#withIt();
        if (to === "ready" && body["reason"] === NEW_DAY) this.#add(event, "phase", `Continues: ${NEW_DAY}`, here, { tone: "mute", mark: "running" });
        if (to === "failed" && body["reason"] === BY_A_NO) this.#add(event, "phase", "Denied by you", here, { tone: "mute", mark: "deny" });
        else if (to === "paused" || to === "cancelled" || to === "failed") {
          this.#add(event, "phase", `${capital(plain(to))}: ${word(body["reason"]) === plain(to) ? "the task ended" : reasonOf(word(body["reason"]))}`, here, { tone: to === "failed" ? "failed" : "mute", mark: to === "failed" ? "failed" : "paused" });
        }
        break;
      }
      case "task.delegated": {
        const parts = given(body);
        this.parts = [...this.parts, ...parts];
        this.#add(event, "phase", `Gave ${count(parts.length, "part")} away`, here, { mark: "running", tone: "running" });
        this.#say(event, "did", `Gave ${count(parts.length, "part")} away: ${parts.map((part) => part.title).join("; ")}`, { tone: "running" });
        break;
      }
      case "task.children_started":
        this.parts = started(this.parts, body);
        this.doing = waiting(this.parts);
        break;
      case "task.child_ended": {
        const [parts, part] = ended(this.parts, body);
        const tone = part?.ended === "completed" ? "done" : "failed";
        this.#add(event, "phase", `Part ${plain(part?.ended ?? "ended")}: ${part?.title ?? ""}`, here, { mark: tone, tone });
        this.parts = parts;
        this.doing = waiting(parts);
        break;
      }
      case "task.goal_changed":
        this.#add(event, "phase", "You edited the goal", here, { person: "decided" });
        // The goals it had stay where they were said, each as what it was.
        this.messages = this.messages.map((message) => (message.goal === "now" || message.key === this.#begun ? { ...message, goal: "before" } : message));
        this.#say(event, "you", word(body["goal"]), { goal: "now" });
        break;
      case "task.pause_requested": case "task.cancel_requested": case "task.limit_raised":
        this.#add(event, "phase", name === "task.limit_raised" ? raised(body) : capital(plain(name.slice(5))), here, { person: "decided" });
        break;
      case "task.criteria_checked": this.#add(event, "phase", foundOf(name, body), here); break;
      case "task.input_absorbed": case "task.priority_changed": case "task.limit_reached": break;
      default:
        name satisfies never;
    }
  }

  #ofAttempt(name: Of<"attempt">, event: Event, body: Record<string, unknown>, here: See) {
    switch (name) {
      case "attempt.created":
        this.#attempt = number(record(body["attempt"])["attempt_no"]);
        this.#proven = [];
        this.#denials.ended(null);
        this.#add(event, "attempt", `Attempt ${this.#attempt}`, here);
        break;
      case "attempt.context_compiled": {
        const iteration = number(body["iteration"]);
        const left = number(body["omissions"]);
        const size = `${tokens(number(body["tokens"]))} tokens${left > 0 ? `; ${count(left, "item")} left out` : ""}`;
        const row = this.#add(event, "phase", `Prepared the next turn (${size})`, { kind: "turn", attempt: this.#attempt, iteration });
        this.#turn = { row, size };
        break;
      }
      case "attempt.iteration_completed": {
        const made = record(body["record"]);
        const error = word(made["error"]);
        const words = word(made["model_decision"]);
        if (!this.#denials.repeats(error) && error !== "") this.#add(event, "phase", capital(plainPaths(error)), here, { tone: "failed", mark: "failed" });
        // A turn without words of its own is named by its tool; what it did is told by what was done.
        this.#says(event, TOOL.test(words) ? "" : words);
        break;
      }
      case "attempt.context_compacted": {
        const text = `Turns 1 to ${number(body["through"])} summed up in ${count(number(body["lines"]), "line")}`;
        this.#add(event, "phase", text, { kind: "summary", id: word(record(body["summary"])["artifact_id"]) }, { tone: "mute" });
        break;
      }
      case "attempt.tools_found": case "attempt.skill_loaded": case "attempt.answer_continued": case "attempt.model_fell_back":
        this.#add(event, "phase", foundOf(name, body), here, { mark: "running", tone: "mute" });
        break;
      case "attempt.output_rejected": case "attempt.model_failed":
        this.#add(event, "phase", `${name === "attempt.model_failed" ? "Model failed" : "Answer not usable"}: ${word(body["reason"]) || word(body["error"])}`, here, { tone: "failed", mark: "failed" });
        break;
      case "attempt.terminated": {
        const reason = oneOf(TERMINATION_REASON, body["reason"]);
        const isDone = reason === "done" && !this.#nothingDone();
        const turns = count(number(body["iterations"]), "turn");
        // Whose no it was stands where the no was said, and where the task ends.
        const ended = this.#denials.ended(reason) ? `Ended after ${turns}` : `Ended: ${reason === "done" && !isDone ? "nothing was done" : plain(word(body["reason"]))}, ${turns}`;
        this.#add(event, "phase", ended, here, { tone: isDone ? "done" : "mute" });
        this.#end(event, word(body["summary"]), reason === "done" ? "agent" : "hermit");
        break;
      }
      case "attempt.model_requested":
        if (this.#turn !== null) this.#turn.row.text = asked(oneOf(PROPOSER, body["provider"]), this.#turn.size);
        this.#turn = null;
        break;
      case "attempt.status_changed": case "attempt.checkpointed": case "attempt.environment_captured": case "attempt.answer_checked":
        break;
      case "attempt.model_responded":
        this.#answered = { at: event.at, before: this.messages.length };
        break;
      default:
        name satisfies never;
    }
  }

  /** What it proposed was refused, and nothing else was done: it ended, and is not done. */
  #nothingDone(): boolean {
    return this.#wasRefused && !this.#didAct;
  }

  /** The last words: the agent's where it ended by itself, else Hermit's. A turn that only ended says them twice. */
  #end(event: Event, summary: string, who: "agent" | "hermit") {
    const receipts = [...this.#proven];
    const told = lastWords(this.messages, this.#spoke, { who, summary, receipts, at: event.at });
    if (told === null) this.#say(event, who, summary, { final: true, receipts });
    else this.messages = told;
  }

  /** What was done carries its receipt. */
  #cite(action: string, receipt: string) {
    const at = this.messages.findLastIndex((message) => message.who === "did" && message.action === action);
    const done = this.messages[at];
    if (done !== undefined) this.messages[at] = { ...done, receipts: [...done.receipts, receipt] };
  }

  #ofAction(name: Of<"trial" | "action" | "policy" | "effect">, event: Event, body: Record<string, unknown>) {
    const id = word(body["action_request_id"]);
    const see: See = { kind: "action", id };
    const action = this.#actions.get(id);
    switch (name) {
      case "trial.started":
        this.#add(event, "phase", `Trying it in a copy of the folder: ${word(body["summary"])}`, see);
        break;
      case "trial.ended": {
        const outcome = oneOf(TRIAL_OUTCOME, body["outcome"]);
        const why = word(body["reason"]);
        if (outcome === "failed") this.#add(event, "phase", `The trial failed: ${why}`, see, { tone: "failed", mark: "failed" });
        else if (outcome === "not_staged") this.#add(event, "phase", `It cannot be tried in a copy: ${why}`, see);
        break;
      }
      case "action.requested": {
        const reads = oneOf(ACTION_CLASS, body["action_class"]) === "read_local";
        const summary = word(body["summary"]);
        const row = this.#add(event, "phase", reads ? capital(summary) : `Proposed: ${summary}`, see);
        this.#actions.set(id, { row, reads, summary });
        break;
      }
      case "policy.evaluated": {
        const said = oneOf(POLICY_VERDICT, body["verdict"]);
        if (said === "deny") this.#wasRefused = true;
        if (said === "deny" && action !== undefined) this.#say(event, "did", `Denied by policy: ${action.summary}`, { tone: "failed" });
        if (action?.reads === true && said === "allow") break;
        const words = said === null ? plain(word(body["verdict"])) : verdict(said).word.toLowerCase();
        this.#add(event, "phase", `Policy: ${words}, ${word(body["risk_band"])} risk`, see, {
          tone: said === "deny" ? "failed" : "mute", mark: said === "deny" ? "deny" : null,
        });
        break;
      }
      case "effect.observed": {
        const code = oneOf(RESULT_CODE, body["result_code"]) ?? "unknown_outcome";
        const [asChosen, came] = [this.chosen.has(id), result(code, null, this.chosen.has(id))];
        if (action?.reads === true && code === "succeeded") {
          action.row.mark = null;
          this.#looked(event, capital(action.summary));
          break;
        }
        if (action?.reads !== true && code !== "denied") this.#didAct = true;
        const again = body["recovered"] === true ? ", found after a crash" : "";
        if (action !== undefined && code !== "denied") this.#say(event, "did", cameOf(came, action.summary, asChosen), { tone: came.tone, action: id });
        if (code === "denied" && this.#denials.isOf(id)) break;
        const words = code === "denied" ? "Denied, nothing was done" : `Carried out: ${came.word.toLowerCase()}${again}`;
        this.#add(event, "phase", words, see, { tone: came.tone, mark: came.mark });
        break;
      }
      case "effect.uncertain":
        this.#add(event, "phase", "Nobody saw how it ended", see, { tone: "unknown", mark: "unknown" });
        break;
      case "effect.resolved":
        this.#add(event, "phase", `You settled it: ${result(oneOf(RESULT_CODE, body["result_code"]) ?? "unknown_outcome").word.toLowerCase()}`, see, { person: "decided" });
        break;
      case "effect.progressed": {
        const kept = word(record(body["checkpoint"])["artifact_id"]) !== "";
        const said = word(body["note"]);
        const text = `Running for ${running(body["elapsed_ms"])}${said === "" ? "" : kept ? `, checkpoint: ${said}` : `, ${said}`}`;
        const row = this.#lasting.get(id);
        if (row !== undefined && !kept) row.text = text;
        else if (kept) this.#add(event, "phase", text, see);
        else this.#lasting.set(id, this.#add(event, "phase", text, see));
        break;
      }
      case "effect.dispatched": case "action.downgraded": case "policy.rules_changed":
        break;
      default:
        name satisfies never;
    }
  }

  #authority(name: Of<"approval" | "witness" | "receipt" | "grant">, event: Event, body: Record<string, unknown>, here: See) {
    const id = word(body["approval_id"]);
    switch (name) {
      case "approval.requested": {
        const approval = word(record(body["approval"])["approval_id"]);
        const row = this.#add(event, "phase", "Waiting for you", { kind: "approval", id: approval }, { tone: "waiting", person: "asked" });
        const action = word(body["action_request_id"]);
        this.#approvals.set(approval, { row, action });
        const about = this.#actions.get(action)?.summary ?? "go on";
        this.#say(event, "asks", about, { approval });
        break;
      }
      case "approval.signed":
        this.#add(event, "phase", "One of two keys said yes", { kind: "approval", id }, { person: "decided", tone: "waiting", mark: null });
        break;
      case "approval.granted": case "approval.denied": case "approval.expired": case "approval.cancelled": case "approval.invalidated": {
        const asked = this.#approvals.get(id);
        if (asked !== undefined) Object.assign(asked.row, { text: "You were asked", tone: "mute", person: null });
        const yours = name === "approval.granted" || name === "approval.denied";
        const why = name === "approval.denied" ? this.#denials.said(asked?.action, body["feedback"]) : "";
        if (name === "approval.denied") this.#wasRefused = true;
        this.#add(event, "phase", why === "" ? ANSWERED[name] : `${ANSWERED[name]}: ${why}`, { kind: "approval", id }, { person: yours ? "decided" : null, tone: yours ? "waiting" : "mute", mark: null });
        this.messages = this.messages.filter((message) => message.approval !== id);
        this.#say(event, "you", why);
        break;
      }
      case "witness.validated":
        this.#add(event, "phase", "Looked again: unchanged since you saw it", { kind: "action", id: word(body["action_request_id"]) });
        break;
      case "witness.drifted":
        this.#add(event, "phase", `Changed since you saw it: ${list(body["differences"]).map((one) => word(one)).join("; ")}`, { kind: "action", id: word(body["action_request_id"]) }, { tone: "failed", mark: "failed" });
        break;
      case "receipt.issued": {
        const receipt = word(body["receipt_id"]);
        const code = word(body["result_code"]);
        if (oneOf(RECEIPT_CLASS, body["receipt_class"]) === "approval_resolution") break;
        this.receipts.push({ id: receipt, seq: event.seq, result: code });
        this.#proven.push(receipt);
        this.#cite(word(body["action_request_id"]), receipt);
        this.#add(event, "phase", "Receipt signed", { kind: "receipt", id: receipt }, { cite: shortReceipt(receipt) });
        break;
      }
      case "grant.revoked":
        this.#add(event, "phase", "Grant taken back", here, { person: "decided" });
        break;
      case "witness.captured": case "grant.issued": case "grant.standing_allowed": case "grant.standing_revoked": case "grant.standing_used":
        break;
      default:
        name satisfies never;
    }
  }

  #rest(name: Exclude<EventName, Of<"task" | "step" | "attempt" | "trial" | "action" | "policy" | "effect" | "approval" | "witness" | "receipt" | "grant">>, event: Event, body: Record<string, unknown>, here: See) {
    switch (name) {
      case "sampling.requested":
        this.#add(event, "phase", `The server ${word(body["server"])} asked ${word(body["model"])} something`, here, { mark: "running", tone: "mute" });
        break;
      case "sampling.ended":
        if (word(body["error"]) !== "") this.#add(event, "phase", `The server ${word(body["server"])} got no answer of a model: ${word(body["error"])}`, here, { tone: "failed", mark: "failed" });
        break;
      case "clarification.requested": {
        const question = word(record(body["clarification"])["question"]);
        this.#add(event, "phase", `Asks: ${question}`, here, { person: "asked", tone: "waiting" });
        this.#say(event, "agent", question);
        break;
      }
      case "clarification.answered":
        this.#add(event, "phase", "You answered", here, { person: "decided" });
        break;
      case "belief.asserted":
        this.#add(event, "phase", `Holds true: ${word(record(body["belief"])["claim"])}`, here);
        break;
      case "memory.promoted":
        this.#add(event, "phase", `Remembers: ${word(record(body["record"])["claim"])}`, here);
        break;
      case "decision.recorded":
        this.#add(event, "phase", "Decision recorded", here);
        break;
      case "store.initialised": case "key.registered": case "key.rotated": case "host.started": case "host.stopped": case "gate.halted":
      case "gate.booted": case "checkpoint.signed": case "backup.made": case "store.restored": case "chain.reanchored": case "disclosure.erased":
      case "dedupe.recorded": case "principal.registered": case "workspace.registered": case "project.known": case "conversation.opened":
      case "conversation.focus_changed": case "ingress.received": case "ingress.bound": case "ingress.attributed": case "budget.reserved": case "budget.settled":
      case "workspace.lease_acquired": case "workspace.lease_renewed": case "workspace.lease_released": case "workspace.lease_lost":
      case "artifact.created":
        this.#given.push(...givenBy(body));
        break;
      case "anchor.asked": case "artifact.referenced": case "artifact.sealed": case "artifact.promoted": case "artifact.compacted":
      case "artifact.expired": case "working_state.updated": case "belief.revised": case "belief.superseded": case "belief.contradicted":
      case "belief.revoked": case "belief.expired": case "memory.invalidated": case "memory.revoked": case "memory.expired":
      case "clarification.expired": case "clarification.cancelled": case "key.revoked": case "checkpoint.cosigned": case "person.decided":
      case "pin.accepted": case "secret.registered": case "secret.removed": case "content.redacted": case "receipts.undone": case "secret.placed": case "tools.registered": case "tools.sampling_set": case "tools.passed_on": case "tools.classified": case "tools.changed": case "tools.disabled": case "tools.removed": case "tools.login_allowed": case "tools.logged_in": case "tools.logged_out": case "skill.trusted": case "skill.untrusted": case "playbook.adopted": case "playbook.turned_off": case "store.history_read": case "store.state_rooted": case "schedule.kept": case "schedule.paused": case "schedule.resumed": case "schedule.removed": case "schedule.settled": case "schedule.fired": case "schedule.not_begun": case "skin.trusted": case "skin.untrusted": case "conversation.skin_chosen": case "passkey.enrolled": case "passkey.used": case "passkey.refused": case "passkey.revoked": case "passkey.signed_in": case "passkey.sign_in_refused": case "push.subscribed": case "push.ended": case "schedule.called": case "schedule.calls_refused": case "gateway.kept": case "gateway.paused": case "gateway.resumed": case "gateway.removed": case "gateway.pairing_allowed": case "sender.paired": case "sender.unpaired": case "message.received": case "message.refused": case "sender.silenced": case "gateway.read": case "message.queued": case "message.sending": case "message.settled": case "identity.soul_written": case "identity.key_registered": case "identity.linked": case "identity.published": case "anchor.requested": case "anchor.stamped": case "anchor.completed": case "anchor.withdrawn": case "anchor.failed": case "mesh.joined": case "mesh.left": case "mesh.stepped": case "mesh.settled": case "mesh.taken": case "successor.began": case "successor.judged": case "successor.stopped": case "successor.adopted": case "successor.returned": case "training.curated": case "training.finished": case "training.exported": case "training.recalled":
        break;
      default:
        name satisfies never;
    }
  }
}

/** The story of the events up to and with `until`. `chosen`: acts of a part that a person chose, of which all was done. */
export function story(events: readonly Event[], until = Number.POSITIVE_INFINITY, chosen: ReadonlySet<string> = new Set()): Story {
  const teller = new Teller();
  teller.chosen = chosen;
  let since: number | null = null;
  for (const event of events) {
    if (event.seq > until) break;
    const before = teller.doing;
    teller.tell(event);
    if (teller.doing !== before) since = teller.doing === "" ? null : event.at;
  }
  return { rows: teller.rows, parts: teller.parts, doing: teller.doing, since, messages: teller.messages, receipts: teller.receipts };
}
