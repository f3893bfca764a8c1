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

test("a quoted message is still quoted when its answer is sent again after a reload", async () => {
  localStorage.setItem(`hermit.draft.${TALK.conversation_id}`, "these");
  localStorage.setItem(`hermit.sending.${TALK.conversation_id}`, JSON.stringify({ text: "these", to: `input:${WAITS}`, mode: "steer", quoted: { id: "ing_2", text: "the old words" }, key: "the-key" }));
  const { host, user } = open();
  await screen.findByText("the old words");
  await sendable();
  await user.type(await field(), "{Enter}");
  await waitFor(() => expect(sent(host)).toMatchObject([{ text: "these", quotes: "ing_2", idempotency_key: "the-key" }]));
  await waitFor(() => expect(screen.queryByText("the old words")).toBeNull());
});

test("what the browser keeps of words on their way and nobody can read is no message", async () => {
  localStorage.setItem(`hermit.draft.${TALK.conversation_id}`, "these");
  localStorage.setItem(`hermit.sending.${TALK.conversation_id}`, "{\"text\":\"these\"");
  const { host } = open();
  await sendable();
  fireEvent.keyDown(await field(), { key: "Enter" });
  await waitFor(() => expect(sent(host)).toMatchObject([{ text: "these" }]));
});
