// What comes with words, in Chromium over the built program: files that are chosen, pasted and dropped, and passages that are
// quoted, reach the model on every way that words take, as data, and are found again after a reload and at the terminal.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { part } from "../../ui/verifier/test/conforms";
import { type Call, model } from "./model";
import { conforms, soundPicture } from "./kept";
import { World } from "./world";

const world = new World();
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
const log = () => world.page.getByRole("log", { name: "What was said and done" });
const message = () => world.page.getByLabel("Message", { exact: true });
const comes = () => world.page.getByRole("list", { name: "Comes with your message" });

const CALLS: Call[] = [
  { tool: "done", arguments: { summary: "There are seven photos. Two of them are blurred." } },
  { tool: "write", arguments: { path: "blurred.md", content: "Two.\n" } },
  { tool: "done", arguments: { summary: "It is done." } },
];
let wishes: Awaited<ReturnType<typeof model>>;

async function say(words: string): Promise<void> {
  await message().fill(words);
  await expect.poll(() => button("Send").getAttribute("aria-disabled")).toBeNull();
  await message().press("Enter");
  await world.page.waitForFunction(() => (document.querySelector("textarea") as HTMLTextAreaElement).value === "");
  await comes().waitFor({ state: "detached" });
}

/** Hands a file to the page as a person does who pastes it or lets it fall. */
async function hand(how: "paste" | "drop", name: string, type: string, bytes: number[]): Promise<void> {
  await world.page.evaluate(([way, called, kind, content]) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(content)], called, { type: kind }));
    const field = document.querySelector("textarea") as HTMLTextAreaElement;
    field.dispatchEvent(way === "paste"
      ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
      : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [how, name, type, bytes] as const);
  await comes().getByText(name).waitFor();
}

/** The last request to the model as it was sent, its escapes read. */
const asked = () => wishes.asked.at(-1)?.replaceAll("\\n", "\n") ?? "";
/** What stands inside a fence that says that it is data, of everything that was sent last. */
const data = () => [...asked().matchAll(/\[\[data (\w+)(?: r\d+)? art_\w+\]\][^\n]*\n([\s\S]*?)\n\[\[end \1\]\]/g)].map((found) => found[2] ?? "");

beforeAll(async () => {
  world.keys();
  world.file("notes.txt", "seven of nine\n");
  wishes = await model(CALLS);
  world.hermit("models", "use", wishes.name);
  await world.ui();
  await world.open(await world.serve());
});

afterAll(async () => {
  await world.close();
  await wishes?.end();
});

test("files that are chosen, pasted and dropped come with the first words and reach the model as data", async () => {
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  await world.go("/conversations");
  await world.converse("Photos of June");
  await log().getByText("Your first words begin a task in this folder").waitFor();
  await world.page.getByLabel("Attach files").setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("seven of nine\n") });
  await comes().getByText("notes.txt").waitFor();
  await hand("paste", "shot.png", "image/png", [0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13]);
  await hand("drop", "list.csv", "text/csv", [...Buffer.from("name,blurred\nIMG_1,yes\n")]);
  await hand("drop", "wrong.txt", "text/plain", [120]);
  await button("Leave out wrong.txt").click();
  await soundPicture(world.page, "enclose-files");
  // What comes with a draft is kept as the draft is.
  await world.page.reload();
  await comes().getByText("list.csv").waitFor();
  await say("Which photos are blurred?");
  await log().getByText("There are seven photos.").waitFor({ timeout: 90_000 });
  expect(data().filter((text) => text.includes("seven of nine") || text.includes("IMG_1,yes"))).toHaveLength(2);
  expect(asked()).toContain("it is no text");
  expect(asked()).not.toContain("wrong.txt");
  const came = log().getByRole("list", { name: "Came with it" });
  expect((await came.innerText()).split("\n").filter((line) => /\.(txt|png|csv)$/.test(line))).toEqual(["notes.txt", "shot.png", "list.csv"]);
});

