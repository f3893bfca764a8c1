// The contract of the run API beside the page: what a run's journal says, a person sees on the page of that run, in a real
// browser against the built host. The model speaks a piece at a time, when the test lets it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { conforms } from "./kept";
import { Runs } from "./runs";
import { THINKS, type Turn } from "./speaker";
import { World } from "./world";

const world = new World();
const runs = new Runs(world);
const { button, log, at } = runs;
const journal = (run: string) => runs.journal(run);
const of = (run: string, type: string) => runs.of(run, type);
const told = (run: string, type: string) => runs.told(run, type);
const start = (title: string, turns: Turn[]) => runs.start(title, turns);

beforeAll(async () => {
  world.keys();
  world.file("notes.md", "# Notes\n\nbuy milk\n");
  await world.ui();
  await runs.open();
});

afterAll(() => runs.close());

test("each event of a run has its place on the page of the run while it is told", conforms("RA-1.2-1", "RA-1.2-2", "RA-1.2-4", "RA-1.2-5", "RA-1.2-7", "RA-1.2-8", "RA-1.2-9", "RA-1.2-10", "RA-1.2-11", "RA-1.2-12", "RA-1.2-13", "RA-1.2-15", "RA-2-7", "RA-2-13", "RA-3-7", async () => {
    const { run, model } = await start("The notes", [
      { says: ["First I look ", "at the notes."], call: { tool: "read", arguments: { path: "notes.md" } } },
      { says: [], call: { tool: "ask", arguments: { question: "Which of the two?", choices: ["the left one", "the right one"] } } },
      { says: [], call: { tool: "write", arguments: { path: "summary.md", content: "milk\n" } } },
      { says: [], call: { tool: "done", arguments: { summary: "The summary is written." } } },
    ]);
    await world.go(`/task/${run}`);
    // It has begun: what it is called, that it works, and what can be done with it.
    const started = await told(run, "run.started");
    for (const key of ["status", "controls", "session_id", "workspace", "profile", "model", "toolset"]) expect(started[key], key).toBeTruthy();
    expect(started["controls"]).toContain("cancel");
    await at("Working").waitFor();
    for (const control of ["Pause", "Cancel"]) await button(control).waitFor();
    const title = await told(run, "title.updated");
    expect([title["title"], title["source"], title["confidence"]]).toEqual(["The notes", "given", 1]);
    await world.page.getByRole("heading", { name: "The notes" }).waitFor();
    // Its words come as they are said.
    model.say(1);
    const delta = await told(run, "token.delta");
    expect(delta["delta"]).toContain("First I look");
    expect([delta["segment_id"], delta["content_type"]]).toEqual([expect.stringMatching(/^att_/), "text/plain"]);
    await log().getByText("First I look", { exact: false }).waitFor();
    expect(await log().innerText()).not.toContain("at the notes.");
    model.say(1);
    await log().getByText("First I look at the notes.", { exact: false }).waitFor();
    // A tool: begun, done, and on the page what it did.
    const tool = await told(run, "tool.started");
    for (const key of ["tool_call_id", "name", "arguments", "started_at"]) expect(tool, key).toHaveProperty(key);
    const done = await told(run, "tool.done");
    expect(done["tool_call_id"]).toBe(tool["tool_call_id"]);
    expect([done["status"], done["error"]]).toEqual(["succeeded", false]);
    expect(done["result"]).toBeTruthy();
    expect(done["duration_ms"]).toBeGreaterThanOrEqual(0);
    await log().getByText("notes.md", { exact: false }).first().waitFor();
    // How far it has come is told in the timeline, turn by turn.
    await expect.poll(async () => (await of(run, "progress")).filter((event) => event.payload["phase"] === "context").length, { timeout: 90_000 }).toBe(2);
    for (const event of await of(run, "progress")) expect(event.payload["text"], JSON.stringify(event)).toEqual(expect.any(String));
    await world.page.getByRole("list", { name: "What happened" }).getByText("Asked the model (", { exact: false }).nth(1).waitFor();
    // A question, with its choices, where a person answers it; then it is gone.
    const question = await told(run, "clarify.requested");
    expect([question["question"], question["choices"], question["input_mode"]]).toEqual(["Which of the two?", ["the left one", "the right one"], "choice"]);
    await at("Asks you").waitFor();
    await world.go(`/?at=${String(question["clarify_id"])}`);
    const asked = world.page.getByRole("region", { name: "Question" });
    await asked.getByRole("heading", { name: "Which of the two?" }).waitFor();
    expect(await asked.getByRole("button", { name: /the (left|right) one/ }).count()).toBe(2);
    await asked.getByRole("button", { name: "the left one" }).click();
    const answered = await told(run, "clarify.resolved");
    expect([answered["clarify_id"], answered["status"], answered["answer"]]).toEqual([question["clarify_id"], "answered", expect.stringMatching(/^ing_/)]);
    await asked.waitFor({ state: "detached" });
    // A card, with what it is about and how grave it is; after the yes it is closed.
    const card = await told(run, "approval.requested");
    expect(card).toMatchObject({ approval_id: expect.stringMatching(/^apr_/), summary: expect.stringContaining("summary.md"), risk: { action_class: "write_local", band: expect.any(String) }, choices: ["once", "standing", "deny"] });
    await world.go(`/task/${run}`);
    await at("Waiting for you").waitFor();
    await log().getByRole("link", { name: "Review" }).click();
    const article = world.page.getByRole("article", { name: "Approval" });
    await article.getByText("summary.md", { exact: false }).first().waitFor();
    await world.page.getByRole("button", { name: "Approve with passphrase" }).click();
    await world.page.getByLabel("Approval passphrase").fill(world.passphrase);
    await button("Approve").click();
    await article.getByRole("link", { name: "Receipt" }).waitFor();
    const resolved = await told(run, "approval.resolved");
    expect([resolved["approval_id"], resolved["status"], resolved["choice"]]).toEqual([card["approval_id"], "granted", "once"]);
    expect(await button("Approve with passphrase").count()).toBe(0);
    // The end: how it stands, what it used, its last words, and no control of a run at work.
    await told(run, "done");
    await world.go(`/task/${run}`);
    await at("Done").waitFor();
    await log().getByText("The summary is written.").waitFor();
    for (const control of ["Pause", "Cancel"]) await button(control).waitFor({ state: "detached" });
    expect(world.read("summary.md")).toBe("milk\n");
    // What a tool was given is told by what it is about, and not with all that was in it.
    const writes = JSON.stringify((await of(run, "tool.started")).at(-1)?.payload);
    expect(writes).toContain("summary.md");
    expect(writes).not.toContain("milk");
    const last = (await journal(run)).at(-1);
    expect([last?.type, last?.terminal, last?.payload["last_seq"]]).toEqual(["done", true, last?.seq]);
    const usage = await told(run, "usage.final");
    expect(usage).toMatchObject({ tokens: 4 * 1010, cost_micros: expect.any(Number), provider: expect.any(String), model: expect.any(String) });
    expect(usage["duration_ms"], "what it took, in milliseconds").toBeGreaterThan(0);
    expect(last?.payload).toMatchObject({ status: "completed", usage: { tokens: usage["tokens"], duration_ms: usage["duration_ms"] }, result: { reason: "done", summary: "The summary is written." } });
    expect((await of(run, "usage.updated")).length).toBeGreaterThan(0);
    await world.page.locator("main").getByText("4,040", { exact: true }).waitFor();
    // Terminal and run API count nothing of their own.
    expect((JSON.parse(world.hermit("task", "show", run, "--json")) as { row: { tokens_used: number } }).row.tokens_used).toBe(4 * 1010);
    // Opened anew, the page shows the same, once, and the journal tells again what became of tool and card.
    const before = await log().innerText();
    const lifecycle = async () => (await journal(run)).filter((event) => /^(tool|approval)\./.test(event.type));
    const lived = await lifecycle();
    await world.page.reload();
    await log().getByText("The summary is written.").waitFor();
    await expect.poll(() => log().innerText(), { timeout: 90_000 }).toBe(before);
    expect(before.split("First I look at the notes.").length - 1).toBe(1);
    expect(await lifecycle()).toEqual(lived);
    expect(lived.map((event) => event.type).filter((type) => type !== "tool.updated")).toEqual(["tool.started", "tool.done", "approval.requested", "approval.resolved", "tool.started", "tool.done"]);
    expect(world.complaints).toEqual([]);
  },
));

