import { afterEach, expect, test, vi } from "vitest";
import { HttpHost, hearTokens, takeToken } from "./http";
import { type Link, Refused } from "./host";

afterEach(() => {
  vi.unstubAllGlobals();
  sessionStorage.clear();
});

function answers(of: (path: string, init: RequestInit) => Response | Promise<Response>) {
  const asked: { path: string; init: RequestInit }[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    asked.push({ path, init });
    return of(path, init);
  });
  return asked;
}

async function opened(): Promise<HttpHost> {
  answers(() => Response.json({}));
  return HttpHost.open(null);
}

test("the token is taken from the address once and does not stay there", () => {
  window.history.replaceState(null, "", "/#token=abc123");
  expect(takeToken(window.location, window.history)).toBe("abc123");
  expect(window.location.hash).toBe("#/");
  expect(takeToken(window.location, window.history)).toBeNull();
});

test("a new link that is opened in a tab of this host is taken there, and the tab comes back to where it was", () => {
  const load = vi.fn();
  const stop = hearTokens(window, load);
  const goes = (hash: string, from = "") => {
    window.history.replaceState(null, "", `/${hash}`);
    window.dispatchEvent(new HashChangeEvent("hashchange", { oldURL: `${window.location.origin}/${from}`, newURL: window.location.href }));
  };
  const taken = () => [takeToken(window.location, window.history), window.location.hash];
  goes("#/tasks");
  expect(load).not.toHaveBeenCalled();
  goes("#token=abc123", "#/task/tsk_1?see=rcp_2");
  expect(load).toHaveBeenCalledTimes(1);
  expect(taken()).toEqual(["abc123", "#/task/tsk_1?see=rcp_2"]);
  // It comes back once; what is no place of a screen is none to come back to, and of two links in a row the first is none.
  for (const from of ["", "#main", `#/${"x".repeat(10_000)}`]) {
    goes("#token=abc124", from);
    expect(taken()).toEqual(["abc124", "#/"]);
  }
  goes("#token=abc126", "#/settings");
  goes("#token=abc127", "#token=abc126");
  expect(taken()).toEqual(["abc127", "#/settings"]);
  expect(sessionStorage.length).toBe(0);
  const before = load.mock.calls.length;
  stop();
  goes("#token=abc128", "#/");
  expect(load).toHaveBeenCalledTimes(before);
});

test("a link that was used before opens a tab that has a session, and no other", async () => {
  const refuses = () => Response.json({ code: "unauthorised", message: "this link was used before, or has expired", hint: "" }, { status: 401 });
  const asked = answers((_, init) => (init.method !== "POST" && new Headers(init.headers).get("x-hermit-session") === "5e55" ? Response.json({}) : refuses()));
  await expect(HttpHost.open("abc123")).rejects.toMatchObject({ code: "unauthorised", hint: expect.stringContaining("each works once") });
  sessionStorage.setItem("hermit-session", "5e55");
  await HttpHost.open("abc123");
  expect(asked.map((one) => [one.path, one.init.method])).toEqual([["/api/session", "POST"], ["/api/session", undefined], ["/api/session", "POST"], ["/api/session", undefined]]);
  expect(sessionStorage.getItem("hermit-session")).toBe("5e55");
  // One that does not answer is not taken for one that refuses.
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed to fetch")));
  await expect(HttpHost.open("abc123")).rejects.toMatchObject({ code: "unavailable" });
});

test("a host that knows the session no more is told apart from one that does not answer", async () => {
  const heard = async (answer: () => Response | Promise<Response>) => {
    const host = await opened();
    answers(answer);
    return new Promise<Link>((done) => {
      const stop = host.listen(() => undefined, (link) => {
        if (link === "opening") return;
        queueMicrotask(() => stop());
        done(link);
      });
    });
  };
  expect(await heard(() => Response.json({ code: "unauthorised", message: "the token is missing or wrong", hint: "" }, { status: 401 }))).toBe("ended");
  expect(await heard(() => Promise.reject(new TypeError("failed to fetch")))).toBe("lost");
});

