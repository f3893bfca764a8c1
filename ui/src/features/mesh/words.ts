// What the page says of machines, of messages between them, and of what a person has to know.
import type { Alert, Message, Node, Way } from "~/ipc/generated/mesh";
import type { DeliveryState, MeshAlert, NeverReason } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import { many } from "~/primitives/number";
import { type Look, capital, count, plain, said } from "~/screen/words";

/** Letters of a code: those that say where both meet, and the secret ones. */
const CODE_LETTERS = 10;

const DELIVERY: Readonly<Record<DeliveryState, Look>> = {
  queued: { tone: "mute", mark: "idle", word: "Waits here" },
  accepted: { tone: "running", mark: "running", word: "With a relay" },
  opened: { tone: "done", mark: "done", word: "Opened" },
  never: { tone: "failed", mark: "failed", word: "Never" },
};

/** How a message stands, in a word. */
export function deliveryLook(one: Message): Look {
  if (!one.is_outgoing) return { tone: "done", mark: "done", word: "Came in" };
  if (one.waits_since !== null) return { tone: "waiting", mark: "waiting", word: "Waits there" };
  return lookUp(DELIVERY, one.state, { tone: "mute", mark: "idle", word: capital(plain(one.state)) });
}

const NEVER: Readonly<Record<NeverReason, string>> = {
  expired: "it waited too long",
  withdrawn: "the other machine was withdrawn",
  rerouted: "its conversation belongs to another machine, and it went there",
  refused: "the other machine could not use it",
};

/** How far an outgoing message came: no more than what was observed. */
export function howFar(one: Pick<Message, "state" | "accepted_by" | "never" | "waits_since">): string {
  if (one.waits_since !== null) return "The other machine has begun with it, and waits for its person: somebody has to answer there, or at a machine that may approve for it.";
  switch (one.state) {
    case "queued": return "It waits on this machine. No relay has said that it has it.";
    case "accepted": return `${one.accepted_by === null ? "A relay" : `The relay ${one.accepted_by}`} said that it has it. The other machine has not opened it yet.`;
    case "opened": return "The other machine said that it opened it.";
    case "never": return one.never === null ? "It will never come." : `It will never come: ${lookUp(NEVER, one.never, plain(one.never))}.`;
    default: return "";
  }
}

interface AlertWords { title: (name: string) => string; todo: string }

const ALERT: Readonly<Record<MeshAlert, AlertWords>> = {
  rolled_back: {
    title: (name) => `The log of ${name} went back, or says two different things`,
    todo: "If you restored that machine from a backup, this is why. If you did not, do not rely on its receipts until you know the reason, and withdraw it if somebody else may use it.",
  },
  forked: {
    title: (name) => `${capital(name)} told two different things where there can be one`,
    todo: "It was put back to an earlier state, or somebody else has its key. If you did not restore it from a backup, withdraw it.",
  },
  put_back: {
    title: () => "This machine was put back to an earlier state",
    todo: "Your other machines tell it again what it lost. If you restored a backup, there is nothing to do. If you did not, find out who changed its files.",
  },
  letters_missed: {
    title: (name) => `Messages of ${name} are lost`,
    todo: "They came before this machine was put back, and nobody has them any more. Look at the messages on the other machine, and send again what is still wanted.",
  },
  notices_missed: {
    title: (name) => `This machine was away too long to hear everything that ${name} told`,
    todo: "Compare the list of machines here with the list on your others: if one was withdrawn meanwhile and still stands here as believed, withdraw it here too.",
  },
  displaced: {
    title: (name) => `A conversation that you wrote to belongs to ${name}`,
    todo: "What was written here since is kept aside and was not used. Send it again: it then goes to the machine that the conversation belongs to.",
  },
  not_counted: {
    title: (name) => `A scheduled run began here and counts for ${name}`,
    todo: "Both machines began it, and both logs say which one counts. Look at the run of this machine, and undo it if its work is there twice.",
  },
  hand_overs: {
    title: (name) => `${capital(name)} passes more conversations to this machine than it takes`,
    todo: "If you did not pass that many conversations here, withdraw that machine. If you did, take those that are still to be worked on here.",
  },
};

/** What a person has to know, as a title and as what to do. */
export function alertWords(one: Alert): { title: string; todo: string } {
  const words = lookUp<MeshAlert, AlertWords | null>(ALERT, one.kind, null);
  const name = one.name ?? "another machine";
  return words === null ? { title: capital(plain(one.kind)), todo: "" } : { title: words.title(name), todo: words.todo };
}

/** Whether a machine is heard at this moment, in a word. What it told counts for minutes: where it is reached directly and the way
 *  there is not open, it may be gone already. */
export function presenceLook(one: Pick<Node, "is_withdrawn" | "here_until">, direct: Pick<Way, "is_open"> | null, now: number): Look {
  if (one.is_withdrawn) return { tone: "mute", mark: "deny", word: "Withdrawn" };
  const counts = one.here_until !== null && one.here_until > now;
  if (counts && direct?.is_open === false) return { tone: "mute", mark: "idle", word: "Heard, not connected" };
  if (counts) return { tone: "done", mark: "done", word: "Here" };
  return { tone: "unknown", mark: "unknown", word: "Not heard" };
}

/** What waits for a machine and how far it came; null where nothing does. */
export function waitsFor(one: Pick<Node, "queued" | "accepted">): string | null {
  const { queued, accepted } = one;
  if (queued === 0) return null;
  const waits = `${capital(count(queued, "message"))} for it ${queued === 1 ? "was" : "were"} not opened yet: `;
  if (accepted === 0) return `${waits}${queued === 1 ? "it waits" : "all of them wait"} on this machine.`;
  if (accepted >= queued) return `${waits}${queued === 1 ? "a relay has it" : "relays have all of them"}.`;
  return `${waits}relays have ${many(accepted)}, and ${many(queued - accepted)} ${queued - accepted === 1 ? "waits" : "wait"} on this machine.`;
}

/** How a way stands. */
export function wayLook(one: Pick<Way, "is_open">): Look {
  return one.is_open ? { tone: "done", mark: "done", word: "Open" } : { tone: "unknown", mark: "unknown", word: "Not open" };
}

/** The name of a machine, or the beginning of its key where it has none. */
export function nodeName(one: Pick<Node, "name" | "node">): string {
  const name = said(one.name).trim();
  return name === "" ? `${one.node.slice(0, 8)}…` : name;
}

/** A code as it was typed, without what only separates; null where it is none yet. */
export function typedCode(text: string): string | null {
  const letters = text.replace(/[\s-]/g, "").toUpperCase();
  return letters.length === CODE_LETTERS ? `${letters.slice(0, 4)}-${letters.slice(4)}` : null;
}

/** Addresses, one a line or with blanks or commas between. */
export function addressesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((one) => one !== "");
}

/** What is wrong with a list of relays, in a sentence; null where nothing is. */
export function wrongRelay(relays: readonly string[]): string | null {
  const wrong = relays.find((one) => !/^wss?:\/\/[^/\s]+/.test(one));
  return wrong === undefined ? null : `Write each relay with its protocol, such as wss://relay.example: ${wrong} has none`;
}

/** Why a folder cannot be known by this name; null where it can. */
export function wrongAlias(alias: string, taken: Readonly<Record<string, string>>): string | null {
  if (alias === "") return "Give the folder a name for your other machines";
  if (/[/\\]/.test(alias)) return "The name of a folder has no slash in it: your other machines are told no path";
  if (alias.length > 64) return "The name of a folder has 64 letters at most";
  return Object.hasOwn(taken, alias) ? "Another folder has this name" : null;
}
