// What a surface needs of whatever holds the kernel. Three things answer it: the window's own backend, a host over
// loopback HTTP, and in tests one that is made up.
import type { CommandName, Commands } from "~/ipc/generated/commands";
import type { Rehearsed } from "~/ipc/generated/grants";
import type { Judged } from "~/ipc/generated/policy";
import type { Passkey } from "~/ipc/generated/passkeys";
import type { Code, Error as WireError, Notice } from "~/ipc/generated/shared";
import type { Asked, Attested, Place } from "./webauthn";

/** Why something did not work, in the wire's shape. Thrown by every host; nothing else is. */
export class Refused extends Error {
  readonly code: Code;
  readonly hint: string;
  readonly details: unknown;

  constructor(error: WireError) {
    super(error.message);
    this.name = "Refused";
    this.code = error.code;
    this.hint = error.hint ?? "";
    this.details = error.details ?? null;
  }
}

/** Whether notices come in. While they do not, what is shown may be old, and the screens say so. `ended`: the host answers, and
 *  knows this page's session no more, so that waiting brings nothing back. */
export type Link = "opening" | "live" | "lost" | "ended";

/** How a person decides on this surface. */
export type Deciding =
  /** In a window of its own, which this one can only ask for. */
  | "window"
  /** Here, with the approval passphrase for each yes. */
  | "passphrase"
  /** Only at a terminal. */
  | "terminal";

/** What an app says to its page: to go somewhere, or what is held above it and let fall. */
export type Heard =
  | { kind: "go"; to: string }
  | { kind: "over"; things: number }
  | { kind: "dropped"; folders: string[]; files: string[]; left_out: number };

/** Why this desktop has no tray, no notifications, no buttons on them; null where it has. */
export interface Lacks { tray: string | null; notifications: string | null; actions: string | null }

/** A card in front of a person. */
export interface Seat {
  readonly ticket: string;
  readonly approval: string;
  /** Digest of the bytes that a yes is to. */
  readonly packet_sha256: string;
  /** A yes is taken this many milliseconds from now, and not before. */
  readonly arms_in: number;
  /** The word that a yes must say at this risk. */
  readonly word: string | null;
}

export type Scope = "task" | "project" | "user" | "schedule";

/** What could be allowed from now on, and what it would have meant so far. */
export interface Offer { words: string; days: number; uses: number; rehearsed: Rehearsed }

/** What is chosen of it, with the sentence that was read. */
export interface Lasting { scope: Scope | null; number: number; days: number; uses: number; words: string }

/** Whoever says what could be allowed from now on at a card, the narrowest first. */
export interface Offers {
  offers(approval: string, scope: Scope | null, days: number | null, uses: number | null): Promise<Offer[]>;
}

/** An override as it would be signed, in front of a person. */
export interface Denial {
  readonly ticket: string;
  readonly words: string;
  readonly denied: Judged;
  readonly arms_in: number;
  readonly word: string;
}

/** What a person on a page of a host signs: the passphrase goes with each, and is kept nowhere. */
export interface Pen extends Offers {
  /** Says that a card is shown from now on, and gets the seat from which a yes to it is taken. */
  sit(approval: string): Promise<Seat>;
  /** A yes from a seat, and what lasts, where that was chosen. */
  allow(seat: Seat, passphrase: string, word: string | null, lasting: Lasting | null): Promise<void>;
  /** Shows from now on what would be signed to override a denial. */
  prepareOverride(act: string, reason: string, hours: number, uses: number): Promise<Denial>;
  allowOverride(denial: Denial, passphrase: string, word: string): Promise<void>;
}

/** Commands of the mesh that a person gives. */
export type OfMesh = "mesh.set" | "mesh.invite" | "mesh.join" | "mesh.withdraw" | "mesh.hand_over" | "mesh.take" | "mesh.hold" | "mesh.approver" | "mesh.answer";

/** What a person on a page says outright, with the passphrase. */
export interface Person {
  boot(passphrase: string): Promise<void>;
  settle(found: { task: string; result: string; note: string }, passphrase: string): Promise<void>;
  /** Lets a schedule or a gateway go on that is paused. */
  resume(paused: { of: "schedule" | "gateway"; name: string }, passphrase: string): Promise<void>;
  /** Gives a command of the mesh, which is signed where it has to be. */
  mesh<N extends OfMesh>(command: N, params: Commands[N]["params"], passphrase: string): Promise<Commands[N]["answer"]>;
}

/** How the keys of a host stand. */
export interface KeyState {
  /** Whether this page was opened with a link that a person read at a terminal: only then it makes and opens keys. */
  readonly at_terminal: boolean;
  /** Whether a passkey signed this page in: it is a person's, and makes and opens no keys. */
  readonly by_passkey?: boolean;
  /** Whether the keys that sign receipts and proofs were made; and the one that approves. */
  readonly made: boolean;
  readonly approval: boolean;
  readonly open: boolean;
  readonly vault: "keychain" | "file" | null;
  /** Why the system's keychain cannot keep keys here, where it cannot. */
  readonly no_keychain: string | null;
  readonly chars_min: number;
}

/** What keys are made with: the vault's passphrase is for a file only. */
export interface NewKeys { keychain: boolean; vault: string | null; approval: string }

/** A passphrase that takes the place of another: the vault's, or the one that says yes. */
export interface NewPassphrase { of: "vault" | "approval"; old: string; next: string }

/** The keys of the host, for a person on a page of it. */
export interface Keyring {
  state(): Promise<KeyState>;
  make(keys: NewKeys): Promise<KeyState>;
  /** Without a passphrase where the system's keychain keeps them. */
  unlock(passphrase: string | null): Promise<KeyState>;
  change(passphrase: NewPassphrase): Promise<KeyState>;
  lock(): Promise<KeyState>;
}