test("a page whose host was started anew goes on where it is with the session of another tab, and tells the others of its own", async () => {
  const said: unknown[] = [];
  let hear: ((event: { data: unknown }) => void) | null = null;
  vi.stubGlobal("BroadcastChannel", class {
    set onmessage(heard: (event: { data: unknown }) => void) { hear = heard; }
    postMessage(data: { kind: string }) {
      said.push(data);
      if (data.kind === "wanted") queueMicrotask(() => hear?.({ data: { kind: "session", session: "new" } }));
    }
  });
  // The channel belongs to the page: this is another one.
  vi.resetModules();
  const page = await import("./http");
  const asked = answers((path, init) => {
    if (init.method === "POST" && path === "/api/session") return Response.json({ session: "mine" });
    const isKnown = ["new", "mine"].includes(new Headers(init.headers).get("x-hermit-session") ?? "");
    return isKnown ? Response.json({ rows: [] }) : Response.json({ code: "unauthorised", message: "the token is missing or wrong", hint: "" }, { status: 401 });
  });
  sessionStorage.setItem("hermit-session", "old");
  const host = await page.HttpHost.open(null);
  expect(sessionStorage.getItem("hermit-session")).toBe("new");
  // In the middle of its work as well: what was refused is sent once more, as it was.
  sessionStorage.setItem("hermit-session", "older");
  const before = asked.length;
  expect(await host.call("task.list", { limit: 5 })).toEqual({ rows: [] });
  expect(asked.slice(before).map((one) => [one.path, one.init.body ?? null, new Headers(one.init.headers).get("x-hermit-session")])).toEqual([
    ["/api/task.list", '{"limit":5}', "older"], ["/api/session", null, "new"], ["/api/task.list", '{"limit":5}', "new"],
  ]);
  await page.HttpHost.open("abc123");
  expect(said.at(-1)).toEqual({ kind: "session", session: "mine" });
  expect(said.filter((one) => (one as { kind: string }).kind === "wanted")).toHaveLength(2);
});

test("a token is exchanged for a session, and is sent nowhere else", async () => {
  const asked = answers((path) => Response.json(path === "/api/session" ? { session: "5e55" } : { rows: [] }));
  const host = await HttpHost.open("abc123");
  await host.call("task.list", { limit: 5 });
  expect(asked.map((one) => [one.path, one.init.body])).toEqual([
    ["/api/session", '{"token":"abc123"}'],
    ["/api/task.list", '{"limit":5}'],
  ]);
  expect(asked.every((one) => one.init.redirect === "error")).toBe(true);
});

test("the session goes along in a header, and no cookie does", async () => {
  const asked = answers((path) => Response.json(path === "/api/session" ? { session: "5e55" } : { rows: [] }));
  await (await HttpHost.open("abc123")).call("task.list", {});
  await (await HttpHost.open(null)).call("task.list", {});
  expect(asked.slice(1).map((one) => new Headers(one.init.headers).get("x-hermit-session"))).toEqual(["5e55", "5e55", "5e55"]);
  expect(asked.every((one) => one.init.credentials === "omit")).toBe(true);
  expect(document.cookie).toBe("");
});

test("a passphrase goes as its bytes, so that no escape of it is needed", async () => {
  const asked = answers(() => Response.json({}));
  const host = await HttpHost.open("abc123");
  await host.person.boot("a\"b");
  expect(asked.at(-1)?.init.body).toBe('{"passphrase":[97,34,98]}');
  await host.person.mesh("mesh.answer", { approval: "apr_1", allow: false, packet_sha256: "00" }, "a\"b");
  expect([asked.at(-1)?.path, asked.at(-1)?.init.body]).toEqual(["/api/session/mesh", '{"command":"mesh.answer","params":{"approval":"apr_1","allow":false,"packet_sha256":"00"},"passphrase":[97,34,98]}']);
});

test("without a session a person is told which link to open", async () => {
  answers(() => new Response(JSON.stringify({ code: "unauthorised", message: "the token is missing or wrong", hint: "" }), { status: 401 }));
  await expect(HttpHost.open(null)).rejects.toMatchObject({ code: "unauthorised", hint: expect.stringContaining("hermit serve") });
  for (const login of ["<h1>Log in</h1>", "{}"]) {
    answers(() => new Response(login, { status: 401 }));
    await expect(HttpHost.open(null)).rejects.toMatchObject({ code: "unavailable", hint: expect.stringContaining("log in") });
  }
});

test("an error keeps its code, its words and its advice", async () => {
  answers((path) => path === "/api/session" ? Response.json({}) : Response.json({ code: "halted", message: "Hermit is halted", hint: "boot it" }, { status: 409 }));
  const host = await HttpHost.open(null);
  const failed = await host.call("task.pause", { task: "x" }).catch((thrown: unknown) => thrown);
  expect(failed).toBeInstanceOf(Refused);
  expect(failed).toMatchObject({ code: "halted", message: "Hermit is halted", hint: "boot it" });
});

