// A host over loopback HTTP: the same commands by POST, notices as a stream of server-sent events.
import type { CommandName, Commands } from "~/ipc/generated/commands";
import type { Code, Notice } from "~/ipc/generated/shared";
import { type Host, type Link, Refused } from "./host";

const TOKEN_KEY = "hermit.token";
const RETRY_MS = [250, 500, 1000, 2000, 4000, 8000] as const;

/** Takes the token from the address once, so that it neither stays in the history nor leaks with a link. */
export function takeToken(location: Location, storage: Storage, history: History): string | null {
  const given = new URLSearchParams(location.hash.replace(/^#\/?/, "").replace(/^\?/, "")).get("token");
  if (given !== null) {
    storage.setItem(TOKEN_KEY, given);
    history.replaceState(null, "", `${location.pathname}${location.search}#/`);
    return given;
  }
  return storage.getItem(TOKEN_KEY);
}

function isCode(value: unknown): value is Code {
  return typeof value === "string";
}

async function refused(answer: Response): Promise<Refused> {
  try {
    const body: unknown = await answer.json();
    if (typeof body === "object" && body !== null && "code" in body && "message" in body && isCode(body.code)) {
      const hint = "hint" in body && typeof body.hint === "string" ? body.hint : "";
      const details = "details" in body ? body.details : null;
      return new Refused({ code: body.code, message: String(body.message), hint, details });
    }
  } catch {
    // No JSON: said below by its status.
  }
  return new Refused({ code: "failed", message: `the host answered ${answer.status} without saying why` });
}

export class HttpHost implements Host {
  readonly kind = "http" as const;
  readonly deciding = "passphrase" as const;
  readonly #base: string;
  readonly #token: string | null;

  constructor(base: string, token: string | null) {
    this.#base = base;
    this.#token = token;
  }

  async call<N extends CommandName>(name: N, params: Commands[N]["params"], signal?: AbortSignal) {
    const answer = await this.#fetch(`/v1/command/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(params),
      signal: signal ?? null,
    });
    return (await answer.json()) as Commands[N]["answer"];
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#token !== null) headers.set("authorization", `Bearer ${this.#token}`);
    let answer: Response;
    try {
      answer = await fetch(this.#base + path, { ...init, headers, redirect: "error", credentials: "same-origin" });
    } catch (thrown) {
      if (thrown instanceof DOMException && thrown.name === "AbortError") throw thrown;
      throw new Refused({
        code: "unavailable",
        message: "the host does not answer",
        hint: "start it with `hermit serve`, then open the address that it prints",
      });
    }
    if (!answer.ok) throw await refused(answer);
    return answer;
  }

  listen(notice: (notice: Notice) => void, link: (link: Link) => void): () => void {
    const stop = new AbortController();
    void this.#follow(notice, link, stop.signal);
    return () => stop.abort();
  }

  /** Follows the stream and opens it again for as long as somebody listens. */
  async #follow(notice: (notice: Notice) => void, link: (link: Link) => void, signal: AbortSignal) {
    link("opening");
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        const answer = await this.#fetch("/v1/events", { headers: { accept: "text/event-stream" }, signal });
        link("live");
        tries = 0;
        if (answer.body !== null) await readNotices(answer.body, notice);
      } catch {
        // Lost, or refused: either way it is tried again, and the screens say that they may be old.
      }
      if (signal.aborted) return;
      link("lost");
      const wait = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 8000;
      await new Promise((done) => setTimeout(done, wait));
    }
  }
}

/** Reads `data:` of each event of a stream. */
export async function readNotices(body: ReadableStream<Uint8Array>, notice: (notice: Notice) => void) {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const data = part.split("\n").filter((line) => line.startsWith("data:"));
      if (data.length > 0) notice(JSON.parse(data.map((line) => line.slice(5).trimStart()).join("\n")) as Notice);
    }
  }
}