/** Passkeys of the person, on a page of a host. */
export interface Passkeys {
  /** The origin that they belong to here, or why there can be none. */
  readonly place: Place;
  /** Has the browser make one; it counts once it was added. */
  make(): Promise<Attested>;
  add(name: string, made: Attested, passphrase: string): Promise<Passkey>;
  /** What one has to sign for the card of a seat. */
  ask(seat: Seat): Promise<Asked>;
  /** A yes from a seat, signed by one. */
  allow(seat: Seat, asked: Asked, word: string | null): Promise<void>;
}

/** A page of this host that is open somewhere. */
export interface OpenPage {
  readonly number: number;
  readonly own: boolean;
  /** Whether it came by the address for other devices. */
  readonly elsewhere: boolean;
  readonly at_terminal: boolean;
  /** Whether a passkey signed it in. */
  readonly by_passkey: boolean;
  readonly opened_at: number;
  readonly used_at: number;
}

/** `origin` is the address for other devices, where one was named. */
export interface OpenPages { origin: string | null; sessions: OpenPage[] }

/** A link that works once; `code` is the same for a camera, a row of squares each. */
export interface DeviceLink { url: string; expires_at: number; code: string[] | null }

/** Pages on other devices, for a person on a page that was opened from a terminal. */
export interface Devices {
  list(): Promise<OpenPages>;
  /** A link for another device, or for this one under a name that passkeys can belong to. */
  link(to: "elsewhere" | "localhost"): Promise<DeviceLink>;
  end(number: number): Promise<OpenPages>;
}

/** A device that is notified by its push service while its page is closed. */
export interface Notified {
  readonly subscription: string;
  readonly name: string | null;
  /** The push service, by the name of its host. */
  readonly service: string;
  readonly origin: string;
  readonly outcomes: boolean;
  readonly since: number;
  /** Whether this page asked for it. */
  readonly own: boolean;
  /** The number of its page, where that is open. */
  readonly page: number | null;
}

/** How this browser stands: what it lacks, what a person refused it, and whether it is notified; then by which of the devices. */
export type PushHere = { is: "absent" | "address" | "refused" | "off" } | { is: "on"; subscription: string };

/** Devices that are notified, for a page of a person. */
export interface Pushes {
  list(): Promise<{ here: PushHere; devices: Notified[] }>;
  /** Has this browser notified. It asks for permission, which it does for a click only. */
  on(name: string, outcomes: boolean): Promise<void>;
  off(subscription: string): Promise<void>;
}

/** Commands that make a file, and the parameter that says where. */
export type Making = "proof.export" | "gate.export" | "changes.export" | "store.backup" | "identity.export" | "mesh.export";
type Placed = "path" | "to";

/** Files of a page, which names no place of the host's machine. */
export interface Files {
  /** Sends a file; what stands for its path in a command's parameters. */
  upload(file: File): Promise<string>;
  /** Saves a text of the page where downloads go. */
  save(text: string, name: string): void;
  /** Has a command make a file, and saves it where downloads go. */
  download<N extends Making>(command: N, params: Omit<Commands[N]["params"], Placed>, name: string): Promise<Commands[N]["answer"]>;
}

export interface Host {
  readonly kind: "tauri" | "http" | "fake";
  readonly deciding: Deciding;
  call<N extends CommandName>(
    name: N,
    params: Commands[N]["params"],
    signal?: AbortSignal,
  ): Promise<Commands[N]["answer"]>;
  /** Hears what changes until the function that comes back is called. */
  listen(notice: (notice: Notice) => void, link: (link: Link) => void): () => void;
  /** This conversation is shown from now on, or none: words on their way are told of it alone. Answers when they are. Only of a page in a
   *  browser: the app's window hears the words of all, whichever process they come from. */
  shows?(conversation: string | null): Promise<void>;
  /** Opens the card where it can be answered; only where `deciding` is `window`. */
  openCard?(approval: string): Promise<void>;
  /** Opens a denial of policy where a person may override it; only where `deciding` is `window`. */
  openOverride?(act: string): Promise<void>;
  /** Only where `deciding` is `passphrase`. */
  readonly pen?: Pen;
  /** Likewise. */
  readonly person?: Person;
  /** Likewise. */
  readonly keys?: Keyring;
  /** Likewise. */
  readonly passkeys?: Passkeys;
  /** Likewise. */
  readonly devices?: Devices;
  /** Likewise. */
  readonly pushes?: Pushes;
  /** Only where places of the host's machine cannot be named. */
  readonly files?: Files;
  /** Asks the system for a folder or file; absent where there is no such dialog. */
  pick?(kind: "folder" | "file" | "save", suggested?: string): Promise<string | null>;
  /** Where a file of this name would be saved unless the person says otherwise: a path that nothing has yet; null where there is none.
   *  Only in the app. */
  savePlace?(suggested: string): Promise<string | null>;
  /** Opens the window in which keys are made, or opened; only in the app. */
  openKeys?(): Promise<void>;
  /** Opens the window in which the key for a server of models is typed; only in the app. */
  openProvider?(): Promise<void>;
  /** Hears what the app says until the function that comes back is called. */
  heed?(heard: (one: Heard) => void): () => void;
  /** Shows the folder of a task in the system's file manager. */
  reveal?(task: string): Promise<void>;
  /** What this desktop lacks. */
  lacks?(): Promise<Lacks>;
  /** Whether Hermit starts when the person logs in; sets it when told to. */
  autostart?(on?: boolean): Promise<boolean>;
}

/** Anything thrown, as a refusal: a bug of ours is `failed` and says so. */
export function refusal(thrown: unknown): Refused {
  if (thrown instanceof Refused) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new Refused({ code: "failed", message });
}
