// A host over loopback HTTP: commands by POST, notices as a stream of server-sent events, a session in a header. The
// session is kept where this scheme, name and port alone can read it, for as long as the tab is open; another tab of
// this host asks for it (`tabs.ts`). No cookie: cookies know no ports, and would go to every server of this machine.
import type { CommandName, Commands } from "~/ipc/generated/commands";
import type { Error as WireError, Notice } from "~/ipc/generated/shared";
import { type Devices, type Files, type Host, type Keyring, type Link, type OfMesh, type Passkeys, type Pen, type Pushes, Refused } from "./host";
import { pushesOf } from "./push";
import { Tabs } from "./tabs";
import { type SignInAsked, make, placeOf, sign, signIn } from "./webauthn";

const tokenIn = (hash: string): string | null => new URLSearchParams(hash.replace(/^#\/?\??/, "")).get("token");

/** Where the tab was when another link was opened in it: kept until that link is taken. */
const PLACE = "hermit-place";
/** What is longer is no place of a screen. */
const PLACE_MAX = 8_192;

/** Where the tab was, once; the first screen where it was nowhere. */
function placeLeft(): string {
  const left = sessionStorage.getItem(PLACE);
  sessionStorage.removeItem(PLACE);
  return left?.startsWith("/") === true ? left : "/";
}

/** Takes the one-time token from the address, so that it neither stays in the history nor goes along with a link. In its place stands
 *  where the tab was before. */
export function takeToken(location: Location, history: History): string | null {
  const given = tokenIn(location.hash);
  if (given !== null) history.replaceState(null, "", `${location.pathname}${location.search}#${placeLeft()}`);
  return given;
}

/** A link that is opened in a tab of this host changes its fragment alone, which loads nothing: the page is loaded anew then, takes
 *  the token and comes back to where it was. Returns how to stop hearing. */
export function hearTokens(at: Window, load: () => void): () => void {
  const heard = ({ oldURL }: HashChangeEvent) => {
    if (tokenIn(at.location.hash) === null) return;
    const left = oldURL.slice(oldURL.indexOf("#") + 1);
    // Of two links in a row, the first is no place.
    if (left.startsWith("/") && left.length <= PLACE_MAX && tokenIn(`#${left}`) === null) sessionStorage.setItem(PLACE, left);
    load();
  };
  at.addEventListener("hashchange", heard);
  return () => at.removeEventListener("hashchange", heard);
}

function isWireError(value: unknown): value is WireError {
  return typeof value === "object" && value !== null && "code" in value && "message" in value;
}

async function refused(answer: Response): Promise<Refused> {
  const body: unknown = await answer.json().catch(() => null);
  if (isWireError(body)) return new Refused(body);
  return new Refused({ code: "failed", message: `the host answered ${answer.status} without saying why` });
}

const NO_SESSION = {
  code: "unauthorised",
  message: "this browser has no session with the host",
  hint: "open a new link: on this machine `hermit serve` or `hermit open` prints one, for a phone `hermit open --phone`; each works once",
} as const;

/** What a proxy before the host answers where it knows nobody. */
const NO_LOGIN = {
  code: "unavailable",
  message: "something between this page and the host asks who you are",
  hint: "load this page anew, and log in where you are asked to",
} as const;

const KEPT = "hermit-session";
/** How long the host has to say whether it knows a session that another tab offers. */
const KNOWS_MS = 10_000;

function session(): string {
  return sessionStorage.getItem(KEPT) ?? "";
}

const tabs = new Tabs({ session, keep: (other) => sessionStorage.setItem(KEPT, other), knows });

/** Calls `heard` whenever another tab of this host tells of a session. Returns how to stop hearing. */
export const hearSessions = (heard: () => void): (() => void) => tabs.listen(heard);

/** Keeps a session that the host has opened; other tabs whose own is gone go on with it. */
function opens(opened: string): void {
  sessionStorage.setItem(KEPT, opened);
  if (opened !== "") tabs.tell(opened);
}

async function knows(offered: string): Promise<boolean> {
  try {
    const headers = { "x-hermit-session": offered };
    return (await fetch("/api/session", { headers, redirect: "error", credentials: credentials(), signal: AbortSignal.timeout(KNOWS_MS) })).ok;
  } catch {
    return false;
  }
}

/** What stands before a host elsewhere may know a person by a cookie of its own, so those of this origin go along there; nothing of
 *  ours rests on one. On the machine itself none does: cookies know no ports, and other programs' would go to the host. */
const credentials = (): RequestCredentials => (location.protocol === "https:" ? "same-origin" : "omit");

async function sent(path: string, init: RequestInit, of: string): Promise<Response> {
  try {
    const headers = { ...(init.headers as Record<string, string> | undefined), "x-hermit-session": of };
    return await fetch(path, { ...init, headers, redirect: "error", credentials: credentials() });
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === "AbortError") throw thrown;
    throw new Refused({
      code: "unavailable",
      message: "the host does not answer",
      hint: "start it with `hermit serve`, then open the link that it prints",
    });
  }
}

/** Asks the host. Where it does not know the session (any more), another tab's takes its place and it is asked once more: nothing of
 *  what was refused so was done. What opens a session (`isOpening`) needs none. */
async function ask(path: string, init: RequestInit = {}, isOpening = false): Promise<Response> {
  const used = session();
  let answer = await sent(path, init, used);
  if (answer.status === 401) {
    // The host says each refusal in its own words; a login of a proxy does not.
    if (!isWireError(await answer.json().catch(() => null))) throw new Refused(NO_LOGIN);
    if (isOpening || !(await tabs.revive(used))) throw new Refused(NO_SESSION);
    answer = await sent(path, init, session());
    if (answer.status === 401) throw new Refused(NO_SESSION);
  }
  if (!answer.ok) throw await refused(answer);
  return answer;
}

const JSON_POST = { method: "POST", headers: { "content-type": "application/json" } } as const;

/** As bytes: text with a character that JSON escapes would leave a copy behind in the host. */
function bytes(passphrase: string): number[] {
  return [...new TextEncoder().encode(passphrase)];
}

/** Lets the browser save bytes under a name. */
function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Exchanges the token of a link for a session; false where the host does not take it (any more). */
async function isTaken(token: string): Promise<boolean> {
  try {
    const answer = await ask("/api/session", { ...JSON_POST, body: JSON.stringify({ token }) }, true);
    opens(((await answer.json()) as { session?: string }).session ?? "");
    return true;
  } catch (thrown) {
    if (thrown instanceof Refused && thrown.code === "unauthorised") return false;
    throw thrown;
  }
}

/** What only a page of this host may ask. */
async function told<T>(path: string, body: object, isOpening = false): Promise<T> {
  return (await (await ask(`/api/session/${path}`, { ...JSON_POST, body: JSON.stringify(body) }, isOpening)).json()) as T;
}

export class HttpHost implements Host {
  readonly kind = "http" as const;
  readonly deciding = "passphrase" as const;

  /** Exchanges a one-time token for a session, or finds the one there is: also where the link was used before. */
  static async open(token: string | null): Promise<HttpHost> {
    tabs.open();
    if (token === null || !(await isTaken(token))) await ask("/api/session");
    return new HttpHost();
  }

  /** Signs a page in whose session is gone, by a passkey of its origin. */
  static async signIn(): Promise<HttpHost> {
    const signed = await signIn(await told<SignInAsked>("passkey/sign_in_options", {}, true));
    opens((await told<{ session: string }>("passkey/sign_in", signed, true)).session);
    return new HttpHost();
  }

  constructor() {
    // What this browser was notified by is this page's from now on, and ends with it.
    void this.pushes.adopt().catch(() => undefined);
  }

  readonly person = {
    boot: async (passphrase: string) => { await told("boot", { passphrase: bytes(passphrase) }); },
    settle: async (found: { task: string; result: string; note: string }, passphrase: string) => {
      await told("settle", { ...found, passphrase: bytes(passphrase) });
    },
    resume: async (paused: { of: "schedule" | "gateway"; name: string }, passphrase: string) => {
      await told("resume", { ...paused, passphrase: bytes(passphrase) });
    },
    mesh: <N extends OfMesh>(command: N, params: Commands[N]["params"], passphrase: string) =>
      told<Commands[N]["answer"]>("mesh", { command, params, passphrase: bytes(passphrase) }),
  };

  readonly keys: Keyring = {
    state: () => told("keys", {}),
    make: ({ keychain, vault, approval }) => told("keys/make", { keychain, approval_passphrase: bytes(approval), ...(vault === null ? {} : { vault_passphrase: bytes(vault) }) }),
    unlock: (passphrase) => told("keys/unlock", passphrase === null ? {} : { passphrase: bytes(passphrase) }),
    change: ({ of, old, next }) => told("keys/passphrase", { approval: of === "approval", old: bytes(old), new: bytes(next) }),
    lock: () => told("keys/lock", {}),
  };

  readonly passkeys: Passkeys = {
    place: placeOf(location, globalThis.isSecureContext === true, typeof PublicKeyCredential !== "undefined"),
    make: async () => make(await told("passkey/options", {})),
    add: (name, attested, passphrase) => told("passkey/enrol", { name, attested, passphrase: bytes(passphrase) }),
    ask: ({ ticket, packet_sha256 }) => told("passkey/ask", { ticket, packet_sha256 }),
    allow: async ({ ticket, packet_sha256 }, asked, word) => {
      await told("allow", { ticket, packet_sha256, passkey: await sign(asked), ...(word === null ? {} : { word }) });
    },
  };

  readonly devices: Devices = {
    list: () => told("devices", {}),
    link: (to) => told("devices/link", { to }),
    end: (number) => told("devices/end", { number }),
  };

  readonly pushes: Pushes & { adopt(): Promise<void> } = pushesOf(told, placeOf(location, globalThis.isSecureContext === true, true).origin !== null);

  readonly files: Files = {
    upload: async (file) => {
      const answer = await ask(`/api/session/upload?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
      return ((await answer.json()) as { upload: string }).upload;
    },
    save: (text, name) => save(new Blob([text], { type: "application/octet-stream" }), name),
    download: async (command, params, name) => {
      const body = JSON.stringify({ command, params, name });
      const answer = await ask("/api/session/download", { ...JSON_POST, body });
      save(await answer.blob(), name);
      return JSON.parse(answer.headers.get("x-hermit-answer") ?? "null") as never;
    },
  };

  async call<N extends CommandName>(name: N, params: Commands[N]["params"], signal?: AbortSignal) {
    const body = JSON.stringify(params);
    const answer = await ask(`/api/${name}`, { ...JSON_POST, body, signal: signal ?? null });
    return (await answer.json()) as Commands[N]["answer"];
  }

  readonly pen: Pen = {
    sit: (approval) => told("card", { approval }),
    allow: async ({ ticket, packet_sha256 }, passphrase, word, lasting) => {
      await told("allow", { ticket, packet_sha256, passphrase: bytes(passphrase), ...(word === null ? {} : { word }), ...(lasting === null ? {} : { lasting }) });
    },
    offers: (approval, scope, days, uses) => told("offers", { approval, scope, days, uses }),
    prepareOverride: (act, reason, hours, uses) => told("prepare_override", { act, reason, hours, uses }),
    allowOverride: async ({ ticket, words }, passphrase, word) => { await told("allow_override", { ticket, words, passphrase: bytes(passphrase), word }); },
  };

  /** The number of the stream of notices, while there is one. */
  #listener: number | null = null;
  #shown: string | null = null;
  /** What the host goes by for this stream; not known while it is being told. */
  #told: string | null | undefined = null;
  /** How often it was told, or a stream began: what came of an earlier time counts no more. */
  #turns = 0;
  #telling: Promise<void> = Promise.resolve();
  #link: ((link: Link) => void) | null = null;

  listen(notice: (notice: Notice) => void, link: (link: Link) => void): () => void {
    const ended = new AbortController();
    const tells = (now: Link) => { if (!ended.signal.aborted) link(now); };
    this.#link = tells;
    void follow(notice, tells, ended.signal, (listener) => {
      this.#greet(listener);
      return listener === null ? Promise.resolve() : this.#tellShown();
    });
    return () => {
      ended.abort();
      this.#greet(null);
    };
  }

  shows(conversation: string | null): Promise<void> {
    this.#shown = conversation;
    return this.#tellShown();
  }

  #greet(listener: number | null): void {
    this.#listener = listener;
    this.#told = null;
    this.#turns += 1;
  }

  /** One after the other, so that what is shown at last counts. Where no stream is heard, the next one is told. */
  #tellShown(): Promise<void> {
    this.#telling = this.#telling.then(() => Promise.race([this.#tell(), pause(TELL_MS)]));
    return this.#telling;
  }

  async #tell(): Promise<void> {
    const [listener, shown] = [this.#listener, this.#shown];
    if (listener === null || shown === this.#told) return;
    this.#told = undefined;
    this.#turns += 1;
    const turn = this.#turns;
    try {
      await told("shows", { listener, conversation: shown });
      if (turn === this.#turns) this.#told = shown;
    } catch {
      // Nothing of it would be heard, while the stream goes on as if all were well.
      setTimeout(() => { if (turn === this.#turns) void this.#tellAgain(); }, AGAIN_MS);
    }
  }

  /** What was not heard in between is asked for, as behind a stream that was lost. */
  async #tellAgain(): Promise<void> {
    await this.#tellShown();
    if (this.#listener !== null && this.#told === this.#shown) this.#link?.("live");
  }
}

/** How long a lost stream waits before it is asked for again. */
const AGAIN_MS = 2000;
/** How long a page waits until its host has heard what it shows, before it goes on. */
const TELL_MS = 5000;

const pause = (ms: number) => new Promise<void>((over) => { setTimeout(over, ms); });

/** Reads notices for as long as anybody listens. An `EventSource` sends no header, so the stream is read by hand. */
async function follow(notice: (notice: Notice) => void, link: (link: Link) => void, ended: AbortSignal, greeted: (listener: number | null) => Promise<void>): Promise<void> {
  link("opening");
  while (!ended.aborted) {
    let gone: Link = "lost";
    try {
      const answer = await ask("/api/notices", { headers: { accept: "text/event-stream" }, signal: ended });
      await hear(answer, notice, link, greeted);
    } catch (thrown) {
      // Whatever broke off is asked for again: another link may bring a session.
      if (!ended.aborted && thrown instanceof Refused && thrown.code === "unauthorised") gone = "ended";
    }
    if (ended.aborted) return;
    void greeted(null);
    link(gone);
    // A session that another tab tells of is one of a host that answers again.
    await tabs.wait(AGAIN_MS);
  }
}

async function hear(answer: Response, notice: (notice: Notice) => void, link: (link: Link) => void, greeted: (listener: number | null) => Promise<void>): Promise<void> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let piece = await reader?.read(); piece !== undefined && !piece.done; piece = await reader?.read()) {
    const blocks = (rest + piece.value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const kind = /^event: ?(.*)$/m.exec(block)?.[1];
      const data = /^data: ?(.*)$/m.exec(block)?.[1];
      // The first word after every connection: whatever happened before it was not heard.
      if (kind === "hello") {
        // What is asked for behind this goes on where the words that come begin.
        await greeted((JSON.parse(data ?? "{}") as { listener?: number }).listener ?? null);
        link("live");
      } else if (kind !== undefined && data !== undefined) notice(JSON.parse(data) as Notice);
    }
  }
}
