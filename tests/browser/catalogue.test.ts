// The acceptance catalogue of the run adapter contract (its Artifact 3) on the pages, in a real browser against the built host:
// what a run came to is told again after a reload and under the next host, each thing once. What stands elsewhere on the pages
// (replay, an approval, commands, dictation) is in `contract`, `slash` and `dictation`.
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { conforms } from "./kept";
import { Runs } from "./runs";
import { THINKS, type Turn } from "./speaker";
import { World } from "./world";

const world = new World();
const runs = new Runs(world);
const { button, log, at } = runs;
const done = (summary: string): Turn => ({ says: [], call: { tool: "done", arguments: { summary } } });
const ask = (question: string, choices: string[]): Turn => ({ says: [], call: { tool: "ask", arguments: { question, choices } } });
const times = (text: string, part: string) => text.split(part).length - 1;

interface Shown { goal: string; interrupted: boolean | null; row: { status: string } }
/** How many processes of this machine were begun with these words, one behind the other. */
const running = (...words: string[]) => readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((id) => {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8").includes(words.join("\0"));
  } catch {
    // It ended meanwhile.
    return false;
  }
}).length;
const known = (run: string) => JSON.parse(world.hermit("task", "show", run, "--json")) as Shown;

async function cancel(): Promise<void> {
  await button("Cancel").click();
  await button("Cancel the task").click();
  await at("Cancelled").waitFor({ timeout: 90_000 });
}

/** What is told of the run that is open, as soon as it stands still and holds this. */
async function still(part = ""): Promise<string> {
  let last = "";
  const isTold = async () => {
    const before = last;
    last = await runs.shown();
    return last === before && last.includes(part);
  };
  await expect.poll(isTold, { timeout: 90_000, interval: 400 }).toBe(true);
  return last;
}

/** A run that has ended says so, seems to be at nothing, and is told the same when the page is read anew; what was told. */
async function ends(run: string, word: string): Promise<string> {
  const isOver = async () => {
    await at(word).waitFor({ timeout: 90_000 });
    for (const control of ["Pause", "Cancel"]) await button(control).waitFor({ state: "detached" });
    await expect.poll(() => log().locator("[aria-busy=true]").count(), { timeout: 90_000 }).toBe(0);
  };
  await isOver();
  const last = await still();
  await world.page.reload();
  await isOver();
  await expect.poll(() => runs.shown(), { timeout: 90_000 }).toBe(last);
  const all = await runs.journal(run);
  expect(all.filter((event) => event.terminal).map((event) => event.seq), "one end, and it is the last").toEqual([all.at(-1)?.seq]);
  expect(all.map((event) => event.seq)).toEqual([...new Set(all.map((event) => event.seq))]);
  return last;
}

/** A conversation in the folder, opened on its page. */
async function talk(title: string): Promise<void> {
  await world.go("/conversations");
  await world.converse(title);
  await said().getByText("Your first words begin a task in this folder").waitFor();
}
const said = () => world.page.getByRole("log", { name: "What was said and done" });

async function say(words: string): Promise<void> {
  await world.page.getByLabel("Message", { exact: true }).fill(words);
  await expect.poll(() => button("Send").getAttribute("aria-disabled")).toBeNull();
  await button("Send").click();
  await world.page.waitForFunction(() => (document.querySelector("textarea") as HTMLTextAreaElement).value === "");
}

beforeAll(async () => {
  world.keys();
  world.file("notes.md", "# Notes\n\nbuy milk\n");
  await world.ui();
  await runs.open();
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
});

afterAll(() => runs.close());

test("a run that was completed, that failed and that was cancelled is told again as it ended, and seems to be at nothing", conforms("RA-3-2", async () => {
  const well = await runs.start("All well", [{ says: ["All is ", "in order here."], call: done("It is well.").call }]);
  well.model.say(2);
  await world.go(`/task/${well.run}`);
  await log().getByText("It is well.").first().waitFor({ timeout: 90_000 });
  const first = await ends(well.run, "Done");
  expect(times(first, "It is well.")).toBe(1);

  const wish = await runs.start("A wish", [{ says: [], call: { tool: "write", arguments: { path: "wish.md", content: "a wish\n" } } }, done("It was not to be.")]);
  const card = await runs.told(wish.run, "approval.requested");
  await world.go(`/?at=${String(card["approval_id"])}`);
  await world.page.getByRole("article", { name: "Approval" }).getByText("wish.md", { exact: false }).first().waitFor();
  await button("Deny").click();
  await runs.told(wish.run, "error");
  await world.go(`/task/${wish.run}`);
  await ends(wish.run, "Denied by you");
  expect(world.has("wish.md")).toBe(false);

  const tale = await runs.start("A tale", [{ says: ["Once upon ", "a time"], call: done("the end").call }]);
  tale.model.say(1);
  await world.go(`/task/${tale.run}`);
  await log().getByText("Once upon", { exact: false }).waitFor({ timeout: 90_000 });
  await cancel();
  const last = await ends(tale.run, "Cancelled");
  tale.model.say(1);
  expect([times(last, "Once upon"), times(last, "a time")]).toEqual([1, 0]);
  expect(world.complaints).toEqual([]);
}));

