// What the page says of gateways and their messages.
import type { Gateway, Message } from "~/ipc/generated/gateways";
import type { GatewayState, MessageAbout, MessageRefusal, MessageState, MessageUse } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import type { MarkName } from "~/primitives/Icon";
import type { Tone } from "~/primitives/Tag";
import { capital, plain } from "~/screen/words";

export interface Look { tone: Tone; mark: MarkName; word: string }

const STATE: Readonly<Record<GatewayState, Look>> = {
  active: { tone: "done", mark: "done", word: "Active" }, paused: { tone: "waiting", mark: "paused", word: "Paused" }, removed: { tone: "mute", mark: "deny", word: "Removed" },
};

/** How a gateway stands. */
export function stands(one: Gateway): Look {
  if (one.state === "active" && one.away !== null) return { tone: "unknown", mark: "unknown", word: "Service does not answer" };
  if (one.state === "paused" && one.by_itself) return { tone: "waiting", mark: "paused", word: "Paused itself" };
  return lookUp(STATE, one.state, { tone: "mute", mark: "idle", word: capital(plain(one.state)) });
}

const SENT: Readonly<Record<MessageState, Look>> = {
  queued: { tone: "mute", mark: "idle", word: "Waits to be sent" },
  sending: { tone: "running", mark: "running", word: "Being sent" },
  sent: { tone: "done", mark: "done", word: "Sent" },
  unknown: { tone: "unknown", mark: "unknown", word: "May have been sent" },
  unsent: { tone: "failed", mark: "failed", word: "Not sent" },
};
const USED: Readonly<Record<MessageUse, Look>> = {
  words: { tone: "done", mark: "done", word: "Heard" },
  pairing: { tone: "done", mark: "done", word: "Paired" },
  status: { tone: "done", mark: "done", word: "Asked how tasks stand" },
  stop: { tone: "done", mark: "done", word: "Stopped a task" },
  deny: { tone: "done", mark: "deny", word: "Denied an approval" },
  unusable: { tone: "failed", mark: "failed", word: "Not usable" },
};

/** How a message stands. */
export function messageLook(one: Message): Look {
  if (one.refused !== null) return { tone: "failed", mark: "deny", word: "Refused" };
  if (one.state !== null) return lookUp(SENT, one.state, { tone: "mute", mark: "idle", word: capital(plain(one.state)) });
  if (one.used_as !== null) return lookUp(USED, one.used_as, { tone: "mute", mark: "idle", word: capital(plain(one.used_as)) });
  return { tone: "mute", mark: "idle", word: one.is_outgoing ? "Out" : "In" };
}

const REFUSED: Readonly<Record<MessageRefusal, string>> = {
  unreadable: "it cannot be read",
  too_large: "it is larger than a message may be",
  elsewhere: "it was made by another node, or for another conversation",
  unsigned: "nobody who may sign it has signed it",
  stale: "it is too old, or its time is still to come",
  repeated: "it came before",
  out_of_order: "it is not the next one of its chat",
  not_paired: "its sender is not paired",
  wrong_code: "its code is wrong, or has expired",
  silenced: "its sender sent wrong codes and is not heard for a while",
  wrong_button: "its button belongs to another sender or chat, or was used",
  not_active: "the gateway is paused or removed",
};

/** Why a message was refused. */
export function refusal(why: MessageRefusal): string {
  return lookUp(REFUSED, why, plain(why));
}

const ABOUT: Readonly<Record<MessageAbout, string>> = { outcome: "How a task ended", question: "A question of a task", approval: "An approval waits", reply: "A reply", state: "How a task stands" };

/** What a message tells that goes out. */
export function aboutName(about: MessageAbout): string {
  return lookUp(ABOUT, about, capital(plain(about)));
}

const PORT: Readonly<Record<string, number>> = { http: 80, ws: 80, imap: 143, imaps: 993, smtp: 587, smtps: 465 };

/** Addresses, with blanks between, each with its protocol: this one where none is written. */
export function spelledOut(addresses: string, protocol: string): string {
  return addresses.split(/\s+/).filter((one) => one !== "").map((one) => (one.includes("://") ? one : `${protocol}://${one}`)).join(" ");
}

/** The hosts that a token goes to: those of the addresses that were written, or the service's own. */
export function hostsOf(own: readonly string[], addresses: readonly string[]): string[] {
  const given = addresses.flatMap((some) => some.split(" ")).flatMap((address) => {
    const found = /^(\w+):\/\/([^/?#]+)/.exec(address);
    const at = found?.[2]?.toLowerCase();
    return at === undefined ? [] : [/:\d+$/.test(at) ? at : `${at}:${PORT[found?.[1] ?? ""] ?? 443}`];
  });
  return given.length > 0 ? given : [...own];
}

/** A code in groups of four letters. */
export function grouped(code: string): string {
  return (code.replace(/[\s-]/g, "").match(/.{1,4}/g) ?? []).join("-");
}
