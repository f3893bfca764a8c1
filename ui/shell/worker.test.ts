import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isLasting } from "../src/app/shell";
import { workerOf } from "./plugin";

const SOURCE = readFileSync(join(__dirname, "worker.js"), "utf8");
const AT = "https://desk.example/";
const built = (index = "run()") => workerOf(SOURCE, new Map([["offline.html", "<p>off"], ["assets/index-1.js", index]]));
const versionOf = (worker: string) => /VERSION = "(\w+)"/.exec(worker)?.[1];

interface Asked { request: { url: string; method: string; mode: string }; respondWith: (answer: Promise<string>) => void }

/** The worker, with a network that answers as told and a cache that answers with names. */
function begun(network: () => Promise<{ status: number }>) {
  const heard = new Map<string, (event: unknown) => void>();
  const self = { addEventListener: (kind: string, heed: (event: unknown) => void) => heard.set(kind, heed), location: new URL(AT), registration: { scope: AT } };
  const caches = { match: (what: string | { url: string }) => Promise.resolve(`kept ${typeof what === "string" ? what : what.url}`) };
  new Function("self", "caches", "fetch", "Response", built())(self, caches, network, {});
  return async (path: string, mode = "cors", method = "GET") => {
    let answer: Promise<unknown> | null = null;
    const event: Asked = { request: { url: new URL(path, AT).href, method, mode }, respondWith: (given) => { answer = given; } };
    heard.get("fetch")?.(event);
    return answer as unknown;
  };
}

test("a worker has another version whenever a file of its shell is another", () => {
  expect(versionOf(built())).toMatch(/^[0-9a-f]{16}$/);
  expect(versionOf(built())).toBe(versionOf(built()));
  expect(versionOf(built("other()"))).not.toBe(versionOf(built()));
  expect(built()).toContain('const SHELL = ["assets/index-1.js","offline.html"];');
});

test("only the listed files and the load of the page are answered; no answer of a host is touched or kept", async () => {
  const asks = begun(() => Promise.resolve({ status: 200 }));
  for (const path of ["/api/session", "/api/notices", "/api/task.list", "/v1/runs", "/mcp", "/assets/other.js", "/assets/index-1.js?x=1", "https://elsewhere.example/offline.html"]) expect(await asks(path), path).toBeNull();
  expect(await asks("/api/session", "cors", "POST")).toBeNull();
  expect(await asks("/assets/index-1.js")).toBe(`kept ${AT}assets/index-1.js`);
  expect(await asks("/", "navigate")).toEqual({ status: 200 });
  expect(SOURCE).not.toMatch(/cache\.put|\.put\(/);
});

test("a computer that is not reached is said by a plain page", async () => {
  expect(await begun(() => Promise.reject(new TypeError("offline")))("/", "navigate")).toBe("kept offline.html");
  expect(await begun(() => Promise.resolve({ status: 502 }))("/", "navigate")).toBe("kept offline.html");
  expect(await begun(() => Promise.resolve({ status: 403 }))("/", "navigate")).toEqual({ status: 403 });
});

test("the page that says so is loaded anew as it stands: a link that was opened in it is not lost", () => {
  const from = (name: string) => readFileSync(join(__dirname, "../public", name), "utf8");
  expect(from("offline.html")).toContain('<script src="./offline.js" defer></script>');
  const heard = new Map<string, (event: { preventDefault: () => void }) => void>();
  const addEventListener = (kind: string, heed: (event: { preventDefault: () => void }) => void) => heard.set(kind, heed);
  const did: string[] = [];
  const event = { preventDefault: () => did.push("stays") };
  new Function("location", "addEventListener", "document", from("offline.js"))({ reload: () => did.push("again") }, addEventListener, { querySelector: () => ({ addEventListener }) });
  heard.get("hashchange")?.(event);
  heard.get("click")?.(event);
  expect(did).toEqual(["again", "stays", "again"]);
});

/** The worker with pages that are open, and what it showed and did. */
function heard(pages: { url: string }[] = []) {
  const of = new Map<string, (event: unknown) => void>();
  const shown: { title: string; body: string; path: string }[] = [];
  const did: string[] = [];
  const open = pages.map(({ url }) => ({ url, postMessage: ({ path }: { path: string }) => did.push(`to the page: ${path}`), focus: () => did.push("focus") }));
  const self = {
    addEventListener: (kind: string, heed: (event: unknown) => void) => of.set(kind, heed), location: new URL(AT),
    registration: { scope: AT, showNotification: (title: string, { body, data }: { body: string; data: { path: string } }) => Promise.resolve(shown.push({ title, body, path: data.path })) },
    clients: { matchAll: () => Promise.resolve(open), openWindow: (url: string) => did.push(url) },
  };
  new Function("self", "caches", "fetch", "Response", built())(self, {}, {}, {});
  const tell = async (kind: string, event: object) => {
    let done: Promise<unknown> = Promise.resolve();
    of.get(kind)?.({ ...event, waitUntil: (given: Promise<unknown>) => { done = given; } });
    await done;
  };
  return {
    shown, did,
    push: (data: unknown) => tell("push", { data: { json: () => (data === undefined ? JSON.parse("{") as unknown : data) } }),
    click: (path: unknown) => tell("notificationclick", { notification: { close: () => did.push("closed"), data: { path } } }),
  };
}

test("what a push service brings is shown in words of the worker's own, and a click opens the place within this page alone", async () => {
  const { shown, push } = heard();
  await push({ kind: "approval", path: "/?at=apr_1" });
  await push({ kind: "failed", path: "/task/task_1" });
  await push({ kind: "constructor", path: "https://evil.example/" });
  await push(undefined);
  expect(shown).toEqual([
    { title: "Hermit waits for you", body: "Something needs your approval.", path: "/?at=apr_1" },
    { title: "Hermit", body: "A task has failed.", path: "/task/task_1" },
    { title: "Hermit waits for you", body: "Open Hermit to see what it is.", path: "/" },
    { title: "Hermit waits for you", body: "Open Hermit to see what it is.", path: "/" },
  ]);
  const closed = heard();
  await closed.click("/?at=apr_1");
  await closed.click("javascript:alert(1)");
  expect(closed.did).toEqual(["closed", `${AT}#/?at=apr_1`, "closed", `${AT}#/`]);
  const open = heard([{ url: `${AT}offline.html` }, { url: `${AT}#/settings` }]);
  await open.click("/?at=apr_1");
  expect(open.did).toEqual(["closed", "to the page: /?at=apr_1", "focus"]);
});

test("the shell is kept where a page has a lasting name that nobody reads on the way", () => {
  const lasts = (url: string, isSecure: boolean) => isLasting(new URL(url), isSecure);
  expect(lasts("https://desk.example", true)).toBe(true);
  expect(lasts("http://localhost:8757", true)).toBe(true);
  expect(lasts("http://127.0.0.1:8757", true)).toBe(false);
  expect(lasts("http://desk.example", false)).toBe(false);
});
