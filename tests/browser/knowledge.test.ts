// What a model came to hold true, in Chromium over the built program: a belief with every revision it had, and a memory with what it was
// promoted from and how it ended.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Call, model } from "./model";
import { conforms, soundPicture } from "./kept";
import { World } from "./world";

const world = new World();
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
const CALLS: Call[] = [
  { tool: "hash", arguments: { path: "rates.toml" } },
  { tool: "believe", arguments: { claim: "rates live in rates.toml", confidence: 400, evidence: ["rates.toml"] } },
  { tool: "believe", arguments: { claim: "rates live in rates.toml", confidence: 900, evidence: ["rates.toml"], revises: "rates live in rates.toml" } },
  { tool: "remember", arguments: { claim: "rates live in rates.toml", scope: "project", reason: "asked for often", evidence: ["rates.toml"] } },
  { tool: "done", arguments: { summary: "Known." } },
  { tool: "done", arguments: { summary: "They stand there." } },
];
let wishes: Awaited<ReturnType<typeof model>>;
type Rows = { rows: { claim: string; status: string; end_reason: string | null; uses: number }[] };
const memories = (status: string) => (JSON.parse(world.hermit("memory", "list", "--status", status, "--json")) as Rows).rows;

beforeAll(async () => {
  world.keys();
  world.file("rates.toml", "vat = 19\n");
  mkdirSync(join(world.folder, ".hermit/skills/rates"), { recursive: true });
  world.file(".hermit/skills/rates/SKILL.md", "---\nname: rates\ndescription: Where tax rates are\n---\nLook into rates.toml.\n");
  wishes = await model(CALLS);
  world.hermit("models", "use", wishes.name);
  await world.ui();
  await world.open(await world.serve());
});

afterAll(async () => {
  await world.close();
  await wishes?.end();
});

test("a person looks at what a belief was before, and at a memory from its promotion to its end", conforms("HK-21-8", "HK-21-9", async () => {
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  world.hermit("conversation", "say", "Learn where the rates are", "--new", "--workspace", world.folder);
  await world.go("/");
  await world.approve();
  await expect.poll(() => memories("active").length, { timeout: 90_000 }).toBe(1);
  await world.go("/knowledge");
  const belief = world.page.getByRole("complementary", { name: "Belief" });
  await belief.getByRole("heading", { name: "rates live in rates.toml" }).waitFor();
  const revisions = belief.getByRole("list", { name: "Revisions" }).getByRole("listitem");
  await expect.poll(() => revisions.count()).toBe(2);
  expect((await revisions.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim().replace(/ %.*/, " %"))).toEqual(["2 observed, 90 %", "1 observed, 40 %"]);
  await soundPicture(world.page, "belief");

  await button("Memory").click();
  const memory = world.page.getByRole("complementary", { name: "Memory" });
  await memory.getByRole("heading", { name: "rates live in rates.toml" }).waitFor();
  await memory.getByText("asked for often").waitFor();
  await memory.locator("li[data-trust] a").first().waitFor();
  // A task that is told of it stands among the contexts that it was sent in, and leads to what was sent.
  world.hermit("conversation", "say", "Where do the rates live?", "--new", "--workspace", world.folder);
  await expect.poll(() => memories("active")[0]?.uses ?? 0, { timeout: 90_000 }).toBeGreaterThan(0);
  await memory.getByText("Contexts it was sent in").click();
  const contexts = memory.getByRole("list", { name: "Contexts it was sent in" });
  await contexts.getByRole("link", { name: "Where do the rates live?" }).waitFor();
  await soundPicture(world.page, "memory-contexts");
  await contexts.getByRole("link", { name: /^attempt 1, turn/ }).first().click();
  await world.page.getByRole("heading", { name: /^Attempt 1, turn/ }).waitFor();
  await world.go("/knowledge");
  await button("Memory").click();
  await memory.getByLabel("Why it is wrong").fill("they moved to taxes.toml");
  await memory.getByRole("button", { name: "Mark as wrong" }).click();
  await expect.poll(() => memories("invalidated").length).toBe(1);
  await memory.getByText("they moved to taxes.toml").waitFor();
  await soundPicture(world.page, "memory-ended");

  // Skills stand among what is known, reached by the keyboard alone.
  await button("Memory").focus();
  await world.page.keyboard.press("Tab");
  await world.page.keyboard.press("Enter");
  await world.page.getByRole("link", { name: "rates", exact: true }).waitFor();
  await world.page.getByText("untrusted", { exact: true }).waitFor();
  await soundPicture(world.page, "skills-known");
  expect(world.complaints).toEqual([]);
}));
