// Words on their way: taken once, whatever happens to the page meanwhile, and only by whom they were meant for.
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import type { CommandName, Commands } from "~/ipc/generated/commands";
import type { Conversation } from "~/ipc/generated/conversations";
import type { TaskRow } from "~/ipc/generated/task";
import { DONE, TALK, WAITS, doneRow, doneTask, scene, taskRow } from "~/test/scene";
import { conversation, threadAnswers } from "~/test/talk";
import { show } from "~/test/show";

type Answers = { [N in CommandName]?: Commands[N]["answer"] | ((params: Commands[N]["params"]) => Commands[N]["answer"] | Promise<Commands[N]["answer"]>) };
type Sent = { text: string; task?: string; mode?: string; idempotency_key: string };

const OTHER = "cnv_01a20000000070008000000000000013";
const running = taskRow({ title: "Rates", status: "running", run_status: "running", open_approvals: 0 });
const second = taskRow({ task_id: DONE, title: "Second", status: "running", run_status: "running", open_approvals: 0 });
const said = { message_id: "ing_9", resolution: "append_note" as const, task_id: WAITS, candidates: [], rationale: "", told: [] as string[], conversation_id: TALK.conversation_id };

function open(answers: Answers = {}, { more = {}, tasks = [running], at = `?at=${TALK.conversation_id}` }: { more?: Partial<Conversation>; tasks?: TaskRow[]; at?: string } = {}) {
  const here = conversation({ focus_task_id: WAITS, ...more });
  const other = conversation({ conversation_id: OTHER, title: "Photos", updated_at: TALK.updated_at - 1 });
  const host = scene({
    ...threadAnswers(here, []), "conversations.list": { rows: [here, other] }, "conversations.show": ({ conversation: id }) => (id === OTHER ? other : here),
    "task.list": ({ conversation: id }) => ({ rows: id === OTHER ? [] : tasks }), "task.show": { ...doneTask, reasoner: "openai:qwen", row: tasks[0] ?? doneRow }, "conversations.say": said, ...answers,
  });
  return { host, ...show(host, `/conversations${at}`) };
}
const sent = (host: ReturnType<typeof scene>, name: CommandName = "conversations.say") => host.asked.filter((one) => one.name === name).map((one) => one.params as Sent);
const field = async () => (await screen.findByLabelText("Message")) as HTMLTextAreaElement;
const sendable = () => waitFor(() => expect(screen.getByRole("button", { name: "Send" }).getAttribute("aria-disabled")).toBeNull());
const turnTo = async (user: ReturnType<typeof open>["user"], title: RegExp) => {
  await user.click(screen.getByRole("button", { name: title }));
  await screen.findByRole("heading", { level: 2, name: title });
};

/** An answer that comes when it is let. */
function later<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((yes, no) => { resolve = yes; reject = no; });
  return { promise, resolve, reject };
}
function late() {
  const { promise, resolve } = later<typeof said>();
  return { answers: { "conversations.say": () => promise } satisfies Answers, come: () => resolve(said) };
}

test("words on their way are on their way in every view of their conversation, and are gone once they were taken", async () => {
  const { answers, come } = late();
  const { host, user } = open(answers);
  await screen.findByRole("option", { name: "For: Rates" });
  await user.type(await field(), "hurry{Enter}");
  await waitFor(() => expect(sent(host).length).toBe(1));
  await turnTo(user, /^Photos/);
  await turnTo(user, /^Billing/);
  expect((await field()).value).toBe("hurry");
  expect(screen.getByText("sending")).toBeTruthy();
  await user.type(await field(), "{Enter}");
  expect(sent(host).length).toBe(1);
  come();
  await waitFor(async () => expect((await field()).value).toBe(""));
  await waitFor(() => expect(screen.queryByText("sending")).toBeNull());
  expect(localStorage.length).toBe(0);
});

test("what was taken while a person was elsewhere is not there to be sent again", async () => {
  const { answers, come } = late();
  const { host, user } = open(answers);
  await screen.findByRole("option", { name: "For: Rates" });
  await user.type(await field(), "hurry{Enter}");
  await waitFor(() => expect(sent(host).length).toBe(1));
  await turnTo(user, /^Photos/);
  come();
  await waitFor(() => expect(localStorage.length).toBe(0));
  await turnTo(user, /^Billing/);
  expect((await field()).value).toBe("");
});

