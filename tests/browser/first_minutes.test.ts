// From nothing to a proof: no keys, no task, one host at a terminal that runs from beginning to end. What a person clicks
// and types is counted, and printed with the seconds it took.
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pictures } from "./kept";
import { World } from "./world";

const world = new World();
const VAULT = "a vault of my own";
const APPROVAL = "yes, says its owner";
/** Clicks and fields of a playbook, from naming the folder to its result. */
const INPUTS_MAX = 5;

/** One part of the way, as a person goes it. */
class Walk {
  readonly #what: string;
  readonly #begun = Date.now();
  inputs = 0;

  constructor(what: string) {
    this.#what = what;
  }

  async click(what: Locator): Promise<void> {
    this.inputs += 1;
    await what.and(world.page.locator(":not([aria-disabled])")).click();
  }

  async type(what: Locator, words: string): Promise<void> {
    this.inputs += 1;
    await what.fill(words);
  }

  end(): number {
    console.log(`first minutes, in the browser: ${this.#what}: ${this.inputs} inputs, ${((Date.now() - this.#begun) / 1000).toFixed(1)} s`);
    return this.inputs;
  }
}

const button = (name: string) => world.page.getByRole("button", { name, exact: true });
const field = (label: string) => world.page.getByLabel(label, { exact: true });

async function approve(walk: Walk): Promise<void> {
  await walk.click(button("Approve with passphrase"));
  await walk.type(field("Approval passphrase"), APPROVAL);
  await walk.click(button("Approve"));
}

/** Every file below a folder, as text. */
function texts(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile()).map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
}

beforeAll(async () => {
  for (const at of [1, 2, 3]) world.file(`IMG_000${at}.jpg`, `photo ${at}\n`);
  world.file("notes.txt", "notes\n");
  await world.ui();
  await world.open(await world.serveAtTerminal());
});

afterAll(async () => {
  await world.interrupt();
  await world.close();
});

test("keys are made on the first page, by its rules", async () => {
  const walk = new Walk("make keys");
  await world.page.getByText("Choose two different passphrases of 8 characters or more").waitFor();
  expect(world.page.url()).toMatch(/#\/first$/);
  await walk.type(field("Approval passphrase"), APPROVAL);
  await walk.type(field("Approval passphrase again"), APPROVAL);
  await walk.type(field("Vault passphrase"), VAULT);
  await walk.type(field("Vault passphrase again"), VAULT);
  await world.page.screenshot({ path: join(pictures(), "first-keys.png") });
  await walk.click(button("Make keys"));
  await world.page.getByText("4 keys in force").waitFor();
  expect(walk.end()).toBe(5);
});

test("a playbook has its result after five inputs, its undo after five with a look at what it would do, and its proof verifies", async () => {
  const walk = new Walk("first result");
  await walk.type(field("A folder to try it on"), world.folder);
  await walk.click(button("Begin"));
  await world.page.getByRole("article", { name: "Approval" }).getByText("Images/IMG_0001.jpg", { exact: true }).waitFor();
  expect(world.has("IMG_0001.jpg")).toBe(true);
  await world.page.screenshot({ path: join(pictures(), "first-card.png") });
  await approve(walk);
  await world.page.getByText("Done", { exact: true }).first().waitFor();
  await expect.poll(() => world.has("Images/IMG_0001.jpg"), { timeout: 90_000 }).toBe(true);
  expect(walk.end()).toBeLessThanOrEqual(INPUTS_MAX);

  const proof = new Walk("proof");
  await proof.click(world.page.getByRole("link", { name: "Proof", exact: true }).first());
  const [saved] = await Promise.all([world.page.waitForEvent("download"), proof.click(button("Download"))]);
  const path = join(world.dir, "proof.zip");
  await saved.saveAs(path);
  const keys = JSON.parse(world.hermit("keys", "list", "--json")) as { keys: { purpose: string; keyid: string }[] };
  expect(world.verify(path, "--trust", keys.keys.find((key) => key.purpose === "log")?.keyid ?? "")).toContain("valid");
  proof.end();

  const undo = new Walk("undo");
  await world.page.goBack();
  await undo.click(button("Undo"));
  await undo.click(button("Ask for this undo"));
  await approve(undo);
  await expect.poll(() => world.has("IMG_0001.jpg"), { timeout: 90_000 }).toBe(true);
  await expect.poll(() => world.has("Images"), { timeout: 90_000 }).toBe(false);
  expect(undo.end()).toBe(5);
});

test("the keys are locked and unlocked on the page while the host runs, and the banner says which", async () => {
  await world.go("/settings");
  await button("Lock the keys").click();
  const banner = world.page.getByRole("status").filter({ hasText: "The keys are locked" });
  await banner.getByRole("button", { name: "Unlock keys" }).click();
  await banner.getByLabel("Vault passphrase").fill("not this one");
  await banner.getByRole("button", { name: "Unlock for 8 hours" }).click();
  await banner.getByRole("alert").waitFor();
  await world.page.screenshot({ path: join(pictures(), "first-locked.png") });
  await banner.getByLabel("Vault passphrase").fill(VAULT);
  await banner.getByRole("button", { name: "Unlock for 8 hours" }).click();
  await banner.waitFor({ state: "detached" });
  await button("Lock the keys").waitFor();
});

test("a page whose link a program asked for makes and unlocks nothing", async () => {
  const link = /http:\S+/.exec(world.hermit("open"))?.[0] ?? "";
  const other = await world.browser.newContext();
  const page = await other.newPage();
  await page.goto(link);
  await page.getByRole("navigation", { name: "Places" }).waitFor();
  const refused = await page.evaluate(async () => {
    const headers = { "content-type": "application/json", "x-hermit-session": sessionStorage.getItem("hermit-session") ?? "" };
    const post = async (path: string, body: object) => (await fetch(`/api/session/keys${path}`, { method: "POST", headers, body: JSON.stringify(body) })).status;
    return [await post("", {}), await post("/make", { keychain: false, vault_passphrase: "its own words", approval_passphrase: "and its own yes" }), await post("/unlock", { passphrase: "a vault of my own" })];
  });
  expect(refused).toEqual([200, 403, 403]);
  await other.close();
});

test("no passphrase stands in the store, in a log or in an address", async () => {
  mkdirSync(join(world.dir, "store"), { recursive: true });
  const kept = texts(join(world.dir, "store"));
  expect(kept.length).toBeGreaterThan(3);
  for (const words of [VAULT, APPROVAL]) expect(kept.filter((text) => text.includes(words))).toEqual([]);
  const visited = await world.page.evaluate(() => [location.href, JSON.stringify(sessionStorage), JSON.stringify(localStorage), ...performance.getEntriesByType("resource").map((entry) => entry.name)].join("\n"));
  for (const words of [VAULT, APPROVAL]) expect(visited).not.toContain(words);
  expect(world.complaints).toEqual([]);
});
