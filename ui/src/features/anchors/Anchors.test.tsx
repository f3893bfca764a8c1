// Anchors on their page: nothing is set and nobody asked until a person says so, and how each stands is told as it is.
import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Anchor } from "~/ipc/generated/anchors";
import { NO_CLOCKS, PROVEN, SOME_CLOCKS, anchor, atClock } from "~/test/identity";
import { DONE, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const SENT = { task_id: DONE, ingress_id: "ing_1", duplicate: false };
const card = async (number: number) => within(await screen.findByRole("article", { name: `Anchor ${number}` }));

test("with no clock the page says what that means, and stamps nothing", async () => {
  const host = scene({ "anchors.list": { anchors: [], next: null } });
  const { user: person } = show(host, "/anchors");
  expect(await screen.findByText(/No clock is set, so there is nobody to ask/)).toBeTruthy();
  expect(screen.getByText(/Nothing of your log leaves this machine/)).toBeTruthy();
  expect(screen.getByText(/does not prove that what stands in the log is true/)).toBeTruthy();
  expect(screen.getByText("Nothing of this log is anchored")).toBeTruthy();
  await person.click(screen.getByRole("button", { name: "Stamp now" }));
  expect(host.times("anchors.stamp")).toBe(0);
  expect(host.times("anchors.wallet")).toBe(0);
  expect((screen.getByLabelText("Time-stamp authorities") as HTMLTextAreaElement).value).toBe("");
  expect(await seriousFindings()).toEqual([]);
});

test("what is free is chosen, what costs is not until a person chooses it, and each clock asks", async () => {
  const host = scene({ "anchors.clocks": { ...SOME_CLOCKS, bitcoin_node: "http://127.0.0.1:8332" }, "anchors.stamp": SENT });
  const { user: person } = show(host, "/anchors");
  const choice = within(await screen.findByRole("group", { name: "Clocks" }));
  const box = (name: RegExp) => choice.getByRole("checkbox", { name }) as HTMLInputElement;
  expect([/authority/, /OpenTimestamps/, /Bitcoin transaction/].map((name) => box(name).checked)).toEqual([true, true, false]);
  await person.click(box(/OpenTimestamps/));
  await person.click(box(/Bitcoin transaction: costs a fee/));
  await person.click(screen.getByRole("button", { name: "Stamp now" }));
  await waitFor(() => expect(host.asked.find((call) => call.name === "anchors.stamp")?.params).toEqual({ clocks: ["rfc3161", "op_return"], link: null, channel: "app" }));
  expect(await screen.findByText(/Each clock has a task of its own/)).toBeTruthy();
  await person.selectOptions(screen.getByLabelText("What is stamped"), "link");
  await person.click(screen.getByRole("button", { name: "Stamp now" }));
  await waitFor(() => expect(host.asked.filter((call) => call.name === "anchors.stamp").at(-1)?.params).toMatchObject({ link: 2 }));
  expect(await seriousFindings()).toEqual([]);
});

test("a clock that is not set cannot be chosen", async () => {
  show(scene({ "anchors.clocks": SOME_CLOCKS }), "/anchors");
  const choice = within(await screen.findByRole("group", { name: "Clocks" }));
  expect((choice.getByRole("checkbox", { name: "Your own Bitcoin transaction: not set" }) as HTMLInputElement).disabled).toBe(true);
  expect(screen.getByText(/what calendars say stays pending/)).toBeTruthy();
  expect(screen.queryByText("Wallet of this instance")).toBeNull();
});

test("with a file of headers nothing is said to stay pending", async () => {
  show(scene({ "anchors.clocks": { ...SOME_CLOCKS, has_headers_file: true } }), "/anchors");
  expect(await screen.findByText(/A head counts as anchored when 6 blocks/)).toBeTruthy();
  expect(screen.queryByText(/what calendars say stays pending/)).toBeNull();
});

test("each clock tells how it stands: pending since when and for what, anchored where, taken back, and failed why", async () => {
  const anchors: Anchor[] = [
    anchor(4, { of: "link", size: 2, clocks: [atClock({ clock: "rfc3161", state: "failed", says: "the authority signed \u202e another digest", proof_sha256: null })] }),
    anchor(3, { clocks: [atClock({ state: "withdrawn", says: "the chain went another way: it is pending again", block_height: 840_001 })] }),
    anchor(2),
    PROVEN,
  ];
  const host = scene({ "anchors.list": { anchors, next: null }, "anchors.complete": SENT });
  const { user: person } = show(host, "/anchors");
  const failed = await card(4);
  expect(failed.getByText("Link 2 of the identity")).toBeTruthy();
  expect(failed.getByText("Failed")).toBeTruthy();
  expect(failed.getByText("U+202E"), "what would turn the line is shown").toBeTruthy();
  expect(failed.queryByRole("button", { name: /^Ask how anchor/ })).toBeNull();
  const withdrawn = await card(3);
  expect(withdrawn.getByText("Withdrawn")).toBeTruthy();
  expect(withdrawn.getByText(/no longer part of it\. It is not proven now\..* Since/)).toBeTruthy();
  const pending = await card(2);
  expect(pending.getByText(/A block of Bitcoin is to hold it; that takes hours\. Since/)).toBeTruthy();
  expect(pending.getByText("Nothing is proven yet.")).toBeTruthy();
  const proven = await card(1);
  expect(proven.getByText("Block 840,000")).toBeTruthy();
  expect(proven.getByText("6 deep when it was looked at")).toBeTruthy();
  expect(proven.getByText(/^Proven: it was there by/).querySelector("time")?.getAttribute("datetime")).toBe(new Date(PROVEN.not_after ?? 0).toISOString());
  expect(await seriousFindings()).toEqual([]);
  await person.click(pending.getByRole("button", { name: "Ask how anchor 2 stands" }));
  await waitFor(() => expect(host.asked.find((call) => call.name === "anchors.complete")?.params).toEqual({ number: 2, channel: "app" }));
});

test("200 anchors come in parts, and none falls between them", async () => {
  const host = scene({ "anchors.list": ({ cursor, limit }) => {
    const before = cursor == null ? 201 : Number(cursor);
    const anchors = Array.from({ length: Math.min(limit ?? 0, before - 1) }, (_, at) => anchor(before - 1 - at));
    return { anchors, next: (anchors.at(-1)?.number ?? 1) > 1 ? String(anchors.at(-1)?.number) : null };
  } });
  const { user: person } = show(host, "/anchors");
  await screen.findByText("Anchor 200");
  const numbers = () => [...document.querySelectorAll("article h3")].map((one) => one.textContent);
  expect(numbers()).toHaveLength(30);
  await person.click(screen.getByText("Older anchors"));
  await waitFor(() => expect(numbers()).toHaveLength(60));
  expect(new Set(numbers()).size).toBe(60);
  expect(numbers().at(-1)).toBe("Anchor 141");
});

test("only what was changed is set, and what cannot be is said before", async () => {
  const host = scene({ "anchors.clocks": SOME_CLOCKS, "anchors.set_clocks": SOME_CLOCKS });
  const { user: person } = show(host, "/anchors");
  const form = within(await screen.findByRole("form", { name: "Clocks" }));
  const button = form.getByRole("button", { name: "Save clocks" });
  expect(button.getAttribute("title")).toBe("Nothing is changed yet");
  await person.type(form.getByLabelText("Calendars of OpenTimestamps"), "\nhttps://b.example");
  await person.clear(form.getByLabelText("Time-stamp authorities"));
  const depth = form.getByLabelText("Blocks that must stand");
  await person.clear(depth);
  expect(button.getAttribute("title")).toBe("Name a number of blocks from 1 to 1,000");
  await person.type(depth, "2");
  await person.click(button);
  await waitFor(() => expect(host.asked.find((call) => call.name === "anchors.set_clocks")?.params).toEqual({ authorities: [], calendars: ["https://calendar.example", "https://b.example"], depth: 2 }));
  expect(await seriousFindings()).toEqual([]);
});

test("what is typed stays when the clocks are changed elsewhere, and the page says so; once it is saved the form has the new ones", async () => {
  let now = SOME_CLOCKS;
  const host = scene({ "anchors.clocks": () => now, "anchors.set_clocks": (wanted) => (now = { ...now, depth: wanted.depth ?? now.depth }) });
  const { user: person } = show(host, "/anchors");
  const depth = () => screen.getByLabelText("Blocks that must stand") as HTMLInputElement;
  const hours = () => screen.getByLabelText("By itself, every so many hours") as HTMLInputElement;
  await screen.findByRole("form", { name: "Clocks" });
  const elsewhere = (every_hours: number) => {
    now = { ...now, every_hours };
    act(() => host.link("live"));
  };
  elsewhere(3);
  await waitFor(() => expect(hours().value, "nothing was typed yet").toBe("3"));
  await person.clear(depth());
  await person.type(depth(), "12");
  elsewhere(5);
  await screen.findByText(/These settings were changed elsewhere meanwhile/);
  expect([depth().value, hours().value]).toEqual(["12", "3"]);
  await person.click(screen.getByRole("button", { name: "Save clocks" }));
  await waitFor(() => expect([depth().value, hours().value]).toEqual(["12", "5"]));
  expect(host.asked.filter((one) => one.name === "anchors.set_clocks").map((one) => one.params), "only what was typed here").toEqual([{ depth: 12 }]);
  await person.type(depth(), "3");
  elsewhere(7);
  await person.click(await screen.findByRole("button", { name: "Show the new settings instead" }));
  expect([depth().value, hours().value]).toEqual(["12", "7"]);
  expect(screen.queryByText(/changed elsewhere meanwhile/)).toBeNull();
});

test("a node's wallet is asked when a person asks, and a page in a browser names no file", async () => {
  const host = scene({ "anchors.clocks": { ...NO_CLOCKS, bitcoin_node: "http://127.0.0.1:8332" }, "anchors.wallet": { address: "bc1qexample", balance: 12_345, fee: 321, says: null } });
  Object.defineProperty(host, "files", { value: {} });
  const { user: person } = show(host, "/anchors");
  const ask = await screen.findByRole("button", { name: "Ask your node what it holds" });
  expect(host.times("anchors.wallet")).toBe(0);
  expect(screen.queryByLabelText("Or its cookie file")).toBeNull();
  expect(screen.getByText("hermit anchor clocks set --bitcoin-cookie ~/.bitcoin/.cookie")).toBeTruthy();
  await person.click(ask);
  expect(await screen.findByText("12,345 satoshi")).toBeTruthy();
  expect(screen.getByText("321 satoshi")).toBeTruthy();
  expect(screen.getByText("bc1qexample")).toBeTruthy();
});
