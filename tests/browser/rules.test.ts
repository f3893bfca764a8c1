// A person's own rules in Chromium, against the built host: tried on the past, approved with the passphrase, in force,
// changed and removed.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pictures } from "./kept";
import { World } from "./world";

const world = new World();
const button = (name: string | RegExp) => world.page.getByRole("button", { name, exact: typeof name === "string" });
const card = () => world.page.getByRole("article", { name: "Approval" });
const own = () => (JSON.parse(world.hermit("policy", "own", "--json")) as { rows: { words: string }[] }).rows.map((row) => row.words);
interface Row { approval_id: string; task_id: string; summary: string }
const waits = () => (JSON.parse(world.hermit("approvals", "list", "--status", "pending", "--json")) as { rows: Row[] }).rows.find((row) => row.summary.includes("rule"));

/** The card of a change of rules is read and approved. */
async function approve(): Promise<void> {
  await expect.poll(waits, { timeout: 90_000 }).toBeDefined();
  await world.go(`/?at=${waits()?.approval_id ?? ""}`);
  await card().getByText(/your rules hold in every folder/i).waitFor();
  await button("Approve with passphrase").click();
  await world.page.getByLabel(/^High risk/).fill("high");
  await world.page.getByLabel("Approval passphrase").fill(world.passphrase);
  await world.page.getByRole("button", { name: /^Approve/ }).last().click();
  await expect.poll(waits, { timeout: 90_000 }).toBeUndefined();
}

const SIZES = [{ width: 1280, height: 800 }, { width: 390, height: 844 }] as const;

async function kept(name: string): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    await world.page.evaluate((to) => { document.documentElement.dataset["theme"] = to; }, theme);
    for (const size of SIZES) {
      await world.page.setViewportSize(size);
      await world.page.waitForTimeout(150);
      await world.page.screenshot({ path: join(pictures(), `${name}-${theme}-${size.width}.png`) });
      expect(await world.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), `${name} at ${size.width}`).toBeLessThanOrEqual(0);
    }
  }
  await world.page.setViewportSize(SIZES[0]);
}

beforeAll(async () => {
  world.keys();
  for (const name of ["IMG_1.jpg", "letter.txt"]) world.file(name, `${name}\n`);
  mkdirSync(join(world.folder, "notes"));
  await world.ui();
  await world.open(await world.serve());
  world.hermit("run", "--no-input", "--playbook", "tidy", "--workspace", world.folder);
});

afterAll(() => world.close());

test("a rule is tried on the past, holds from the passphrase on, and is removed the same way", async () => {
  await world.go("/policy?tab=own");
  await world.page.getByText("You have no rules of your own").waitFor();
  await button("Add a rule").click();
  await world.page.getByLabel("Answer").selectOption("deny");
  await world.page.getByLabel("What", { exact: true }).selectOption("FileDelete");
  await world.page.getByLabel("Pattern").fill("/letter.txt");
  await button("Show what it changes").click();
  await world.page.getByText(/is no glob below the project/).waitFor();
  await world.page.getByLabel("Pattern").fill("letter.txt");
  await world.page.getByLabel("Reason (optional)").fill("I am writing it still");
  await button("Show what it changes").click();
  await world.page.getByText(/would change/).waitFor();
  await kept("rules-draft");
  await button("Ask for approval").click();
  await world.page.waitForURL(/\/task\//);
  expect(own()).toEqual([]);
  await expect.poll(waits, { timeout: 90_000 }).toBeDefined();
  await world.go(`/?at=${waits()?.approval_id ?? ""}`);
  await card().getByText(/from now on: Never allow/i).waitFor();
  await kept("rules-card");
  await approve();
  await expect.poll(own, { timeout: 90_000 }).toEqual(["Never allow: deleting files that match `letter.txt`"]);

  await world.go("/policy?tab=own");
  await world.page.getByText(/Decided (1 action|nothing) in 30 days/).waitFor();
  await kept("rules-own");
  await button("Remove").click();
  await button("Show what it changes").click();
  await button("Ask for approval").click();
  await world.page.waitForURL(/\/task\//);
  await approve();
  await expect.poll(own, { timeout: 90_000 }).toEqual([]);
  expect(world.complaints).toEqual([]);
});