test("a host that is gone is told as unavailable", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed to fetch")));
  await expect(HttpHost.open(null)).rejects.toMatchObject({ code: "unavailable" });
});

test("an answer that is no JSON is told by its status", async () => {
  answers((path) => path === "/api/session" ? Response.json({}) : new Response("<html>", { status: 502 }));
  const host = await HttpHost.open(null);
  await expect(host.call("gate.state", {})).rejects.toMatchObject({ code: "failed", message: expect.stringContaining("502") });
});

/** A host of streams of notices, and what pages told it that they show. */
async function streaming(shows: () => Response | Promise<Response>) {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const asked = answers((path) => {
    if (path === "/api/session/shows") return shows();
    if (path !== "/api/notices") return Response.json(null);
    return new Response(new ReadableStream<Uint8Array>({ start: (stream) => { streams.push(stream); } }));
  });
  const host = await HttpHost.open(null);
  const links: Link[] = [];
  const stop = host.listen(() => undefined, (link) => { links.push(link); });
  return {
    host, links, stop,
    told: () => asked.filter((one) => one.path === "/api/session/shows").map((one) => one.init.body),
    greets: async (number: number, listener: number) => {
      await vi.waitFor(() => expect(streams).toHaveLength(number), AWAITED);
      streams[number - 1]?.enqueue(new TextEncoder().encode(`event: hello\ndata: {"store_id":"s","listener":${listener}}\n\n`));
    },
    breaks: (number: number) => streams[number - 1]?.close(),
  };
}

const AWAITED = { timeout: 30_000 };
const shown = (listener: number, conversation: string | null) => JSON.stringify({ listener, conversation });

test("a page tells which conversation it shows, to each stream anew, and the last one counts", async () => {
  const page = await streaming(() => Response.json(null));
  await page.host.shows("cnv_1");
  expect(page.told()).toEqual([]);
  await page.greets(1, 7);
  await vi.waitFor(() => expect(page.told()).toEqual([shown(7, "cnv_1")]), AWAITED);
  await Promise.all([page.host.shows(null), page.host.shows("cnv_2")]);
  expect(page.told()).toEqual([shown(7, "cnv_1"), shown(7, "cnv_2")]);
  page.breaks(1);
  await page.greets(2, 8);
  await vi.waitFor(() => expect(page.told().slice(2)).toEqual([shown(8, "cnv_2")]), AWAITED);
  page.stop();
});

test("a conversation that is left and shown again at once is heard all along, and its host is told nothing", async () => {
  const page = await streaming(() => Response.json(null));
  await page.greets(1, 7);
  await vi.waitFor(() => expect(page.links).toContain("live"), AWAITED);
  await page.host.shows("cnv_1");
  await Promise.all([page.host.shows(null), page.host.shows("cnv_1")]);
  expect(page.told()).toEqual([shown(7, "cnv_1")]);
  await page.host.shows(null);
  await page.host.shows("cnv_1");
  expect(page.told().slice(1)).toEqual([shown(7, null), shown(7, "cnv_1")]);
  page.stop();
});

test("a stream is live when its host knows what is shown, so that no words fall between what is asked for and what is heard", async () => {
  let knows: (answer: Response) => void = () => undefined;
  const page = await streaming(() => new Promise<Response>((answer) => { knows = answer; }));
  void page.host.shows("cnv_1");
  await page.greets(1, 7);
  await vi.waitFor(() => expect(page.told()).toHaveLength(1), AWAITED);
  expect(page.links).toEqual(["opening"]);
  knows(Response.json(null));
  await vi.waitFor(() => expect(page.links).toEqual(["opening", "live"]), AWAITED);
  page.stop();
});

test("what is shown is told again where that did not reach the host, and asked for then", async () => {
  let reaches = false;
  const page = await streaming(() => (reaches ? Response.json(null) : Promise.reject(new TypeError("failed to fetch"))));
  await page.greets(1, 7);
  await vi.waitFor(() => expect(page.links).toEqual(["opening", "live"]), AWAITED);
  await page.host.shows("cnv_1");
  expect(page.told()).toHaveLength(1);
  reaches = true;
  await vi.waitFor(() => expect(page.links).toEqual(["opening", "live", "live"]), AWAITED);
  expect(page.told()).toEqual([shown(7, "cnv_1"), shown(7, "cnv_1")]);
  page.stop();
});
