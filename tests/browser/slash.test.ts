// Every command behind a slash, typed on the page of a conversation: the page says the words and nothing else, and the host does
// what the command stands for, which is looked at from a terminal.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Call, model } from "./model";
import { conforms, soundPicture } from "./kept";
import { World } from "./world";

const world = new World();
const log = () => world.page.getByRole("log", { name: "What was said and done" });
const message = () => world.page.getByLabel("Message", { exact: true });

const CALLS: Call[] = [
  { tool: "write", arguments: { path: "summary.md", content: "Seven photos.\n" } },
  { tool: "done", arguments: { summary: "The summary stands in summary.md." } },
  { tool: "ask", arguments: { question: "By what?" } },
];
let wishes: Awaited<ReturnType<typeof model>>;
/** What the page asked its host to do, reads left out. */
const orders: string[] = [];
const READS = /\.(list|show|count|lines|commands|draw|status)$/;

interface Shown { row: { task_id: string; status: string; run_status: string }; goal: string; conversation_id: string; waits_for: { kind: string } | null; follows: string | null }
interface Row { task_id: string; title: string }
const tasks = () => (JSON.parse(world.hermit("task", "list", "--json")) as { rows: Row[] }).rows;
const shown = (id: string) => JSON.parse(world.hermit("task", "show", id, "--json")) as Shown;

/** Types words and sends them with Enter; what the page asked of its host by that. */
async function say(words: string): Promise<string[]> {
  orders.length = 0;
  await message().fill(words);
  await message().press("Escape");
  await message().press("Enter");
  await world.page.waitForFunction(() => (document.querySelector("textarea") as HTMLTextAreaElement).value === "");
  return [...orders];
}

beforeAll(async () => {
  world.keys();
  wishes = await model(CALLS);
  world.hermit("models", "use", wishes.name);
  await world.ui();
  await world.open(await world.serve());
  world.page.on("request", (request) => {
    const name = /\/api\/([\w.]+)$/.exec(new URL(request.url()).pathname)?.[1];
    if (name !== undefined && !READS.test(name)) orders.push(name);
  });
});

afterAll(async () => {
  await world.close();
  await wishes?.end();
});

test("each command typed on the page is said to the host, and does there what it stands for", conforms("RA-3-9", "RA-2-14", async () => {
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  await world.go("/conversations");
  await world.converse("Photos of June");
  await say("Write a summary of the photos");
  await log().getByRole("link", { name: "Review" }).click();
  await world.approve();
  await expect.poll(() => world.has("summary.md"), { timeout: 90_000 }).toBe(true);
  await world.go("/conversations");
  await world.page.getByRole("button", { name: /^Photos of June/ }).click();
  await log().getByText("The summary stands in summary.md.").waitFor({ timeout: 90_000 });
  const written = tasks()[0]?.task_id ?? "";

  expect(await say("/undo")).toEqual(["conversations.say"]);
  await expect.poll(() => tasks().length).toBe(2);
  const undo = tasks().find((one) => one.task_id !== written)?.task_id ?? "";
  await expect.poll(() => shown(undo).waits_for?.kind, { timeout: 90_000 }).toBe("approval");
  expect(world.read("summary.md"), "an undo is asked about as every act").toBe("Seven photos.\n");
  world.hermit("task", "cancel", undo);

  await world.page.getByLabel("Who hears it").selectOption({ label: "A new task" });
  await say("Sort the photos");
  await log().getByText("By what?").waitFor({ timeout: 90_000 });
  const sort = tasks().find((one) => one.title === "Sort the photos")?.task_id ?? "";

  expect(await say("/help")).toEqual(["conversations.say"]);
  const told = world.page.getByRole("status").filter({ hasText: "/retry" });
  await told.waitFor();
  const help = await told.innerText();
  await message().fill("/");
  const options = world.page.getByRole("listbox", { name: "Commands" }).getByRole("option");
  await options.first().waitFor();
  const named = (await options.allInnerTexts()).map((text) => /^\/[a-z]+/.exec(text)?.[0] ?? "");
  expect(named.toSorted()).toEqual(["/branch", "/compress", "/explain", "/goal", "/help", "/pause", "/resume", "/retry", "/skin", "/stop", "/undo"]);
  for (const name of named) expect(help).toContain(name);
  await soundPicture(world.page, "slash-help");

  expect(await say("/explain")).toEqual(["conversations.say"]);
  await world.page.getByText("It waits for you: 1 question.").waitFor();
  expect(await say("/goal Sort the photos by year")).toEqual(["conversations.say"]);
  await expect.poll(() => shown(sort).goal).toBe("Sort the photos by year");
  expect(await say("/compress")).toEqual(["conversations.say"]);
  await world.page.getByText("There is nothing to sum up yet.").waitFor();
  expect(await say("/pause")).toEqual(["conversations.say"]);
  await expect.poll(() => shown(sort).row.status, { timeout: 90_000 }).toBe("paused");
  expect(await say("/resume")).toEqual(["conversations.say"]);
  await expect.poll(() => shown(sort).row.status, { timeout: 90_000 }).not.toBe("paused");
  expect(await say("/stop")).toEqual(["conversations.say"]);
  await expect.poll(() => shown(sort).row.status, { timeout: 90_000 }).toBe("cancelled");

  const before = tasks().length;
  expect(await say("/retry")).toEqual(["conversations.say"]);
  await expect.poll(() => tasks().length).toBe(before + 1);
  const again = tasks()[0]?.task_id ?? "";
  expect([shown(again).goal, shown(again).follows]).toEqual(["Sort the photos by year", sort]);
  expect(await say("/branch Sort them by month")).toEqual(["conversations.say"]);
  await expect.poll(() => tasks().length).toBe(before + 2);
  const beside = shown(tasks()[0]?.task_id ?? "");
  expect(beside.goal).toBe("Sort them by month");
  expect(beside.conversation_id).not.toBe(shown(again).conversation_id);
  await log().getByText("Sort them by month").first().waitFor();

  // What is no command the host refuses in words, which the page did not guess; it stays where it was typed, and changes nothing.
  orders.length = 0;
  await message().fill("/rety");
  await message().press("Enter");
  const refused = world.page.getByRole("alert").filter({ hasText: "is not a command" }).first();
  await refused.waitFor();
  expect(await refused.innerText()).toContain("/retry");
  expect(orders).toEqual(["conversations.say"]);
  expect(await message().inputValue()).toBe("/rety");
  expect(tasks().length).toBe(before + 2);
  expect(world.complaints).toEqual([]);
}));
