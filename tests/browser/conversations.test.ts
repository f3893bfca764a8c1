// A conversation in Chromium over the built program: from the first words in a folder over an approval to a follow-up; a reload
// and a kill in the middle show the same story, every line once.
import { afterAll, beforeAll, expect, test } from "vitest";
import { part } from "../../ui/verifier/test/conforms";
import { type Call, model } from "./model";
import { conforms, soundPicture } from "./kept";
import { World } from "./world";

const world = new World();
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
const log = () => world.page.getByRole("log", { name: "What was said and done" });
const message = () => world.page.getByLabel("Message", { exact: true });

const CALLS: Call[] = [
  { tool: "write", arguments: { path: "summary.md", content: "Seven photos.\n" } },
  { tool: "done", arguments: { summary: "The summary stands in summary.md." } },
  { tool: "ask", arguments: { question: "In which language?", choices: ["English", "German"] } },
  { tool: "done", arguments: { summary: "It is in German." } },
];
let wishes: Awaited<ReturnType<typeof model>>;

/** The story as it stands on the screen, without what is only of this moment. */
async function told(): Promise<string[]> {
  await world.page.waitForFunction(() => document.querySelector("[aria-label^='Reading ']") === null);
  const words = await log().innerText();
  return words.split("\n").map((line) => line.trim()).filter((line) => line !== "" && line !== "Quote");
}

async function say(words: string): Promise<void> {
  await message().fill(words);
  await message().press("Enter");
  await world.page.waitForFunction(() => (document.querySelector("textarea") as HTMLTextAreaElement).value === "");
}

beforeAll(async () => {
  world.keys();
  for (const at of [1, 2, 3]) world.file(`IMG_000${at}.jpg`, `photo ${at}\n`);
  wishes = await model(CALLS);
  world.hermit("models", "use", wishes.name);
  await world.ui();
  await world.open(await world.serve());
});

afterAll(async () => {
  await world.close();
  await wishes?.end();
});

test("a conversation is opened in a folder, and its first words begin a task there", async () => {
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  await world.page.keyboard.press("g");
  await world.page.keyboard.press("c");
  await world.page.getByRole("heading", { name: "Conversations", exact: true }).waitFor();
  await world.converse("Photos of June");
  await log().getByText("Your first words begin a task in this folder").waitFor();
  await soundPicture(world.page, "talk-empty");
  await say("Write a summary of the photos");
  await log().getByText("Began a task").waitFor();
  await log().getByRole("link", { name: "Review" }).waitFor();
});

test("a draft, a reload and a kill in the middle leave the same story", conforms(part("RA-S-2"), async () => {
  const before = await told();
  expect(before.filter((line) => line === "Write a summary of the photos").length, "said once, and the title of its task").toBe(2);
  await message().fill("half a thou");
  await world.page.reload();
  await log().getByRole("link", { name: "Review" }).waitFor();
  expect(await told()).toEqual(before);
  expect(await message().inputValue()).toBe("half a thou");
  await world.end("SIGKILL");
  await world.page.getByText("Not connected to Hermit").first().waitFor({ timeout: 90_000 });
  // A link of the next host is taken where the person is, with what they had begun to write.
  await world.reopen(await world.serve());
  await log().getByRole("link", { name: "Review" }).waitFor({ timeout: 90_000 });
  expect(await told()).toEqual(before);
  expect(await message().inputValue()).toBe("half a thou");
  expect(await world.page.getByText("Not connected to Hermit").count()).toBe(0);
  await message().fill("");
  await soundPicture(world.page, "talk-asks");
}));

test("what was allowed is told with its receipt, and a follow-up carries how it ended", async () => {
  await log().getByRole("link", { name: "Review" }).click();
  await button("Approve with passphrase").click();
  await world.page.getByLabel("Approval passphrase", { exact: true }).fill(world.passphrase);
  await button("Approve").click();
  await expect.poll(() => world.has("summary.md"), { timeout: 90_000 }).toBe(true);
  await world.go("/conversations");
  await world.page.getByRole("button", { name: /^Photos of June/ }).click();
  await log().getByText("The summary stands in summary.md.").waitFor({ timeout: 90_000 });
  // Its last words stand sentence by sentence, each with what shows it.
  await log().locator("[data-support]").first().waitFor();
  await log().getByRole("link", { name: /^R-/ }).first().waitFor();
  const hears = world.page.getByLabel("Who hears it");
  await expect.poll(() => hears.locator("option:checked").innerText()).toBe("Goes on from: Write a summary of the photos");
  await say("Now in another language");
  await log().getByText("goes on from “Write a summary of the photos”").waitFor();
  await log().getByText("In which language?").waitFor({ timeout: 90_000 });
  expect(wishes.asked.at(-1)).toContain("It was asked: Write a summary of the photos");
  expect(wishes.asked.at(-1)).toContain("Its last words, not verified: The summary stands in summary.md.");
});

test("a question is answered in place, and the answer stands as what it is", async () => {
  await soundPicture(world.page, "talk-question");
  await log().getByRole("button", { name: "German" }).click();
  await log().getByText("It is in German.").waitFor({ timeout: 90_000 });
  await log().getByText("Answered its question").waitFor();
  expect(wishes.asked.at(-1)).toContain("German");
});

test("the terminal tells the same lines, each once, and what is undecided is decided in the conversation", async () => {
  const rows = JSON.parse(world.hermit("conversation", "list", "--json")) as { rows: { conversation_id: string; title: string }[] };
  const id = rows.rows.find((row) => row.title === "Photos of June")?.conversation_id ?? "";
  const lines = JSON.parse(world.hermit("conversation", "show", id, "--json")) as { rows: { seq: number; kind: string; text: string | null }[] };
  expect(new Set(lines.rows.map((line) => line.seq)).size).toBe(lines.rows.length);
  const words = await log().innerText();
  for (const line of lines.rows.filter((one) => one.kind === "message" || one.kind === "answer")) {
    expect(words, `line ${line.seq}`).toContain(line.text ?? "");
  }
  await world.page.getByLabel("Who hears it").selectOption({ label: "Hermit finds out, or asks you" });
  await say("thank you");
  const decide = world.page.getByRole("group", { name: "What is it about?" });
  await decide.getByText("it may follow the last one").waitFor();
  await soundPicture(world.page, "talk-undecided");
  await decide.getByRole("button", { name: "No action needed" }).click();
  await decide.waitFor({ state: "detached" });
  await log().getByText("No action needed", { exact: true }).waitFor();
  await soundPicture(world.page, "talk-long");
  await message().fill("/");
  await world.page.getByRole("listbox", { name: "Commands" }).waitFor();
  await soundPicture(world.page, "talk-commands");
  await say("/explain");
  await world.page.getByText("“Now in another language” is completed.").waitFor();
  await log().getByText("/explain", { exact: true }).waitFor();
  expect(world.complaints).toEqual([]);
});
