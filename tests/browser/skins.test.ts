// A skin chosen in a conversation, on the page and behind a slash: Hermit's name has its mark there, no other conversation has it,
// and the card of what waits is the same under each, word for word and colour for colour.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Call, model } from "./model";
import { soundPicture } from "./kept";
import { World } from "./world";

const world = new World();
const log = () => world.page.getByRole("log", { name: "What was said and done" });
const message = () => world.page.getByLabel("Message", { exact: true });
const card = () => world.page.getByRole("article", { name: "Approval" });
const choice = () => world.page.getByRole("combobox", { name: "Skin" });

const CALLS: Call[] = [
  { tool: "write", arguments: { path: "summary.md", content: "Seven photos.\n" } },
  { tool: "done", arguments: { summary: "The summary stands in summary.md." } },
];
let wishes: Awaited<ReturnType<typeof model>>;

beforeAll(async () => {
  world.keys();
  wishes = await model(CALLS);
  world.hermit("models", "use", wishes.name);
  await world.ui();
  await world.open(await world.serve());
});

afterAll(async () => {
  await world.close();
  await wishes?.end();
});

async function say(words: string): Promise<void> {
  await message().fill(words);
  await message().press("Escape");
  await message().press("Enter");
  await world.page.waitForFunction(() => (document.querySelector("textarea") as HTMLTextAreaElement).value === "");
}

async function conversation(): Promise<void> {
  await world.go("/conversations");
  await world.page.getByRole("button", { name: /^Photos of June/ }).click();
  await choice().waitFor();
}

/** What a person reads on the card of what waits, but for how long it still does, and how each part of it looks. */
async function read(): Promise<{ words: string; looks: string[] }> {
  await conversation();
  await log().getByRole("link", { name: "Review" }).click();
  await card().getByText("summary.md").first().waitFor();
  await expect.poll(() => card().locator("[aria-busy=true]").count()).toBe(0);
  return card().evaluate((article) => {
    const parts = [...article.querySelectorAll<HTMLElement>("*")].filter((part) => part.closest("time") === null);
    const looks = parts.map((part) => {
      const style = getComputedStyle(part);
      return [part.tagName, style.color, style.backgroundColor, style.fontFamily, style.fontSize, style.getPropertyValue("--skin-accent")].join(" ");
    });
    const words = parts.flatMap((part) => [...part.childNodes]).filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent ?? "");
    return { words: words.join("\n"), looks };
  });
}

test("a skin that is chosen in a conversation changes how Hermit speaks there, and nothing of a card", async () => {
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  await world.go("/conversations");
  await world.converse("Photos of June");
  await say("Write a summary of the photos");
  await log().getByRole("link", { name: "Review" }).waitFor({ timeout: 90_000 });
  const plain = await read();
  expect(plain.words).toContain("summary.md");
  expect(plain.looks.length).toBeGreaterThan(20);

  await conversation();
  await choice().selectOption({ label: "teaching: Explains why, step by step, so that you can do it yourself next time" });
  await expect.poll(() => choice().locator("option:checked").innerText()).toMatch(/^teaching:/);
  expect(await read(), "under the skin teaching").toEqual(plain);
  await conversation();
  await say("/skin terse");
  await expect.poll(() => choice().locator("option:checked").innerText()).toMatch(/^terse:/);
  expect(await read(), "under the skin terse").toEqual(plain);

  await conversation();
  await say("/skin teaching");
  await expect.poll(() => choice().locator("option:checked").innerText()).toMatch(/^teaching:/);
  await log().getByRole("link", { name: "Review" }).click();
  await world.approve();
  await expect.poll(() => world.has("summary.md"), { timeout: 90_000 }).toBe(true);
  await conversation();
  await log().getByText("The summary stands in summary.md.").waitFor({ timeout: 90_000 });
  await expect.poll(() => log().getByText("✎").count()).toBeGreaterThan(0);
  await soundPicture(world.page, "skin-of-a-conversation");
  await choice().selectOption({ label: "No skin" });
  await expect.poll(() => log().getByText("✎").count()).toBe(0);
  expect(world.complaints).toEqual([]);
});