test("after an answer that never came and a reload the same words are the same message, to whom and when they were meant", async () => {
  const gone = open({ "task.note": () => new Promise<never>(() => {}) }, { tasks: [running, second] });
  await screen.findByRole("option", { name: "For: Second" });
  await gone.user.selectOptions(screen.getByLabelText("Who hears it"), "For: Second");
  await gone.user.click(screen.getByRole("button", { name: "Queue" }));
  await gone.user.type(await field(), "hurry{Enter}");
  await waitFor(() => expect(sent(gone.host, "task.note").length).toBe(1));
  gone.unmount();
  const again = open({ "task.note": { task_id: DONE, ingress_id: "ing_9", resolution: null, told: null, made: null } }, { tasks: [running, second] });
  expect((await field()).value).toBe("hurry");
  await sendable();
  await again.user.type(await field(), "{Enter}");
  await waitFor(() => expect(sent(again.host, "task.note")).toEqual(sent(gone.host, "task.note")));
  expect(sent(again.host)).toEqual([]);
  await waitFor(async () => expect((await field()).value).toBe(""));
  // What was taken chooses nothing for what is written next.
  expect((screen.getByLabelText("Who hears it") as HTMLSelectElement).value).toBe(`input:${WAITS}`);
  expect(localStorage.length).toBe(0);
});

test("the same words to another target, or written anew after they were given up, are another message", async () => {
  const { host, user } = open({ "conversations.say": undefined as never }, { tasks: [running, second] });
  await screen.findByRole("option", { name: "For: Second" });
  await user.type(await field(), "hurry{Enter}");
  await screen.findByRole("alert");
  await user.selectOptions(screen.getByLabelText("Who hears it"), "For: Second");
  await user.type(await field(), "{Enter}");
  await waitFor(() => expect(sent(host).length).toBe(2));
  await sendable();
  await user.clear(await field());
  await user.type(await field(), "hurry{Enter}");
  await waitFor(() => expect(sent(host).length).toBe(3));
  expect(sent(host).map((one) => one.task)).toEqual([WAITS, DONE, DONE]);
  expect(new Set(sent(host).map((one) => one.idempotency_key)).size).toBe(3);
});

test("nothing is sent before the tasks are known, nor after they could not be read, until they were", async () => {
  let fails = true;
  const { promise, reject } = later<never>();
  const { host, user } = open({ "task.list": () => (fails ? promise : { rows: [running] }) });
  await user.type(await field(), "hurry{Enter}");
  const button = screen.getByRole("button", { name: "Send" });
  expect(button.title).toBe("Its tasks are being read");
  reject(new Error("the store is busy"));
  expect((await screen.findByRole("alert")).textContent).toContain("busy");
  expect(button.title).toBe("Its tasks could not be read");
  await user.type(await field(), "{Enter}");
  await user.click(button);
  expect(sent(host)).toEqual([]);
  fails = false;
  await user.click(screen.getByRole("button", { name: "Try again" }));
  await sendable();
  await user.click(button);
  await waitFor(() => expect(sent(host)).toMatchObject([{ text: "hurry", task: WAITS }]));
});

test("a task in focus that is not among the newest is asked for, and hears what is said", async () => {
  const { promise, resolve } = later<Commands["task.show"]["answer"]>();
  const { host, user } = open({ "task.show": ({ task: id }) => (id === WAITS ? promise : doneTask) }, { tasks: [doneRow] });
  await user.type(await field(), "hurry{Enter}");
  await waitFor(() => expect(screen.getByRole("button", { name: "Send" }).title).toBe("Its tasks are being read"));
  expect(sent(host)).toEqual([]);
  resolve({ ...doneTask, reasoner: "openai:qwen", row: running });
  await screen.findByRole("option", { name: "For: Rates" });
  await user.type(await field(), "{Enter}");
  await waitFor(() => expect(sent(host)).toMatchObject([{ text: "hurry", task: WAITS }]));
});

