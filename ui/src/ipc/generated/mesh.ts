// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { PersonSigned, Text } from "./shared";
import type { DeliveryState, MeshAlert, MeshPairingState, NeverReason } from "./words";

/** How the mesh stands on this machine. */
export type Show = Record<string, never>;

/** What this machine is in the mesh. What is not said stays as it is. */
export interface Set {
  /** Whether it is on; turned off, nothing is sent and nothing heard. */
  on?: boolean | null;
  /** Whether it leaves, which turns it off: what waits for other machines is let go of. Turned on again it speaks with the key that the instance has then; with another one than before it is paired anew. */
  leave?: boolean;
  /** As its person calls it. */
  name?: string | null;
  /** Addresses of relays at which it reads, `wss://…`. */
  relays?: string[] | null;
  /** The address and port at which paired machines of the same network reach it, such as `192.168.1.5:7447`; an empty one for none. */
  listen?: string | null;
  /** Folders that other machines may send goals to: alias and absolute path. All that are not named are taken away. */
  folders?: Record<string, string> | null;
  /** Who proposes in goals of other machines: a model, as for a task; none is the standard model. */
  model?: string | null;
  /** Whether everybody who reads its relays may see that it is here: its key, how busy it is, and how many tools and models it has, and the newest signed head of its log; no names. */
  public?: boolean | null;
  signed?: PersonSigned | null;
}

/** A code for another machine is shown. */
export interface Invite {
  signed?: PersonSigned | null;
}

/** The code that another machine shows. */
export interface Join {
  code: string;
  /** Where both meet: addresses of relays, or `address:port` of the other machine; one's own relays when it is not said. */
  at?: string[];
  signed?: PersonSigned | null;
}

/** How a pairing stands that was begun. */
export type Pairing = Record<string, never>;

/** Every machine that is or was paired. */
export type Nodes = Record<string, never>;

/** A machine that is not to be believed from now on, by its name or key. */
export interface Withdraw {
  node: string;
  reason?: string | null;
  signed?: PersonSigned | null;
}

/** A goal for another machine, which works on it where its folder is. */
export interface Send {
  /** The machine, by its name or key. */
  to: string;
  /** The folder there, by its alias; the only one that it tells when it is not said. */
  folder?: string | null;
  /** The conversation that it goes on with; a new one when it is not said. */
  conversation?: string | null;
  text: string;
  idempotency_key?: string | null;
}

/** What was sent to other machines and came from them, the newest first. */
export interface Messages {
  before?: number | null;
  limit?: number | null;
}

/** A conversation passes to another machine. */
export interface HandOver {
  conversation: string;
  to: string;
  signed?: PersonSigned | null;
}

/** A conversation is taken from a machine that does not answer. */
export interface Take {
  conversation: string;
  signed?: PersonSigned | null;
}

/** The receipts of all machines, the newest first. */
export interface Receipts {
  before?: number | null;
  limit?: number | null;
}

/** What other machines ask a person here. */
export type Questions = Record<string, never>;

/** The approval key of another machine may say yes here from now on, or no more. */
export interface Approver {
  /** The machine, by its name or key. */
  node: string;
  /** Whether it may. */
  allow: boolean;
  /** What this machine's approval key signed of that key, base64 of the DSSE envelope; nothing to take it away. */
  signed?: string | null;
}

/** An answer to what another machine asks. */
export interface Answer {
  approval: string;
  allow: boolean;
  /** What was shown: another packet is not answered. */
  packet_sha256?: string | null;
  /** The word that the question names, where a yes needs it. */
  word?: string | null;
  /** What the approval key of this machine signed for it, base64. */
  signed?: string | null;
}

/** Which machines may hold a schedule, the first one first; none takes it out of the mesh. */
export interface Hold {
  schedule: string;
  nodes: string[];
  term_minutes?: number | null;
  signed?: PersonSigned | null;
}

/** Everything that waits for a machine, or for any, is written to a file that a person carries. */
export interface Export {
  path: string;
  node?: string | null;
}

/** A file that a person carried here. */
export interface Import {
  path: string;
}

/** How the mesh stands on this machine. */
export interface Mesh {
  on: boolean;
  name: string | null;
  /** The public key that this machine speaks with, in hex; none before it was on. */
  node: string | null;
  /** The key by which it signs that it has seen heads of the logs of the others, as a reader of their proofs names it. */
  cosign_key: string | null;
  relays: string[];
  listen: string | null;
  /** Folders by alias. */
  folders: Record<string, string>;
  model: string | null;
  /** Whether everybody who reads its relays may see that it is here. */
  public: boolean;
  /** Ways that are open or were tried, as the process that holds the store knows them. */
  ways: Way[];
  /** Messages that no other machine opened yet. */
  waiting: number;
  /** What a person has to know, the newest first. */
  alerts: Alert[];
}

