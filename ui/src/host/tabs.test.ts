// Several tabs of one host: a session that one has helps the others, and one that the host refused helps nobody.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Tabs } from "./tabs";

/** Channels of one browser, in the memory of this test. */
class Channel {
  static all = new Set<Channel>();
  static said: unknown[] = [];
  onmessage: ((event: { data: unknown }) => void) | null = null;
  constructor() {
    Channel.all.add(this);
  }
  postMessage(data: unknown) {
    Channel.said.push(data);
    for (const other of Channel.all) if (other !== this) queueMicrotask(() => other.onmessage?.({ data }));
  }
}

beforeEach(() => {
  Channel.all.clear();
  Channel.said = [];
  vi.stubGlobal("BroadcastChannel", Channel);
});
afterEach(() => vi.unstubAllGlobals());

/** A tab with this session, of a host that knows these. */
function tab(session: string, known: readonly string[]) {
  const tried: string[] = [];
  const own = { session };
  const tabs = new Tabs({
    session: () => own.session,
    keep: (other) => { own.session = other; },
    knows: (offered) => {
      tried.push(offered);
      return Promise.resolve(known.includes(offered));
    },
  });
  tabs.open();
  return { own, tabs, tried };
}

test("a tab whose session is refused goes on with that of another tab, also of several that ask at once", async () => {
  const lives = tab("new", ["new"]);
  const dead = tab("old", ["new"]);
  expect(await Promise.all([dead.tabs.revive("old"), dead.tabs.revive("old")])).toEqual([true, true]);
  expect([dead.own.session, lives.own.session, dead.tried]).toEqual(["new", "new", ["new"]]);
  expect(Channel.said.filter((one) => (one as { kind: string }).kind === "wanted")).toHaveLength(1);
  // What was sent with the old one while it was taken over is sent again with the new one, and nobody is asked.
  expect(await dead.tabs.revive("old")).toBe(true);
  expect(Channel.said.filter((one) => (one as { kind: string }).kind === "wanted")).toHaveLength(1);
});

test("a session that the host refused is neither handed on nor taken, and the wait for another ends", async () => {
  const [one, other] = [tab("old", []), tab("older", [])];
  // The other does not know yet that its own is gone: what it offers is tried once.
  expect(await one.tabs.revive("old")).toBe(false);
  expect([one.own.session, one.tried]).toEqual(["old", ["older"]]);
  expect(await other.tabs.revive("older")).toBe(false);
  expect(other.tried).toEqual([]);
});

test("however many sessions are offered, few are tried, and what is no session is none", async () => {
  const dead = tab("old", []);
  const stranger = new Channel();
  stranger.onmessage = () => {
    for (const session of [7, null, "", {}]) stranger.postMessage({ kind: "session", session });
    stranger.postMessage(null);
    for (let at = 0; at < 100; at += 1) stranger.postMessage({ kind: "session", session: `made up ${at}` });
  };
  expect(await dead.tabs.revive("old")).toBe(false);
  expect(dead.tried).toEqual(Array.from({ length: 8 }, (_, at) => `made up ${at}`));
});

test("who waits hears of a session at once, and one that goes on with its own takes no other", async () => {
  const [waits, lives] = [tab("old", ["new"]), tab("mine", ["mine", "new"])];
  const heard = vi.fn();
  const stop = waits.tabs.listen(heard);
  const long = waits.tabs.wait(600_000);
  tab("new", ["new"]).tabs.tell("new");
  await long;
  expect(heard).toHaveBeenCalledTimes(1);
  expect([lives.own.session, lives.tried]).toEqual(["mine", []]);
  stop();
  await waits.tabs.wait(1);
  expect(heard).toHaveBeenCalledTimes(1);
});

test("a browser whose tabs cannot speak is alone, and does not wait", async () => {
  vi.stubGlobal("BroadcastChannel", undefined);
  expect(await tab("old", ["new"]).tabs.revive("old")).toBe(false);
});