test("a chosen target that is no longer there is chosen anew", async () => {
  let rows = [running, second];
  const { host, client, user } = open({ "task.list": () => ({ rows }) });
  await screen.findByRole("option", { name: "For: Second" });
  const hears = screen.getByLabelText("Who hears it") as HTMLSelectElement;
  await user.selectOptions(hears, "For: Second");
  rows = [running];
  await client.invalidateQueries({ queryKey: ["task.list"] });
  await waitFor(() => expect(hears.selectedOptions[0]?.textContent).toBe("Choose who hears it"));
  await user.type(await field(), "hurry{Enter}");
  expect(sent(host)).toEqual([]);
  expect(screen.getByRole("button", { name: "Send" }).title).toBe("Choose who hears it");
  await user.selectOptions(hears, "For: Rates");
  await user.type(await field(), "{Enter}");
  await waitFor(() => expect(sent(host)).toMatchObject([{ text: "hurry", task: WAITS }]));
});

test("the open conversation stays while something is said in another", async () => {
  let newest = 0;
  const here = conversation({ focus_task_id: WAITS });
  const other = () => conversation({ conversation_id: OTHER, title: "Photos", updated_at: TALK.updated_at - 1 + newest });
  const { client, user } = open({ "conversations.list": () => ({ rows: newest === 0 ? [here, other()] : [other(), here] }) }, { at: "" });
  const at = await field();
  await user.type(at, "half a");
  newest = 10;
  await client.invalidateQueries({ queryKey: ["conversations.list"] });
  await waitFor(() => expect(screen.getAllByRole("listitem").map((one) => one.textContent ?? "").findIndex((one) => one.startsWith("Photos"))).toBeLessThan(screen.getAllByRole("listitem").map((one) => one.textContent ?? "").findIndex((one) => one.startsWith("Billing"))));
  await user.keyboard(" thought");
  expect(document.activeElement).toBe(at);
  expect(at.value).toBe("half a thought");
});

const KEPT = `hermit.with.${TALK.conversation_id}`;
const NOTES = { id: "art_1", name: "notes.txt", size: 13, media: "text/plain" };

test("what comes with words is still with them when they are sent again after a reload, and goes when they were taken", async () => {
  localStorage.setItem(`hermit.draft.${TALK.conversation_id}`, "these");
  localStorage.setItem(KEPT, JSON.stringify({ quoted: { id: "ing_2", text: "the old words" }, files: [NOTES, { id: 7 }, null] }));
  const gone = open({ "conversations.say": () => new Promise<never>(() => {}) });
  await sendable();
  await gone.user.type(await field(), "{Enter}");
  await waitFor(() => expect(sent(gone.host)).toMatchObject([{ text: "these", quotes: "ing_2", encloses: ["art_1"] }]));
  gone.unmount();
  const again = open();
  await screen.findByText("the old words");
  expect(screen.getByRole("list", { name: "Comes with your message" }).textContent).toContain("notes.txt");
  await sendable();
  await again.user.type(await field(), "{Enter}");
  await waitFor(() => expect(sent(again.host)).toEqual(sent(gone.host)));
  await waitFor(() => expect(screen.queryByText("the old words")).toBeNull());
  expect(screen.queryByText("notes.txt")).toBeNull();
  expect(localStorage.length).toBe(0);
});

test("the same words with another file are another message", async () => {
  localStorage.setItem(`hermit.draft.${TALK.conversation_id}`, "these");
  localStorage.setItem(KEPT, JSON.stringify({ quoted: null, files: [NOTES] }));
  const { host, user } = open({ "conversations.say": () => Promise.reject(new Error("no")) });
  await sendable();
  await user.type(await field(), "{Enter}");
  await waitFor(() => expect(sent(host).length).toBe(1));
  await user.click(screen.getByRole("button", { name: "Leave out notes.txt" }));
  await sendable();
  await user.type(await field(), "{Enter}");
  await waitFor(() => expect(sent(host).length).toBe(2));
  const [first, second] = sent(host);
  expect(first).toMatchObject({ encloses: ["art_1"] });
  expect(second).not.toHaveProperty("encloses");
  expect(first?.idempotency_key).not.toBe(second?.idempotency_key);
});