test("a run that is cancelled in the middle of a thought keeps on its page what was thought and said, and no model is blamed", conforms("RA-3-6", async () => {
  const { run, model } = await runs.start("A doubt", [{ says: [`${THINKS}I weigh both. `, "On the one ", "hand"], call: done("both").call }]);
  await world.go(`/task/${run}`);
  model.say(2);
  await log().getByText("On the one", { exact: false }).waitFor({ timeout: 90_000 });
  await cancel();
  const kept = () => log().getByRole("group", { name: "Broken off" });
  const whole = async () => {
    await kept().getByText("On the one").waitFor({ timeout: 90_000 });
    expect(await kept().textContent()).toContain("I weigh both.");
    expect(await world.page.getByRole("list", { name: "What happened" }).innerText()).not.toContain("Model failed");
  };
  await whole();
  model.say(1);
  await ends(run, "Cancelled");
  await whole();
  expect(await kept().textContent()).not.toContain("hand");
  expect((await runs.of(run, "error")).length).toBe(0);
  expect(world.complaints).toEqual([]);
}));

test("a run that is cancelled while its tool is at work ends once, and nothing of the tool comes late", conforms("RA-3-5", async () => {
  const argv = ["/bin/sh", "-c", "echo begun; sleep 313; echo late; echo late > late.txt"];
  const { run, model } = await runs.start("A long command", [{ says: [], call: { tool: "command", arguments: { argv } } }, done("It ran.")]);
  await world.go(`/task/${run}`);
  const prints = world.page.getByRole("group").filter({ hasText: "What it prints" });
  await prints.getByText("begun").first().waitFor({ timeout: 90_000 });
  await expect.poll(() => running("sleep", "313"), { timeout: 90_000 }).toBe(1);
  await cancel();
  const last = await ends(run, "Cancelled");
  expect(await prints.count()).toBe(0);
  // What would write late is gone, and with it what could come: page, journal and folder stay as they are from here on.
  await expect.poll(() => running("sleep", "313"), { timeout: 90_000 }).toBe(0);
  const all = await runs.journal(run);
  await world.page.reload();
  await expect.poll(() => runs.shown(), { timeout: 90_000 }).toBe(last);
  expect(await runs.journal(run)).toEqual(all);
  expect([all.at(-1)?.type, all.filter((event) => event.terminal).length]).toEqual(["cancelled", 1]);
  expect(model.asked.length, "nobody goes on with it").toBe(1);
  expect([world.has("late.txt"), known(run).row.status]).toEqual([false, "cancelled"]);
  expect(world.complaints).toEqual([]);
}));

test("a host that is killed in mid-sentence leaves the last that is known, which says that it is no more than that", conforms("RA-3-3", async () => {
  const { run, model } = await runs.start("A broken tale", [{ says: ["Once upon ", "a time"], call: done("the end").call }, { says: ["Again: "], call: done("the end").call }]);
  await world.go(`/task/${run}`);
  model.say(1);
  const before = await still("Once upon");
  await world.end("SIGKILL");
  await world.page.getByText("Not connected to Hermit. Trying again; what you see may be old.").waitFor({ timeout: 90_000 });
  expect(await runs.shown()).toBe(before);
  // Who reads the store meanwhile is told that nobody works on it.
  expect([known(run).interrupted, known(run).row.status]).toEqual([true, "running"]);
  await runs.again();
  await world.go(`/task/${run}`);
  await at("Working").waitFor({ timeout: 90_000 });
  model.say(2);
  await log().getByText("the end").first().waitFor({ timeout: 90_000 });
  const all = await runs.journal(run);
  expect(all.map((event) => event.seq)).toEqual([...new Set(all.map((event) => event.seq))].sort((one, other) => one - other));
  expect(all.filter((event) => event.terminal).length).toBe(1);
  expect(world.complaints).toEqual([]);
}));