test("what went wrong stands on the page with the end of its run", conforms("RA-1.2-14", async () => {
  const { run } = await start("A wish", [
    { says: [], call: { tool: "write", arguments: { path: "wish.md", content: "a wish\n" } } },
    { says: [], call: { tool: "done", arguments: { summary: "It was not to be." } } },
  ]);
  const card = await told(run, "approval.requested");
  await world.go(`/?at=${String(card["approval_id"])}`);
  await world.page.getByRole("article", { name: "Approval" }).getByText("wish.md", { exact: false }).first().waitFor();
  await button("Deny").click();
  const end = await told(run, "error");
  expect([end["code"], end["terminal"]]).toEqual(["denied", true]);
  expect(String(end["message"])).not.toBe("");
  expect(end["diagnostics"], "what may be told of it").toEqual({ reason: expect.any(String) });
  expect(JSON.stringify(end)).not.toContain(world.dir);
  await world.go(`/task/${run}`);
  await at("Denied by you").waitFor();
  await button("Retry").waitFor();
  expect(await button("Cancel").count()).toBe(0);
  // A model that is gone: told, and the run is no end.
  const gone = await start("Nobody there", []);
  gone.model.end();
  const trouble = await told(gone.run, "error");
  expect(trouble["terminal"]).toBe(false);
  await world.go(`/task/${gone.run}`);
  await world.page.getByRole("list", { name: "What happened" }).getByText("Model failed", { exact: false }).first().waitFor();
  await at("Paused").waitFor();
  expect(world.complaints).toEqual([]);
}));