/** A relay, or a machine that is reached directly. */
export interface Way {
  /** The address of the relay, or the name of the machine. */
  at: string;
  is_direct: boolean;
  is_open: boolean;
  /** What it said last, or why it is not open. */
  says: string | null;
}

/** Something that a person has to know. */
export interface Alert {
  kind: MeshAlert;
  node: string | null;
  name: string | null;
  says: string;
  at: number;
}

/** A code, until when it counts, and where both meet. */
export interface Code {
  code: string;
  until: number;
  at: string[];
}

/** How a pairing stands. */
export interface PairingState {
  state: MeshPairingState;
  /** The code that is shown, for a person who is there; a program gets none. */
  code: string | null;
  until: number | null;
  node: string | null;
  name: string | null;
  /** How often the code may be typed wrong still, where it was. */
  tries_left: number | null;
  /** Who refused it and why, or what is waited for. */
  says: string | null;
}

/** Machines. */
export interface NodeList {
  nodes: Node[];
}

/** A machine. */
export interface Node {
  /** Its public key, in hex. */
  node: string;
  name: Text;
  relays: string[];
  /** Until when what it told last counts; none where nothing is heard of it. */
  here_until: number | null;
  tools: string[];
  models: string[];
  folders: string[];
  /** How busy it is, in per cent. */
  load: number | null;
  /** Messages for it that wait here, and of those the ones that a relay has. */
  queued: number;
  accepted: number;
  /** The fingerprint of its approval key, where it showed one. */
  approval_key: string | null;
  /** Whether that key may say yes here. */
  is_approver: boolean;
  /** The key by which it signed a head of this log last: whoever reads a proof names it as that of a witness. */
  cosign_key: string | null;
  is_withdrawn: boolean;
  /** Whether it tells everybody at relays that it is here. */
  is_public: boolean;
}

/** What was sent. */
export interface Sent {
  message: string;
  conversation: string;
  state: DeliveryState;
}

/** Messages. */
export interface MessageList {
  messages: Message[];
  before: number | null;
}

/** A message to or from another machine. */
export interface Message {
  place: number;
  /** By what it is known on both machines. */
  message: string;
  at: number;
  is_outgoing: boolean;
  node: string;
  name: Text;
  conversation: string;
  text: Text | null;
  state: DeliveryState;
  /** Which relay has it. */
  accepted_by: string | null;
  never: NeverReason | null;
  /** The task that it began here. */
  task_id: string | null;
  /** What was answered. */
  answer: Text | null;
  answered_at: number | null;
  /** Since when it is known here that it waits for the person of the other machine; none while it does not. */
  waits_since: number | null;
}

/** A conversation and who owns it. */
export interface Owned {
  conversation: string;
  node: string;
  name: string;
  epoch: number;
}

/** Receipts of all machines. */
export interface ReceiptList {
  receipts: Receipt[];
  before: number | null;
}

/** A receipt of a machine. */
export interface Receipt {
  place: number;
  node: string;
  name: Text;
  /** Its number in the log of that machine. */
  number: number;
  sha256: string;
  at: number;
  /** Its id, where it is one of this machine. */
  receipt_id: string | null;
}

/** What other machines ask. */
export interface QuestionList {
  questions: Question[];
}

/** What another machine asks a person here. */
export interface Question {
  approval: string;
  node: string;
  name: Text;
  expires_at: number;
  /** The packet that is signed, base64; its lines say what would be done. */
  packet: string;
  packet_sha256: string;
  title: Text;
  lines: Text[];
  /** The word that a person types for a yes: the risk, where it is high or critical. */
  word: string | null;
  /** What an answer needs beside the packet, base64 of its canonical JSON. */
  to_sign: string;
}

/** A file that was written or read. */
export interface Carried {
  path: string;
  /** Messages that were written, or that were new here. What machines tell each other by themselves is none. */
  messages: number;
  /** Messages that found no room; of a file that was read, lines that nobody can read. */
  left_out: number;
}

/** A schedule and who holds it. */
export interface Held {
  schedule: string;
  nodes: string[];
  holder: string | null;
  epoch: number;
}
