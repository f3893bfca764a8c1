// Changes of Hermit in Chromium, against the built host: the rules begin as they are in force, two variants of them race over past work
// with their budget said before, and how each came out stands side by side.
import { afterAll, beforeAll, expect, test } from "vitest";
import { soundPicture } from "./kept";
import { model } from "./model";
import { World } from "./world";

const world = new World();
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
const field = (name: RegExp | string) => world.page.getByRole("form", { name: "New trial" }).getByLabel(name);
const RULE = "deny FileDelete(letter.txt)";
let wishes: Awaited<ReturnType<typeof model>>;
interface Row { approval_id: string; summary: string }
const waits = () => (JSON.parse(world.hermit("approvals", "list", "--status", "pending", "--json")) as { rows: Row[] }).rows[0];
interface Told { trials: { trial_id: string; state: string; group: string | null; says: string | null }[] }
const trials = () => (JSON.parse(world.hermit("successor", "list", "--json")) as Told).trials;
const own = () => JSON.parse(world.hermit("policy", "own", "--json")) as { text: string };

/** A yes to what waits, which is one thing. */
async function allow(risk?: "high"): Promise<void> {
  await expect.poll(waits, { timeout: 90_000 }).toBeDefined();
  await world.go(`/?at=${waits()?.approval_id ?? ""}`);
  await world.page.getByRole("article", { name: "Approval" }).waitFor();
  await world.approve(risk);
  await expect.poll(waits, { timeout: 90_000 }).toBeUndefined();
}

beforeAll(async () => {
  world.keys();
  wishes = await model([
    { tool: "change", arguments: { items: [{ op: "write", path: "one.txt", content: "one\n" }] } },
    { tool: "done", arguments: { summary: "It is written." } },
  ]);
  world.hermit("models", "use", wishes.name);
  await world.ui();
  await world.open(await world.serve());
});

afterAll(async () => {
  await world.close();
  await wishes?.end();
});

test("variants of the rules in force race from the page, and how each came out stands side by side", async () => {
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  await world.go(`/tasks/new?folder=${encodeURIComponent(world.folder)}&goal=${encodeURIComponent("Write a note")}`);
  await button("Begin").click();
  await allow();
  await expect.poll(() => world.has("one.txt"), { timeout: 90_000 }).toBe(true);
  world.hermit("policy", "add", RULE, "--because", "I am writing it still");
  await allow("high");
  await expect.poll(() => own().text, { timeout: 90_000 }).toContain(RULE);

  await world.go("/successor");
  await button("Try a change").click();
  const inForce = own().text;
  await expect.poll(() => field(/^Your rules/).inputValue(), { timeout: 90_000 }).toBe(inForce);
  await world.page.getByText("Change what stands there first.").waitFor();
  await field(/^Your rules/).fill(`${inForce.trimEnd()}\nallow FileEdit(**)\n`);
  await button("Race it against another variant").click();
  await field("Variant 2, all of it").fill(`${inForce.trimEnd()}\ndeny FileEdit(**)\n`);
  await field("What the change is to do").fill("it asks less");
  await field(/comes from/).fill("my own idea");
  await world.page.getByText(/2 changes race over the same tasks at the same time/).waitFor();
  await soundPicture(world.page, "changes-race");
  await button("Begin the race").and(world.page.locator(":not([aria-disabled])")).click();

  // Where no clone can be confined they end without a verdict, and stand side by side all the same.
  await expect.poll(() => trials().filter((one) => one.state !== "running").length, { timeout: 240_000 }).toBe(2);
  const table = world.page.getByRole("table", { name: "Changes that raced" });
  await expect.poll(async () => (await table.getByRole("row").allInnerTexts()).slice(1).filter((row) => /Running/.test(row)).length, { timeout: 90_000 }).toBe(0);
  expect(await table.getByRole("row").count()).toBe(3);
  for (const name of ["it asks less (variant 1)", "it asks less (variant 2)"]) await table.getByText(name).waitFor();
  await soundPicture(world.page, "changes-raced");
  expect(own().text, "a race changes nothing").toBe(inForce);
  expect(world.complaints).toEqual([]);
}, 600_000);