test("a quotation and a file go with a new task, with what is queued and with what interrupts", async () => {
  const { host, user } = open({ "task.note": { task_id: WAITS, ingress_id: "ing_9", resolution: null, told: null, made: null } });
  await screen.findByRole("option", { name: "For: Rates" });
  const keep = () => localStorage.setItem(KEPT, JSON.stringify({ quoted: { id: "att_1", text: "a part", isPart: true }, files: [NOTES] }));
  for (const [how, name] of [["Queue", "task.note"], ["Interrupt", "task.note"], ["A new task", "conversations.say"]] as const) {
    keep();
    dispatchEvent(new Event("storage"));
    await screen.findByText("a part");
    if (how === "A new task") await user.selectOptions(screen.getByLabelText("Who hears it"), how);
    else await user.click(screen.getByRole("button", { name: how }));
    await user.type(await field(), `by ${how}`);
    await sendable();
    await user.type(await field(), "{Enter}");
    await waitFor(() => expect(sent(host, name).at(-1)).toMatchObject({ text: `by ${how}`, quotes: "att_1", passage: "a part", encloses: ["art_1"] }));
    await waitFor(() => expect(screen.queryByText("a part")).toBeNull());
  }
  expect(sent(host, "task.note").map((one) => one.mode)).toEqual(["queue", "stop_and_send"]);
  expect(sent(host).at(-1)).toMatchObject({ about: "new" });
});

test("files are dropped, pasted and chosen, taken in at once, and bounded in words", async () => {
  let n = 0;
  const { host, user } = open({ "artifacts.ingest": () => ({ artifact_id: `art_${(n += 1)}`, sha256: "c0", byte_size: 5 }), "conversations.files": { rows: [{ artifact_id: "art_90", name: "old.csv", byte_size: 7, media_type: "text/csv", trust: "untrusted", is_erased: false, message_id: "ing_1", at: 0 }], next: null } });
  const at = await field();
  await sendable().catch(() => undefined);
  const file = (name: string, size = 5) => new File(["x".repeat(size)], name, { type: "text/plain" });
  fireEvent.paste(at, { clipboardData: { files: [file("shot.png")] } });
  await screen.findByText("shot.png");
  fireEvent.drop(at, { dataTransfer: { types: ["Files"], files: [file("one.txt"), file("two.txt")] } });
  await screen.findByText("two.txt");
  expect(host.asked.filter((one) => one.name === "artifacts.ingest").map((one) => (one.params as { name: string; bytes: string }).bytes)).toEqual(["eHh4eHg=", "eHh4eHg=", "eHh4eHg="]);
  await user.click(screen.getByRole("button", { name: "Files" }));
  await user.click(await screen.findByRole("button", { name: "Attach old.csv again" }));
  await user.click(screen.getByRole("button", { name: "Leave out one.txt" }));
  fireEvent.drop(at, { dataTransfer: { types: ["Files"], files: [file("huge.bin", 5 * 1024 * 1024)] } });
  await screen.findByText(/“huge.bin” has .* at most .* are taken with a message/);
  fireEvent.drop(at, { dataTransfer: { types: ["Files"], files: Array.from({ length: 20 }, (_, m) => file(`n${m}.txt`)) } });
  await screen.findByText(/16 files is as many as one message takes/);
  await screen.findByText("n12.txt");
  expect(screen.queryByText("n13.txt")).toBeNull();
  await user.type(at, "look");
  await sendable();
  await user.type(at, "{Enter}");
  await waitFor(() => expect((sent(host).at(-1) as { encloses?: string[] } | undefined)?.encloses?.slice(0, 3)).toEqual(["art_1", "art_3", "art_90"]));
});

test("what the browser keeps of words on their way and nobody can read is no message", async () => {
  localStorage.setItem(`hermit.draft.${TALK.conversation_id}`, "these");
  localStorage.setItem(`hermit.sending.${TALK.conversation_id}`, "{\"text\":\"these\"");
  const { host } = open();
  await sendable();
  fireEvent.keyDown(await field(), { key: "Enter" });
  await waitFor(() => expect(sent(host)).toMatchObject([{ text: "these" }]));
});