test("a page that is reloaded, closed and opened anew orphans no work, and can still end it", conforms("RA-P-1", async () => {
  const { run, model } = await start("A long story", [
    { says: Array.from({ length: 40 }, (_, n) => `word${n} `), call: { tool: "done", arguments: { summary: "the end" } } },
  ]);
  const words = async () => (await of(run, "token.delta")).map((event) => String(event.payload["delta"])).join("");
  await world.go(`/task/${run}`);
  model.say(5);
  await expect.poll(words, { timeout: 90_000 }).toContain("word4 ");
  await world.page.reload();
  model.say(5);
  await expect.poll(words, { timeout: 90_000 }).toContain("word9 ");
  await at("Working").waitFor();
  // The whole browser goes; nobody looks while it works on.
  await world.browser.close();
  model.say(5);
  await expect.poll(words, { timeout: 90_000 }).toContain("word14 ");
  await world.open(/http:\S+/.exec(world.hermit("open"))?.[0] ?? "");
  await world.go("/tasks");
  await world.page.getByText("A long story").first().click();
  await at("Working").waitFor();
  model.say(1);
  await log().getByText("word15", { exact: false }).waitFor();
  await button("Cancel").click();
  await button("Cancel the task").click();
  await at("Cancelled").waitFor();
  const all = await journal(run);
  expect([all.at(-1)?.type, all.filter((event) => event.terminal).length]).toEqual(["cancelled", 1]);
  expect(await words()).toBe(Array.from({ length: 16 }, (_, n) => `word${n} `).join(""));
  expect(world.complaints).toEqual([]);
}));

test("what a run is at stands on its page as it changes, and what its model was sent byte for byte", conforms("HK-21-1", "HK-21-13", "HK-21-17", async () => {
  const { run, model } = await start("The post", [
    { says: ["I open ", "the post."], call: { tool: "read", arguments: { path: "notes.md" } } },
    { says: [], call: { tool: "ask", arguments: { question: "Is it for you?", choices: ["yes", "no"] } } },
    { says: [], call: { tool: "done", arguments: { summary: "The post is sorted." } } },
  ]);
  await world.go(`/task/${run}`);
  await at("Working").waitFor();
  model.say(1);
  await log().getByText("I open", { exact: false }).waitFor();
  expect(await log().innerText()).not.toContain("the post.");
  model.say(1);
  // Nobody reads the page anew, and it tells what the run is at by now.
  await at("Asks you").waitFor();
  expect((await told(run, "clarify.requested"))["question"]).toBe("Is it for you?");
  await world.page.getByRole("region", { name: "Details", exact: true }).getByRole("button", { name: "Sent to model", exact: true }).click();
  await world.page.getByRole("button", { name: /^Attempt 1, turn 1/ }).click();
  await world.page.getByRole("heading", { name: "Attempt 1, turn 1" }).waitFor();
  await button("Sent").click();
  const sent = world.page.getByRole("region", { name: "Details of what is chosen" }).locator("pre").first();
  await expect.poll(() => sent.textContent(), { timeout: 90_000 }).toBe(model.asked[0]);
  expect(model.asked[0]).toContain("the goal of The post");
  world.hermit("task", "cancel", run);
  await at("Cancelled").waitFor();
  expect(world.complaints).toEqual([]);
}));

const shown = () => runs.shown();
const shownWith = (part: string) => runs.shownWith(part);

const times = (text: string, part: string) => text.split(part).length - 1;