test("a passage that is marked in an answer is quoted in a new task, as what was said and not as what the person says", async () => {
  const answer = log().locator("[data-who=agent]").filter({ hasText: "Two of them are blurred." });
  await answer.evaluate((of) => {
    const walk = document.createTreeWalker(of, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) {
      const at = node.textContent?.indexOf("Two of them are blurred.") ?? -1;
      if (at >= 0) getSelection()?.setBaseAndExtent(node, at, node, at + "Two of them are blurred.".length);
    }
  });
  await answer.hover();
  await answer.getByRole("button", { name: "Quote" }).click();
  await world.page.locator("blockquote").filter({ hasText: /^Two of them are blurred\.$/ }).waitFor();
  await button("Files").click();
  await world.page.getByRole("group", { name: "Files of this conversation" }).getByRole("button", { name: "Attach list.csv again" }).click();
  await comes().getByText("list.csv").waitFor();
  await world.page.getByLabel("Who hears it").selectOption({ label: "A new task" });
  await soundPicture(world.page, "enclose-quote");
  await say("Write down how many");
  await log().getByRole("link", { name: "Review" }).waitFor({ timeout: 90_000 });
  expect(data()).toContain("Two of them are blurred.");
  expect(data().some((text) => text.includes("IMG_1,yes"))).toBe(true);
  expect(asked()).toMatch(/quoted from the last words of att_\w+ \(quote\)/);
  // The task is a new one: it follows nothing, and has the words from nowhere else.
  expect(asked().split("Two of them are blurred.").length).toBe(2);
});

test("a quotation and a file wait with words that are queued and go with words that interrupt", async () => {
  const first = log().locator("[data-who=user]").filter({ hasText: "Which photos are blurred?" }).first();
  await first.hover();
  await first.getByRole("button", { name: "Quote" }).click();
  await button("Queue").click();
  await say("Later, answer this, too");
  await world.page.getByRole("group", { name: "Files of this conversation" }).getByRole("button", { name: "Attach notes.txt again" }).click();
  await button("Interrupt").click();
  await say("Count these first");
  await log().getByText("It is done.").first().waitFor({ timeout: 90_000 });
  const stopped = wishes.asked[2]?.replaceAll("\\n", "\n") ?? "";
  expect(stopped).toMatch(/New message, with art_\w+/);
  expect(stopped).toContain("seven of nine");
  expect(stopped, "what is queued waits").not.toContain("quoted from the message");
  await expect.poll(() => asked(), { timeout: 90_000 }).toContain("quoted from the message");
  expect(data()).toContain("Which photos are blurred?");
});

test("what came with words is found again after a reload, in its task and at the terminal", conforms(part("RA-S-2"), async () => {
  await world.page.reload();
  await log().getByText("It is done.").first().waitFor();
  const quotes = log().getByRole("list", { name: "Came with it" }).locator("blockquote");
  expect(await quotes.allInnerTexts()).toEqual(["Two of them are blurred.", "Which photos are blurred?"]);
  await log().getByText("quoted from the last words of a run").waitFor();
  await soundPicture(world.page, "enclose-told");
  const rows = JSON.parse(world.hermit("conversation", "list", "--json")) as { rows: { conversation_id: string; title: string }[] };
  const id = rows.rows.find((row) => row.title === "Photos of June")?.conversation_id ?? "";
  const told = world.hermit("conversation", "show", id);
  expect(told).toMatch(/> Two of them are blurred\. {2}\(quoted from att_\w+\)/);
  expect(told).toMatch(/\+ notes\.txt \(14 bytes, text\/plain; charset=utf-8\) {2}art_/);
  expect(world.hermit("conversation", "files", id).split("\n").filter((line) => line.includes("list.csv"))).toHaveLength(2);
  await log().getByRole("link", { name: "Write down how many" }).first().click();
  const came = world.page.getByRole("list", { name: "Came with it" }).first();
  await came.locator("blockquote").filter({ hasText: "Two of them are blurred." }).waitFor();
  await came.getByText("list.csv").waitFor();
  await soundPicture(world.page, "enclose-task");
  const [download] = await Promise.all([world.page.waitForEvent("download"), button("Transcript").click()]);
  const transcript = readFileSync(await download.path(), "utf8");
  expect(transcript).toContain("> > Two of them are blurred.");
  expect(transcript).toMatch(/With it: List\.csv \(file, 23 bytes, art_\w+\)/);
  expect(world.complaints).toEqual([]);
}));
