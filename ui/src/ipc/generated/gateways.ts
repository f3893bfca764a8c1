// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { PersonSigned, Text } from "./shared";
import type { Budget, Reasoner } from "./task";
import type { GatewayState, MessageAbout, MessageRefusal, MessageState, MessageUse, Profile, SenderProfile, Service, TaskStatus } from "./words";

export type { Submitted } from "./task";

/** Nothing to say. */
export type List = Record<string, never>;

/** Nothing to say. */
export type Services = Record<string, never>;

/** One gateway. */
export interface Show {
  name: string;
}

/** The gateway that a person is asked about. */
export interface Add {
  /** Its name; one that stands is changed. */
  name: string;
  /** The chat service, by its name, as `gateways.services` lists it. */
  service: string;
  /** The server: a base URL, or a host, or relays with blanks between; that of the service itself when absent. */
  address?: string | null;
  /** The name of the bot or the mail address, where the token does not say it. */
  user?: string | null;
  /** What else the service needs, by name; never a token. */
  settings?: Record<string, string>;
  /** The handle of the secret that opens it. */
  secret: string;
  /** The folder that tasks of its senders work in, absolute. */
  workspace: string;
  /** Who proposes in them: a model or a playbook. */
  reasoner?: Reasoner;
  /** The policy profile of tasks of senders who may give goals; `local_edit_allowed` when absent. */
  profile?: string | null;
  /** What each of them may spend. */
  budget?: Budget;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** The gateway that neither listens nor sends from now on. */
export interface Pause {
  name: string;
  reason?: string | null;
}

/** The gateway that listens and sends again. */
export interface Resume {
  name: string;
  /** What a person signed; not needed in the process that holds the store. */
  signed?: PersonSigned | null;
}

/** The gateway that is removed, with everybody who is paired with it. */
export interface Remove {
  name: string;
  reason?: string | null;
}

/** The pairing that a person is asked about. */
export interface Pair {
  name: string;
  /** What the sender may do; `ask` when absent. */
  profile?: SenderProfile | null;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** The gateway whose senders are listed. */
export interface Senders {
  name: string;
}

/** The sender who is not paired any more. */
export interface Unpair {
  name: string;
  /** As the list of senders names them. */
  sender: string;
  reason?: string | null;
}

/** What came in and went out, the newest first. */
export interface Messages {
  name: string;
  /** Only what is older than this place, as a message before tells it. */
  before?: number | null;
  /** How many at most. */
  limit?: number | null;
}

/** Every chat service that a gateway can speak with. */
export interface ServiceList {
  services: ServiceNeeds[];
}

/** A chat service, and what it needs. */
export interface ServiceNeeds {
  service: Service;
  /** Its name, as it stands within a sentence. */
  name: string;
  /** Where a newcomer gets the token. */
  how: string;
  /** The tokens, in the order in which the secret holds them, with a blank between. */
  tokens: string[];
  /** What else it needs. */
  fields: ServiceField[];
  /** The hosts that it is spoken with at where no address is given, as `name:port`. */
  hosts: string[];
  /** Where a code is sent: what follows the words "Send this". */
  send_to: string;
}

/** What a person says of an account beside the token. */
export interface ServiceField {
  /** Where it belongs: `address`, `user`, or the name of a setting. */
  at: string;
  /** What it is. */
  label: string;
  /** One that could be meant. */
  example: string;
  /** What else a newcomer should know. */
  hint: string | null;
  /** Whether nothing works without it. */
  is_needed: boolean;
  /** The protocol of an address that is said without one; none where it is no address. */
  protocol: string | null;
}

/** Every gateway that stands, by name. */
export interface Gateways {
  gateways: Gateway[];
}

/** A gateway as it stands. */
export interface Gateway {
  name: string;
  version: number;
  service: Service;
  /** The server; none where it is that of the service itself. */
  address: string | null;
  user: string | null;
  settings: Record<string, string>;
  /** The handle of the secret that opens it. */
  secret: string;
  /** Every host that it speaks with, as `name:port`. */
  hosts: string[];
  state: GatewayState;
  /** Why, where it is paused or removed. */
  why: string | null;
  /** Whether it paused itself, where it is paused: it waits for a person. */
  by_itself: boolean;
  /** Why the service does not answer just now, as the process that holds the store knows it. */
  away: string | null;
  folder: string;
  /** The playbook, or the model with its address. */
  worker: string;
  /** The policy profile of tasks of senders who may give goals. */
  profile: Profile;
  /** Senders who are paired. */
  senders: number;
  /** Messages that wait to be sent. */
  queued: number;
  since: number;
  artifact_id: string;
}

/** A code that pairs its sender, once a person has allowed it. It is told here and nowhere else. */
export interface PairingCode {
  /** The task that asks the person. */
  task_id: string;
  name: string;
  code: string;
  profile: SenderProfile;
  /** For how many minutes it can be sent from the person's yes on. */
  minutes: number;
}

/** The senders of a gateway who are or were paired. */
export interface SenderList {
  name: string;
  senders: PairedSender[];
}

/** A sender who is or was paired. */
export interface PairedSender {
  /** As the service names them. */
  sender: string;
  /** As they call themselves there; nobody has checked it. */
  sender_name: Text;
  /** The chat in which they were paired, as the service names it. */
  chat: string;
  profile: SenderProfile;
  /** The conversation of their tasks. */
  conversation_id: string;
  since: number;
  /** Why they are not paired any more. */
  unpaired: string | null;
}

/** What came in and went out. */
export interface MessageList {
  name: string;
  messages: Message[];
  /** Where the next page begins, if there is one. */
  before: number | null;
}

/** A message, or several that were refused for one reason. */
export interface Message {
  /** Its place. */
  place: number;
  at: number;
  /** Whether it goes out. */
  is_outgoing: boolean;
  /** The chat, as the service names it. */
  chat: string | null;
  /** Who sent it, as the service names them. */
  sender: string | null;
  text: Text | null;
  /** What it was used as, where it came in and was heard. */
  used_as: MessageUse | null;
  /** Why it was refused, where it was. */
  refused: MessageRefusal | null;
  /** Of those that were refused for this reason: how many there were, at least. */
  times: number | null;
  /** What it tells, where it goes out. */
  about: MessageAbout | null;
  /** How it stands, where it goes out. */
  state: MessageState | null;
  /** Why, in words. */
  why: string | null;
  /** The task that it is about. */
  task_id: string | null;
  /** How that stands. */
  task_status: TaskStatus | null;
  /** The task that sends it, with its receipt. */
  sent_by: string | null;
}