test("a run is told the same after a reload, in a browser that never saw it and under another host, each thing once", conforms("RA-1.1-5", "RA-1.2-3", "RA-2-5", "RA-2-6", "RA-3-1", "RA-3-4", "RA-4.1-5", "RA-4.4a-4", "RA-4.4a-7", "RA-4.4b-2", "RA-4.4f-1", "RA-4.4f-2", "RA-5.1-2", "RA-5.1-5", "RA-5.2-1", "RA-5.2-2", async () => {
  const words = (name: string) => Array.from({ length: 40 }, (_, n) => `${name}${n} `);
  const end = { tool: "done", arguments: { summary: "the end" } };
  const { run, model } = await start("A story that is broken off", [
    { says: ["First I look ", "at the notes."], call: { tool: "read", arguments: { path: "notes.md" } } },
    { says: [`${THINKS}One thought, `, `${THINKS}another. `, ...words("word")], call: end },
    { says: words("again"), call: end },
  ]);
  const heard = async () => (await of(run, "token.delta")).map((event) => String(event.payload["delta"])).join("");
  const link = () => /http:\S+/.exec(world.hermit("open"))?.[0] ?? "";
  await world.go(`/task/${run}`);
  model.say(2);
  await told(run, "tool.done");
  // What it reasons stands apart from its words, and a page that is read anew tells it again, once.
  model.say(1);
  const thought = () => log().locator("details", { hasText: "What it is thinking" });
  await thought().locator("summary").click();
  await thought().getByText("One thought,").waitFor();
  await world.page.reload();
  await thought().locator("summary").click();
  await thought().getByText("One thought,").waitFor();
  model.say(1);
  await expect.poll(() => thought().innerText(), { timeout: 90_000 }).toMatch(/thinking\s*One thought, another\.\s*$/);
  await thought().locator("summary").click();
  model.say(5);
  await shownWith("First I look at the notes.");
  // A page that is read anew tells what was told before, from what was kept of it, and nothing twice.
  const before = await shownWith("word4");
  for (const once of ["First I look at the notes.", "word0 word1 word2 word3 word4"]) expect(times(before, once), once).toBe(1);
  await world.page.reload();
  await expect.poll(shown, { timeout: 90_000 }).toBe(before);
  // The browser goes, and its session with it: the run works on while nobody looks.
  await world.browser.close();
  model.say(5);
  await expect.poll(heard, { timeout: 90_000 }).toContain("word9 ");
  await world.open(link());
  await world.go("/tasks");
  await world.page.getByText("A story that is broken off").first().click();
  await at("Working").waitFor();
  await shownWith("First I look at the notes.");
  const caughtUp = await shownWith("word9");
  expect(caughtUp.replace(/( word\d)+/, "")).toBe(before.replace(/( word\d)+/, ""));
  expect(times(caughtUp, "word0 word1 word2 word3 word4 word5 word6 word7 word8 word9")).toBe(1);
  // The host is killed: the page keeps what it showed, and says that it may be old.
  await world.end("SIGKILL");
  await world.page.getByText("Not connected to Hermit. Trying again; what you see may be old.").waitFor();
  expect(await shown()).toBe(caughtUp);
  // Under the next host it goes on: the act before it is not done again, and the run can be ended.
  await world.reopen(await world.serve());
  await world.go(`/task/${run}`);
  await at("Working").waitFor();
  // What the model was still to say to the host that is gone goes nowhere.
  model.say(8);
  await shownWith("again0 again1 again2");
  const { session_id } = await runs.api<{ session_id: string }>(`/v1/runs/${run}`);
  expect((await runs.api<{ active_run_id: string | null }>(`/v1/sessions/${session_id}/runs`)).active_run_id).toBe(run);
  await button("Cancel").click();
  await button("Cancel the task").click();
  await at("Cancelled").waitFor();
  const ended = await shownWith("Stopped: a person cancelled it.");
  await world.page.reload();
  await expect.poll(shown, { timeout: 90_000 }).toBe(ended);
  expect(times(ended, "First I look at the notes.")).toBe(1);
  const all = await journal(run);
  expect(all.map((event) => event.seq)).toEqual([...new Set(all.map((event) => event.seq))].sort((one, other) => one - other));
  expect(["tool.started", "tool.done", "cancelled"].map((type) => all.filter((event) => event.type === type).length)).toEqual([1, 1, 1]);
  expect([all.at(-1)?.type, all.filter((event) => event.terminal).length]).toEqual(["cancelled", 1]);
  expect(world.complaints).toEqual([]);
}), 540_000);
