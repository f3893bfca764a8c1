// What the page says of gateways and their messages, and what each service needs.
import type { Gateway, Message } from "~/ipc/generated/gateways";
import type { GatewayState, MessageAbout, MessageRefusal, MessageState, MessageUse, Service } from "~/ipc/generated/words";
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

/** A field of the form, and where what is written there belongs. */
export interface Field {
  /** What else than the address and the account is a setting by its name. */
  at: "address" | "user" | "smtp" | "authserv_id" | "accept_invites";
  label: string;
  placeholder: string;
  hint?: string;
  isOptional?: true;
}

/** What a service needs: where its token comes from, and what else is asked. */
export interface Needs { how: string; token: string; fields: readonly Field[] }

export const NEEDS: Readonly<Record<Service, Needs>> = {
  telegram: { how: "In Telegram, write /newbot to @BotFather and answer its two questions. It sends you the token of your new bot.", token: "The bot's token", fields: [] },
  matrix: {
    how: "Make an account for Hermit on your homeserver and log in there once. In Element, its access token stands in All settings, under Help & About.", token: "The account's access token",
    fields: [
      { at: "address", label: "Homeserver", placeholder: "https://matrix.example.org" },
      { at: "accept_invites", label: "Whose invitations it accepts (optional)", placeholder: "@you:example.org", hint: "Users with blanks between, or all. Nobody's where nothing is said.", isOptional: true },
    ],
  },
  mail: {
    how: "Use a mailbox that only Hermit reads. Many providers want a password for apps, which you make in the settings of the account there.", token: "The mailbox's password",
    fields: [
      { at: "user", label: "Mail address", placeholder: "hermit@example.org" }, { at: "address", label: "Server where mail is read (IMAP)", placeholder: "imap.example.org" },
      { at: "smtp", label: "Server where mail is sent (SMTP)", placeholder: "smtp.example.org" },
      { at: "authserv_id", label: "Name by which the mail server confirms senders", placeholder: "mx.example.org", hint: "The first word of Authentication-Results in the source of a mail that you got there. Without it nobody can be paired, since anybody can write any sender." },
    ],
  },
  slack: { how: "On api.slack.com/apps, make an app, turn on Socket Mode, which gives an app-level token (xapp-), and install it in your workspace, which gives a bot token (xoxb-).", token: "Both tokens, the app-level one first, with a blank between", fields: [] },
  discord: { how: "On discord.com/developers, make an application, open Bot and have it show you the token. Invite the bot to a server that you are in.", token: "The bot's token", fields: [] },
};

const OWN: Readonly<Record<Service, readonly string[]>> = {
  telegram: ["api.telegram.org"], matrix: [], mail: [], slack: ["slack.com", "files.slack.com", "wss-primary.slack.com", "wss-backup.slack.com"], discord: ["discord.com", "gateway.discord.gg", "cdn.discordapp.com"],
};
const PORT: Readonly<Record<string, number>> = { http: 80, imap: 143, imaps: 993, smtp: 587, smtps: 465 };

/** An address with its protocol: the one with TLS where none is written. */
export function spelledOut(address: string, protocol: string): string {
  return address === "" || address.includes("://") ? address : `${protocol}://${address}`;
}

/** The hosts that a token goes to: those of the addresses that were written, or the service's own. */
export function hostsOf(service: Service, addresses: readonly string[]): string[] {
  const given = addresses.flatMap((address) => {
    const found = /^(\w+):\/\/([^/?#]+)/.exec(address);
    const at = found?.[2]?.toLowerCase();
    return at === undefined ? [] : [/:\d+$/.test(at) ? at : `${at}:${PORT[found?.[1] ?? ""] ?? 443}`];
  });
  return given.length > 0 ? given : [...OWN[service]];
}

/** Where a code is sent. */
export const SEND_TO: Readonly<Record<Service, string>> = {
  telegram: "Send it to your bot in Telegram, in a direct chat with it.",
  matrix: "Send it to Hermit's account in Matrix, in a room that holds nobody but the two of you.",
  mail: "Send it to Hermit's mail address, as the only words of a message.",
  slack: "Send it to your app in Slack, as a direct message.",
  discord: "Send it to your bot in Discord, as a direct message.",
};

/** A code in groups of four letters. */
export function grouped(code: string): string {
  return (code.replace(/[\s-]/g, "").match(/.{1,4}/g) ?? []).join("-");
}