test("a question and its project outlive the host, and the answer that is given on the page is told again once", conforms("RA-3-8", "RA-2-9", "RA-3-16", async () => {
  const { run, model } = await runs.start("A choice", [ask("Which of the two?", ["the left one", "the right one"]), done("It is the left one, as you said.")]);
  const question = String((await runs.told(run, "clarify.requested"))["clarify_id"]);
  const project = async () => {
    await world.go(`/task/${run}`);
    await world.page.locator("main").getByTitle(world.folder, { exact: true }).first().waitFor({ timeout: 90_000 });
    expect((await runs.told(run, "run.started"))["workspace"]).toBe(world.folder);
  };
  await project();
  await world.end("SIGKILL");
  await runs.again();
  await project();
  await at("Asks you").waitFor();
  await world.go(`/?at=${question}`);
  const asked = world.page.getByRole("region", { name: "Question" });
  await asked.getByRole("button", { name: "the left one" }).click();
  await asked.waitFor({ state: "detached" });
  await world.go(`/task/${run}`);
  await log().getByText("It is the left one, as you said.").first().waitFor({ timeout: 90_000 });
  await ends(run, "Done");
  await project();
  expect(model.asked.at(-1)).toContain("the left one");
  const resolved = await runs.of(run, "clarify.resolved");
  expect(resolved.map(({ payload }) => [payload["clarify_id"], payload["status"]])).toEqual([[question, "answered"]]);
  expect(world.complaints).toEqual([]);
}));

test("words that are queued on the page while a run is at work are heard by that run, once, and begin no other", conforms("RA-3-13", async () => {
  const { run, model } = await runs.start("A list", [{ says: ["I count ", "the first."], call: done("The first is counted.").call }, done("Both are counted.")]);
  await world.go(`/task/${run}`);
  model.say(1);
  await log().getByText("I count", { exact: false }).waitFor({ timeout: 90_000 });
  await button("Queue").click();
  await say("Count the second as well");
  await log().getByText("Count the second as well").first().waitFor();
  expect(model.asked.length, "it is not interrupted").toBe(1);
  model.say(1);
  await log().getByText("Both are counted.").first().waitFor({ timeout: 90_000 });
  expect(model.asked.length).toBe(2);
  expect(model.asked[1]).toContain("Count the second as well");
  const last = await ends(run, "Done");
  expect(times(last, "Count the second as well")).toBeGreaterThan(0);
  expect(times(await log().innerText(), "Count the second as well"), "said once").toBe(1);
  // Said to a run that has ended, the next words are a run of their own that follows it.
  const before = (JSON.parse(world.hermit("task", "list", "--json")) as { rows: unknown[] }).rows.length;
  await world.page.getByRole("textbox", { name: "Continue with a follow-up" }).fill("And the third");
  await button("Follow up").click();
  await expect.poll(() => (JSON.parse(world.hermit("task", "list", "--json")) as { rows: unknown[] }).rows.length, { timeout: 90_000 }).toBe(before + 1);
  expect(known(run).row.status).toBe("completed");
  expect(world.complaints).toEqual([]);
}));

test("the goal of a run is one for its page and for the run API, whoever edits, pauses and clears it", conforms("RA-3-14", async () => {
  const { run } = await runs.start("Sorting", [ask("By what?", [])]);
  await runs.told(run, "clarify.requested");
  const { session_id } = await runs.api<{ session_id: string }>(`/v1/runs/${run}`);
  const goal = (action: string) => runs.api<{ status: string; message: string }>(`/v1/sessions/${session_id}/goal`, { action });
  await world.go(`/task/${run}`);
  await button("Edit the goal").click();
  await world.page.getByLabel("Goal", { exact: true }).fill("sort them by year");
  await button("Save the goal").click();
  await log().getByText("The goal as it is now").waitFor({ timeout: 90_000 });
  expect((await goal("status")).message).toContain("sort them by year");
  await goal("pause");
  await at("Paused").waitFor({ timeout: 90_000 });
  await world.end("SIGKILL");
  await runs.again();
  await world.go(`/task/${run}`);
  await at("Paused").waitFor({ timeout: 90_000 });
  expect((await goal("status")).message).toContain("sort them by year");
  await button("Resume").click();
  await expect.poll(async () => (await goal("status")).message, { timeout: 90_000 }).not.toContain("paused");
  await goal("clear");
  await ends(run, "Cancelled");
  expect(known(run).goal).toBe("sort them by year");
  expect(world.complaints).toEqual([]);
}));

