// Dictation, in Chromium over the built program: words that a platform's recogniser writes down take the ways that typed words
// take, make the same events of the run, obey the same controls, and are marked as spoken. The recogniser is a double of the
// Web Speech API, as Chromium's needs a microphone and a service of its maker.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Call, model } from "./model";
import { conforms, soundPicture } from "./kept";
import { World } from "./world";

const world = new World();
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
const log = () => world.page.getByRole("log", { name: "What was said and done" });
const message = () => world.page.getByLabel("Message", { exact: true });

/** A run that asks to write a file, is interrupted, and asks for another. */
const RUN: Call[] = [
  { tool: "write", arguments: { path: "list.md", content: "milk\n" } },
  { tool: "write", arguments: { path: "list.md", content: "milk, bread\n" } },
];
let wishes: Awaited<ReturnType<typeof model>>;
let address = "";

/** The platform's recogniser: what the test says is heard by whichever was started last. */
const RECOGNISER = `
  window.heard = [];
  class Recogniser {
    start() { window.recogniser = this; window.heard.push({ lang: this.lang, local: this.processLocally === true }); }
    stop() { window.ended = (window.ended ?? 0) + 1; this.onend?.(); }
    abort() { this.stop(); }
  }
  window.SpeechRecognition = Recogniser;
  window.speaks = (transcript, isFinal) => {
    const result = Object.assign([{ transcript }], { isFinal });
    window.recogniser.onresult({ resultIndex: 0, results: [result] });
  };
  window.fails = (error) => { window.recogniser.onerror({ error }); window.recogniser.stop(); };
`;
interface Speaks { speaks(words: string, isFinal: boolean): void; fails(error: string): void; heard: { lang: string; local: boolean }[]; ended: number }

async function speak(words: string): Promise<void> {
  await button("Dictate").click();
  await button("Stop dictating").waitFor();
  await world.page.evaluate((said) => { (globalThis as unknown as Speaks).speaks(said.slice(0, 4), false); }, words);
  await world.page.getByText(`Hearing: ${words.slice(0, 4)}`).waitFor();
  await world.page.evaluate((said) => { (globalThis as unknown as Speaks).speaks(said, true); }, words);
  await world.page.waitForFunction((said) => [...document.querySelectorAll("textarea")].some((field) => field.value.endsWith(said)), words);
  await button("Stop dictating").click();
  await button("Dictate").waitFor();
}

/** Sends while more is being heard: what is not final by then is nobody's. */
async function send(): Promise<void> {
  await expect.poll(() => button("Send").getAttribute("aria-disabled")).toBeNull();
  await button("Send").click();
  await world.page.waitForFunction(() => (document.querySelector("textarea") as HTMLTextAreaElement).value === "");
}

interface RunEvent { type: string; terminal: boolean; payload: Record<string, unknown> }
/** What a run's journal says of what it heard and did: every event, without what names or times it. */
async function journal(run: string): Promise<string[]> {
  const answer = await fetch(`${address}/v1/runs/${run}/events?limit=500`, { headers: { authorization: `Bearer ${world.token()}` } });
  const { events } = await answer.json() as { events: RunEvent[] };
  const told = events.map(({ type, terminal, payload }) => `${type} ${String(payload["step"] ?? payload["kind"] ?? payload["status"] ?? "")} ${Object.keys(payload).sort().join(",")} ${terminal}`);
  // Words come in pieces by the clock, and a gauge is told when it has moved.
  return told.filter((line) => !/^(token|context|usage|title|heartbeat)/.test(line)).filter((line, at, all) => line !== all[at - 1]);
}

const runs = () => (JSON.parse(world.hermit("task", "list", "--json")) as { rows: { task_id: string }[] }).rows.map((row) => row.task_id);

/** One run from its goal to its end, in a conversation of its own: each of its words comes by this way. */
async function run(title: string, say: (words: string) => Promise<void>): Promise<string> {
  await world.go("/conversations");
  await world.converse(title);
  await log().getByText("Your first words begin a task in this folder").waitFor();
  await say("Plan the shopping");
  await send();
  await log().getByRole("link", { name: "Review" }).waitFor({ timeout: 90_000 });
  const id = runs()[0] ?? "";
  await button("Interrupt").click();
  await say("Bread as well");
  await send();
  // What waited is asked anew: words do not allow it, whatever they are and however they came.
  await expect.poll(() => wishes.asked.filter((asked) => asked.includes("Bread as well")).length, { timeout: 90_000 }).toBeGreaterThan(0);
  await log().getByRole("link", { name: "Review" }).last().waitFor();
  await button("Queue").click();
  await say("Yes, I allow it");
  await send();
  expect(world.has("list.md"), "no words allow an act").toBe(false);
  return id;
}

beforeAll(async () => {
  world.keys();
  wishes = await model([...RUN, ...RUN]);
  world.hermit("models", "use", wishes.name);
  await world.ui();
  const link = await world.serve();
  address = new URL(link).origin;
  await world.open(link);
});

afterAll(async () => {
  await world.close();
  await wishes?.end();
});

test("where the platform has no dictation there is no button", async () => {
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  await world.page.evaluate(() => { Object.assign(globalThis, { SpeechRecognition: undefined, webkitSpeechRecognition: undefined }); });
  await world.go("/tasks/new");
  await world.page.getByRole("textbox", { name: "Goal" }).waitFor();
  expect(await button("Dictate").count()).toBe(0);
});

