// A host over loopback HTTP: commands by POST, notices as a stream of server-sent events, a session by cookie.
import type { CommandName, Commands } from "~/ipc/generated/commands";
import type { Error as WireError, Notice } from "~/ipc/generated/shared";
import { type Host, type Link, type Pen, Refused } from "./host";

/** Takes the one-time token from the address, so that it neither stays in the history nor goes along with a link. */
export function takeToken(location: Location, history: History): string | null {
  const given = new URLSearchParams(location.hash.replace(/^#\/?\??/, "")).get("token");
  if (given !== null) history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  return given;
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
  hint: "open the link that `hermit serve` prints; each link works once, for ten minutes",
} as const;

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, redirect: "error", credentials: "same-origin" });
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === "AbortError") throw thrown;
    throw new Refused({
      code: "unavailable",
      message: "the host does not answer",
      hint: "start it with `hermit serve`, then open the link that it prints",
    });
  }
  if (answer.status === 401) throw new Refused(NO_SESSION);
  if (!answer.ok) throw await refused(answer);
  return answer;
}

const JSON_POST = { method: "POST", headers: { "content-type": "application/json" } } as const;

/** What only a page of this host may ask. */
async function told<T>(path: string, body: object): Promise<T> {
  return (await (await ask(`/api/session/${path}`, { ...JSON_POST, body: JSON.stringify(body) })).json()) as T;
}

export class HttpHost implements Host {
  readonly kind = "http" as const;
  readonly deciding = "passphrase" as const;

  /** Exchanges a one-time token for a session, or finds the one there is. */
  static async open(token: string | null): Promise<HttpHost> {
    if (token === null) await ask("/api/session");
    else await ask("/api/session", { ...JSON_POST, body: JSON.stringify({ token }) });
    return new HttpHost();
  }

  async call<N extends CommandName>(name: N, params: Commands[N]["params"], signal?: AbortSignal) {
    const body = JSON.stringify(params);
    const answer = await ask(`/api/${name}`, { ...JSON_POST, body, signal: signal ?? null });
    return (await answer.json()) as Commands[N]["answer"];
  }

  readonly pen: Pen = {
    sit: (approval) => told("card", { approval }),
    allow: async ({ ticket, packet_sha256 }, passphrase, word, lasting) => {
      await told("allow", { ticket, packet_sha256, passphrase, ...(word === null ? {} : { word }), ...(lasting === null ? {} : { lasting }) });
    },
    offers: (approval, scope, days, uses) => told("offers", { approval, scope, days, uses }),
    object: (act, reason, hours, uses) => told("objection", { act, reason, hours, uses }),
    overrule: async ({ ticket, words }, passphrase, word) => { await told("overrule", { ticket, words, passphrase, word }); },
  };

  listen(notice: (notice: Notice) => void, link: (link: Link) => void): () => void {
    link("opening");
    const source = new EventSource("/api/notices");
    const heard = (event: MessageEvent<string>) => notice(JSON.parse(event.data) as Notice);
    // The first word after every connection: whatever happened before it was not heard.
    source.addEventListener("hello", () => link("live"));
    for (const kind of ["event", "delta", "progress"]) source.addEventListener(kind, heard);
    let again: ReturnType<typeof setTimeout> | undefined;
    let inner = () => source.close();
    source.addEventListener("error", () => {
      link("lost");
      // A browser gives up after an answer that is no stream, such as one while the host starts again.
      if (source.readyState === EventSource.CLOSED) {
        again = setTimeout(() => (inner = this.listen(notice, link)), 2000);
      }
    });
    return () => {
      clearTimeout(again);
      source.close();
      inner();
    };
  }
}