test("a run has the folder and the files of the conversation that it was begun in, and the next the model that was chosen since", conforms("RA-3-10", "RA-3-11", async () => {
  const first = await runs.model([{ says: [], call: { tool: "read", arguments: { path: "notes.md" } } }, done("The first model has read them.")]);
  const second = await runs.model([done("The second model has it now.")]);
  world.hermit("models", "use", first.name);
  await talk("Two models");
  await world.page.getByLabel("Attach files").setInputFiles({ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from("name,blurred\nIMG_1,yes\n") });
  await world.page.getByRole("list", { name: "Comes with your message" }).getByText("list.csv").waitFor();
  await say("Read the notes");
  await said().getByText("The first model has read them.").first().waitFor({ timeout: 90_000 });
  expect(first.model.asked[0]).toContain("IMG_1,yes");
  expect(first.model.asked[1], "what lies in the folder").toContain("buy milk");

  await world.go("/settings");
  const port = /:(\d+)\/v1/.exec(second.name)?.[1] ?? "";
  await world.page.getByLabel("Also at these ports of this machine").fill(port);
  await button("Look for models").click();
  await button("Use words by default").click();
  // No terminal opened this page, so that a terminal says it.
  await world.page.getByText(/only a person may ask/i).first().waitFor();
  world.hermit("models", "use", second.name);
  await button("Look for models").click();
  await world.page.getByText("The default model is").getByText(port, { exact: false }).waitFor({ timeout: 90_000 });
  await world.go("/conversations");
  await world.page.getByRole("button", { name: /^Two models/ }).click();
  await world.page.getByLabel("Who hears it").selectOption({ label: "A new task" });
  await say("And now the other");
  await said().getByText("The second model has it now.").first().waitFor({ timeout: 90_000 });
  expect([first.model.asked.length, second.model.asked.length], "each is asked for its own").toEqual([2, 1]);

  // Read anew, each run is told with its own model, folder and file, in the one conversation.
  await world.page.reload();
  await said().getByText("The second model has it now.").first().waitFor({ timeout: 90_000 });
  expect(await said().getByRole("list", { name: "Came with it" }).innerText()).toContain("list.csv");
  const { rows } = JSON.parse(world.hermit("task", "list", "--json")) as { rows: { task_id: string }[] };
  for (const [nth, { name }] of [[0, second], [1, first]] as const) {
    const run = rows[nth]?.task_id ?? "";
    await world.go(`/task/${run}`);
    await world.page.getByRole("region", { name: "Conversation" }).getByTitle(/:(\d+)\/v1/.exec(name)?.[0] ?? "").first().waitFor({ timeout: 90_000 });
    expect((await runs.told(run, "run.started"))["workspace"]).toBe(world.folder);
  }
  expect(world.complaints).toEqual([]);
}), 360_000);

test("sessions, files, words, cards of tools, approvals, status, diagnostics and controls stand on the pages, and the work is their host's alone", conforms("RA-S-2", async () => {
  const { run, model } = await runs.start("A workbench", [
    { says: ["I read ", "the notes."], call: { tool: "read", arguments: { path: "notes.md" } } },
    { says: ["Now I write. "], call: { tool: "write", arguments: { path: "summary.md", content: "milk\n" } } },
    done("The summary is written."),
  ]);
  await world.go(`/task/${run}`);
  model.say(1);
  await log().getByText("I read", { exact: false }).waitFor({ timeout: 90_000 });
  for (const control of ["Pause", "Cancel"]) await button(control).waitFor();
  await at("Working").waitFor();
  // No page is there while it reads, speaks on and asks: nothing of it was the page's.
  const here = world.page.url();
  await world.page.goto("about:blank");
  model.say(2);
  const card = String((await runs.told(run, "approval.requested"))["approval_id"]);
  await world.page.goto(here);
  await at("Waiting for you").waitFor({ timeout: 90_000 });
  expect(times(await still("Asks to"), "I read the notes.")).toBe(1);
  // The card of the tool, with what it did; its file; and the conversation that the run belongs to.
  const happened = world.page.getByRole("list", { name: "What happened" });
  await happened.getByText("notes.md", { exact: false }).first().click();
  const details = world.page.getByRole("region", { name: "Details", exact: true });
  await details.getByText("notes.md", { exact: false }).first().waitFor();
  await details.getByRole("button", { name: "Files", exact: true }).click();
  await details.getByRole("button", { name: /notes\.md/ }).first().waitFor();
  await log().getByRole("link", { name: "Its conversation" }).click();
  await said().getByText("the goal of A workbench").first().waitFor({ timeout: 90_000 });
  await world.page.getByRole("button", { name: "New conversation" }).waitFor();
  // The approval is answered where it is read, and its host goes on.
  await world.go(`/?at=${card}`);
  await world.page.getByRole("article", { name: "Approval" }).getByText("summary.md", { exact: false }).first().waitFor();
  await world.approve();
  await runs.told(run, "done");
  expect(world.read("summary.md")).toBe("milk\n");
  await world.go("/settings");
  await world.page.getByRole("region", { name: "This machine" }).getByText("Sandbox", { exact: true }).waitFor({ timeout: 90_000 });
  await world.page.getByRole("region", { name: "Diagnostics" }).getByRole("button", { name: "Show diagnostics" }).waitFor();
  await world.go(`/task/${run}`);
  await log().getByText("The summary is written.").first().waitFor({ timeout: 90_000 });
  const told = await ends(run, "Done");
  for (const once of ["I read the notes.", "Now I write.", "The summary is written."]) expect(times(told, once), once).toBe(1);
  expect(world.complaints).toEqual([]);
}), 360_000);