test("sound that may leave the machine is asked about once, and what goes wrong is said", async () => {
  await world.page.addInitScript(RECOGNISER);
  await world.page.reload();
  await world.page.getByRole("textbox", { name: "Goal" }).waitFor();
  await button("Dictate").click();
  const asked = world.page.getByRole("group", { name: "Before you dictate" });
  await asked.getByText("may send the sound to its maker").waitFor();
  expect(await world.page.evaluate(() => (globalThis as unknown as Speaks).heard)).toEqual([]);
  await soundPicture(world.page, "dictate-asks");
  await asked.getByRole("button", { name: "Dictate" }).click();
  await world.page.evaluate(() => { (globalThis as unknown as Speaks).fails("not-allowed"); });
  await world.page.getByText("The microphone is not allowed for this page.").waitFor();
  await speak("Sum up the notes");
  expect(await world.page.getByRole("textbox", { name: "Goal" }).inputValue()).toBe("Sum up the notes");
  await world.page.getByText("Marked as spoken").waitFor();
  expect((await world.page.evaluate(() => (globalThis as unknown as Speaks).heard)).length, "it is not asked a second time").toBe(2);
  const ended = () => world.page.evaluate(() => (globalThis as unknown as Speaks).ended);
  // Words that are gone from the field, as when they were sent, are over: what comes late is nobody's.
  const before = await ended();
  await button("Dictate").click();
  await button("Stop dictating").waitFor();
  await world.page.getByRole("textbox", { name: "Goal" }).fill("");
  await button("Dictate").waitFor();
  expect(await ended()).toBe(before + 1);
  await world.page.evaluate(() => { (globalThis as unknown as Speaks).speaks("too late", true); });
  expect(await world.page.getByRole("textbox", { name: "Goal" }).inputValue()).toBe("");
  // Who leaves the page is heard no more.
  await button("Dictate").click();
  await button("Stop dictating").waitFor();
  await world.go("/tasks");
  await expect.poll(ended).toBe(before + 2);
  await world.go("/tasks/new");
  await speak("Sum up the notes");
  await world.page.getByRole("textbox", { name: "Goal" }).fill("");
  await world.page.getByText("Marked as spoken").waitFor({ state: "detached" });
});

test("a question is answered by voice, and the answer is marked", async () => {
  const asks = await model([{ tool: "ask", arguments: { question: "Which shop?", choices: ["The near one"] } }, { tool: "done", arguments: { summary: "Bought." } }]);
  world.hermit("run", "--no-input", "--goal", "Do the shopping", "--workspace", world.folder, "--model", asks.name);
  const [id] = runs();
  const { waits_for, conversation_id } = JSON.parse(world.hermit("task", "show", id ?? "", "--json")) as { waits_for: { id: string } | null; conversation_id: string };
  await world.go(`/?at=${waits_for?.id ?? ""}`);
  const question = world.page.getByRole("region", { name: "Question" });
  await question.getByRole("heading", { name: "Which shop?" }).waitFor();
  await speak("The one at the corner");
  await question.getByText("Marked as spoken").waitFor();
  await question.getByRole("button", { name: "Answer", exact: true }).click();
  await question.waitFor({ state: "detached" });
  await expect.poll(() => asks.asked.at(-1)).toContain("The one at the corner");
  expect(world.hermit("conversation", "show", conversation_id)).toContain("You, spoken: The one at the corner");
  await asks.end();
  expect(world.complaints).toEqual([]);
});

test("a run by voice has the events and the controls of a run by hand, and its words are marked", conforms("RA-3-15", "RA-2-15", async () => {
  const spoken = await run("By voice", speak);
  await soundPicture(world.page, "dictate-run");
  const marks = log().locator("[data-who=user]").filter({ hasText: "spoken" });
  await expect.poll(() => marks.count()).toBe(3);
  // A draft by voice, its mark with it, is kept as a draft by hand is; nothing of the mode is left in the host.
  await speak("And butter");
  await world.page.reload();
  await world.page.getByText("Marked as spoken").waitFor();
  expect(await message().inputValue()).toBe("And butter");
  expect(await button("Dictate").getAttribute("aria-pressed"), "it listens no more").toBe("false");
  await message().fill("");

  const typed = await run("By hand", async (words) => { await message().fill(words); });
  expect(await log().locator("[data-who=user]").filter({ hasText: "spoken" }).count()).toBe(0);
  const events = await journal(spoken);
  expect(events.length).toBeGreaterThan(5);
  expect(events).toEqual(await journal(typed));

  // The same commands, and the same end.
  for (const [id, say] of [[spoken, true], [typed, false]] as const) {
    world.hermit("task", "note", id, "/stop", ...(say ? ["--spoken"] : []));
    await expect.poll(() => JSON.parse(world.hermit("task", "show", id, "--json")).row.status, { timeout: 90_000 }).toBe("cancelled");
  }
  expect(await journal(spoken)).toEqual(await journal(typed));
  const { rows } = JSON.parse(world.hermit("conversation", "list", "--json")) as { rows: { conversation_id: string; title: string }[] };
  const told = (title: string) => world.hermit("conversation", "show", rows.find((row) => row.title === title)?.conversation_id ?? "");
  expect(told("By voice").match(/You, spoken: /g)?.length).toBe(4);
  expect(told("By hand")).not.toContain("spoken");
  expect(world.complaints).toEqual([]);
}));
