// Tabs of one host in one browser: each keeps a session, and hands it to those whose own the host does not know, so that one link
// is enough for all of them. What they tell each other stays with one scheme, name and port.

const CHANNEL = "hermit-session";
/** How long the other tabs have to hand a session over. */
const HANDED_MS = 300;
/** Sessions that are tried, at most, while one is asked for. */
const OFFERS_MAX = 8;
/** Sessions that the host has refused and this tab remembers, at most. */
const REFUSED_MAX = 32;

/** What a tab is to its host. */
interface Own {
  /** The session of this tab; empty where it has none. */
  session(): string;
  /** Takes another in its place. */
  keep(session: string): void;
  /** Whether the host knows a session; false also where it does not answer. */
  knows(session: string): Promise<boolean>;
}

export class Tabs {
  readonly #own: Own;
  readonly #refused = new Set<string>();
  readonly #takers = new Set<(offered: string) => void>();
  readonly #waiting = new Set<() => void>();
  #channel: BroadcastChannel | null = null;
  #asking: Promise<boolean> | null = null;

  constructor(own: Own) {
    this.#own = own;
  }

  /** Hears the other tabs from now on, and answers them; null where the browser lets none of them speak. */
  open(): BroadcastChannel | null {
    if (this.#channel === null && typeof BroadcastChannel !== "undefined") {
      this.#channel = new BroadcastChannel(CHANNEL);
      this.#channel.onmessage = ({ data }: MessageEvent<unknown>) => this.#hear(data);
    }
    return this.#channel;
  }

  /** Tells the other tabs of a session that the host has just opened. */
  tell(session: string): void {
    this.open()?.postMessage({ kind: "session", session });
  }

  /** Gets a session in the place of one that the host refused: the one that came meanwhile, or that of another tab. Whether it did. */
  async revive(refused: string): Promise<boolean> {
    if (this.#own.session() !== refused) return true;
    this.#refuse(refused);
    this.#asking ??= this.#ask().finally(() => { this.#asking = null; });
    return this.#asking;
  }

  /** Calls `heard` whenever another tab tells of a session, until the function that comes back is called. */
  listen(heard: () => void): () => void {
    this.#waiting.add(heard);
    return () => { this.#waiting.delete(heard); };
  }

  /** Waits until another tab tells of a session, and no longer than so many milliseconds. */
  wait(most: number): Promise<void> {
    return new Promise((done) => {
      const over = () => {
        clearTimeout(timer);
        stop();
        done();
      };
      const timer = setTimeout(over, most);
      const stop = this.listen(over);
    });
  }

  #refuse(session: string): void {
    if (session === "") return;
    const [first] = this.#refused;
    if (first !== undefined && this.#refused.size >= REFUSED_MAX) this.#refused.delete(first);
    this.#refused.add(session);
  }

  #hear(data: unknown): void {
    const { kind, session } = (data ?? {}) as { kind?: unknown; session?: unknown };
    const own = this.#own.session();
    // One that the host refused helps nobody.
    if (kind === "wanted" && own !== "" && !this.#refused.has(own)) this.tell(own);
    if (kind !== "session" || typeof session !== "string" || session === "" || this.#refused.has(session)) return;
    for (const take of [...this.#takers]) take(session);
    if (this.#takers.size === 0) for (const heard of [...this.#waiting]) heard();
  }

  /** Asks the other tabs, and takes the first session that the host knows. */
  async #ask(): Promise<boolean> {
    const channel = this.open();
    if (channel === null) return false;
    const before = this.#own.session();
    const tries = new Map<string, Promise<boolean>>();
    let take: (offered: string) => void = () => undefined;
    const found = new Promise<boolean>((done) => {
      take = (offered) => {
        if (tries.has(offered) || tries.size >= OFFERS_MAX) return;
        const isKnown = this.#own.knows(offered);
        tries.set(offered, isKnown);
        void isKnown.then((is) => {
          if (!is) return;
          if (this.#own.session() === before) this.#own.keep(offered);
          done(true);
        });
      };
      // What was offered in time is tried to its end.
      setTimeout(() => void Promise.all(tries.values()).then(() => done(this.#own.session() !== before)), HANDED_MS);
    });
    this.#takers.add(take);
    channel.postMessage({ kind: "wanted" });
    return found.finally(() => { this.#takers.delete(take); });
  }
}
