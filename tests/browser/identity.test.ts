// Who an instance is, in Chromium, against the built host: SOUL.md is written on the page and approved, its key signs it, the chain is
// drawn and downloaded, and heads of the log are anchored at a double of a calendar, by a yes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { calendar } from "./calendar";
import { conforms, soundPicture } from "./kept";
import { World } from "./world";
import { part } from "../../ui/verifier/test/conforms";

const world = new World();
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
const field = () => world.page.getByLabel("Who this instance is");
const chain = () => world.page.getByRole("list", { name: /^Chain/ });
const SOUL = "# Ada\n\nYou look after the letters of the harbour office.\n";
let clock: Awaited<ReturnType<typeof calendar>>;
interface Shown { version: number; soul: string; attested: boolean; asked: string | null }
const shown = () => JSON.parse(world.hermit("identity", "show", "--json")) as Shown;

beforeAll(async () => {
  world.keys();
  clock = await calendar();
  await world.ui();
  await world.open(await world.serve());
});

afterAll(async () => {
  await world.close();
  await clock?.end();
});

/** A yes to the card that says these words. */
async function allow(words: RegExp): Promise<void> {
  await world.go("/");
  await world.page.getByRole("article", { name: "Approval" }).getByText(words).first().waitFor({ timeout: 90_000 });
  await world.approve("high");
}

/** SOUL.md is put to the person from the page, whose yes makes it so. */
async function written(text: string, version: number, look: (name: string) => Promise<void> = async () => {}): Promise<void> {
  await world.go("/identity");
  await button(version === 1 ? "Write SOUL.md" : "Change SOUL.md").click();
  await field().fill(text);
  await look("identity-written");
  await button("Save").click();
  await world.page.getByText("A change of SOUL.md waits for your answer.").waitFor();
  await look("identity-asked");
  await allow(/gives no authority/i);
  await expect.poll(() => shown().version, { timeout: 90_000 }).toBe(version);
  await world.go("/identity");
  await world.page.getByText(`Version ${version} of SOUL.md attested`).waitFor({ timeout: 90_000 });
}

test("SOUL.md is written on the page, is so by a yes alone, and its key signs it", conforms(part("HV-3.9-2"), part("HV-3.9-4"), async () => {
  await world.go("/identity");
  await world.page.getByText("Nobody has written SOUL.md yet").waitFor();
  await soundPicture(world.page, "identity-none");
  await written(SOUL, 1, (name) => soundPicture(world.page, name));
  await world.page.getByText("Unbroken", { exact: true }).waitFor();
  await world.page.getByRole("region", { name: "Text of version 1" }).getByText(/the letters of the harbour office/).waitFor();
  expect(await world.page.getByText(/^npub1[a-z0-9]{58}$/).count()).toBe(1);
  expect(shown()).toMatchObject({ version: 1, soul: SOUL, attested: true, asked: null });
  await soundPicture(world.page, "identity-attested");
}), 360_000);

test("a change shows what differs, is the next link of the chain, and what is only typed outlives the page", async () => {
  await world.go("/identity");
  await button("Change SOUL.md").click();
  await field().fill(`${SOUL}\nYou are brief.\n`);
  await world.page.reload();
  await world.go("/identity");
  expect(await field().inputValue()).toBe(`${SOUL}\nYou are brief.\n`);
  await button("Discard what I wrote").click();
  await written(`${SOUL}\nYou are kind.\n`, 2);
  await button("What version 2 changed").click();
  await world.page.getByRole("region", { name: "What version 2 changed of version 1" }).getByText("You are kind.").waitFor();
  expect(await chain().getByText(/^Link \d+$/).allInnerTexts()).toEqual(["Link 1", "Link 2"]);
  await chain().locator("summary").last().focus();
  await world.page.keyboard.press("Enter");
  await chain().getByText("Link before").last().waitFor();
  await soundPicture(world.page, "identity-changed");
  const loaded = world.page.waitForEvent("download");
  await button("Download the chain").click();
  const file = join(world.dir, "chain.jsonl");
  await (await loaded).saveAs(file);
  expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(3);
  expect(JSON.parse(world.hermit("identity", "verify", file, "--json"))).toMatchObject({ unbroken: true, findings: [] });
}, 540_000);

test("without a clock nothing is stamped and the page says why; with one a head is stamped by a yes", conforms(part("HV-3.6-3"), async () => {
  await world.go("/anchors");
  await world.page.getByText(/No clock is set, so there is nobody to ask/).waitFor();
  await world.page.getByText("Nothing of this log is anchored").waitFor();
  expect(await button("Stamp now").getAttribute("aria-disabled")).toBe("true");
  await soundPicture(world.page, "anchors-none");
  const form = world.page.getByRole("form", { name: "Clocks" });
  await form.getByLabel("Calendars of OpenTimestamps").fill("calendar");
  await form.getByRole("button", { name: "Save clocks" }).click();
  await form.getByRole("alert").waitFor();
  await form.getByLabel("Calendars of OpenTimestamps").fill(clock.url);
  await form.getByRole("button", { name: "Save clocks" }).click();
  await world.page.getByRole("checkbox", { name: /^OpenTimestamps/ }).waitFor();
  await soundPicture(world.page, "anchors-set");
  expect(clock.given).toEqual([]);
  await button("Stamp now").click();
  await world.page.getByText(/Each clock has a task of its own/).waitFor();
  expect(clock.given).toEqual([]);
  await allow(/the digest of anchor 1/i);
  await expect.poll(() => clock.given.length, { timeout: 90_000 }).toBe(1);
  expect(clock.given[0]).toHaveLength(32);
  await world.go("/anchors");
  const one = world.page.getByRole("article", { name: "Anchor 1" });
  await one.getByText("Pending", { exact: true }).waitFor();
  await one.getByText(/A block of Bitcoin is to hold it/).waitFor({ timeout: 90_000 });
  await one.getByText("Nothing is proven yet.").waitFor();
  await soundPicture(world.page, "anchors-pending");
  await world.go("/proof");
  await button("Ledger").click();
  await world.page.locator("#main").getByRole("link", { name: "Anchors" }).click();
  await one.waitFor();
  expect(world.complaints).toEqual([]);
}), 360_000);
