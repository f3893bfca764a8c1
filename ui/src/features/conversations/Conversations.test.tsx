// Conversations on the screen: the newest last, each line once, what words became, and where the next ones go.
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { CommandName, Commands } from "~/ipc/generated/commands";
import type { Conversation, Heard, Line } from "~/ipc/generated/conversations";
import type { TaskRow } from "~/ipc/generated/task";
import { AT, DONE, TALK, WAITS, doneRow, doneTask, scene, taskRow } from "~/test/scene";
import { conversation, line, threadAnswers } from "~/test/talk";
import { seriousFindings, show } from "~/test/show";

type Given = { conversation?: Partial<Conversation>; lines?: Line[]; tasks?: TaskRow[] };

const running = taskRow({ status: "running", run_status: "running", open_approvals: 0 });
const heard: Heard = { channel: "app", trust: "user_asserted", resolution: "start_new_root", is_open: false, is_waiting: false, candidates: [], confidence: null, margin: null, rationale: null, answers: null, reply_to: null, quotes: null };
const said = { message_id: "ing_9", resolution: "append_note" as const, task_id: WAITS, candidates: [], rationale: "", told: [] as string[], conversation_id: TALK.conversation_id };

function open({ conversation: more = {}, lines = [], tasks = [running] }: Given, answers: { [N in CommandName]?: Commands[N]["answer"] } = {}) {
  const host = scene({ ...threadAnswers(conversation(more), lines), "task.list": { rows: tasks }, "task.show": { ...doneTask, reasoner: "openai:qwen", row: tasks[0] ?? doneRow }, "conversations.say": said, ...answers });
  return { host, ...show(host, `/conversations?at=${conversation().conversation_id}`) };
}
const asked = (host: ReturnType<typeof scene>, name: CommandName) => host.asked.filter((one) => one.name === name).map((one) => one.params);

test("lines stand in the order they were said, the newest last, under the task of each, with what words became", async () => {
  const task = { task_id: DONE, title: "Tidy the downloads", status: "completed" as const, follows: null, parent_task_id: null };
  // As the host tells them: the newest first.
  open({
    tasks: [running, doneRow], conversation: { focus_task_id: WAITS },
    lines: [
      line(9, { kind: "message", text: "and the pictures", heard, task: { ...task, task_id: WAITS, title: "Pictures", status: "running", follows: DONE } }),
      line(7, { kind: "answer", role: "agent", text: "7 files were moved.", said_by: "model", task }),
      line(5, { kind: "receipt", role: "system", text: "move 7 files", ref_id: "rcp_0000abcd", result: "succeeded", task }),
      line(3, { kind: "message", text: "tidy up", heard, task }),
    ],
  });
  const log = within(await screen.findByRole("log"));
  await log.findByText("and the pictures");
  const whole = (log.getByText("tidy up").closest("[role=log]")?.textContent ?? "").replaceAll(/\s+/g, " ");
  const order = ["Tidy the downloads", "tidy up", "Began a task", "Moved 7 files", "7 files were moved.", "Pictures", "and the pictures", "goes on from “Tidy the downloads”"].map((words) => whole.indexOf(words));
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(order).not.toContain(-1);
  expect(log.getByText("UNVERIFIED")).toBeTruthy();
  expect(log.getByRole("link", { name: "R-abcd" }).getAttribute("href")).toContain("rcp_0000abcd");
  expect(await seriousFindings()).toEqual([]);
});

test("Enter sends to the task in focus, Shift and Enter does not, and the draft is kept until it was sent", async () => {
  const { host, user, unmount } = open({ conversation: { focus_task_id: WAITS } });
  const field = await screen.findByLabelText("Message");
  await user.type(field, "one{Shift>}{Enter}{/Shift}two");
  expect(asked(host, "conversations.say")).toEqual([]);
  unmount();
  const again = open({ conversation: { focus_task_id: WAITS } });
  const kept = (await screen.findByLabelText("Message")) as HTMLTextAreaElement;
  expect(kept.value).toBe("one\ntwo");
  await screen.findByRole("option", { name: `For: ${String(running.title)}` });
  await again.user.type(kept, "{Enter}");
  await waitFor(() => expect(asked(again.host, "conversations.say")).toMatchObject([{ conversation: conversation().conversation_id, text: "one\ntwo", task: WAITS, channel: "app" }]));
  await waitFor(() => expect(kept.value).toBe(""));
  expect(localStorage.length).toBe(0);
});

test("words that were not taken stay, and sent again they are the same message", async () => {
  const { host, user } = open({ conversation: { focus_task_id: WAITS } }, { "conversations.say": undefined as never });
  const field = (await screen.findByLabelText("Message")) as HTMLTextAreaElement;
  await user.type(field, "hurry{Enter}");
  await screen.findByRole("alert");
  expect(field.value).toBe("hurry");
  await user.type(field, "{Enter}");
  await waitFor(() => expect(asked(host, "conversations.say").length).toBe(2));
  const [first, second] = asked(host, "conversations.say") as { idempotency_key: string }[];
  expect(first?.idempotency_key).toBe(second?.idempotency_key);
});

test("a task that paused says why, and is resumed where its conversation is read", async () => {
  const because = "Paused, and nothing is lost: no answer within 10 minutes. `hermit task resume task_1` goes on.";
  const paused = taskRow({ status: "paused", run_status: "paused", open_approvals: 0, because });
  const { host, user } = open({ tasks: [paused] }, { "task.resume": { task_id: WAITS, status: "running" } as never });
  const list = within(await screen.findByRole("list", { name: "Paused" }));
  expect(list.getByText(/no answer within 10 minutes/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  await user.click(list.getByRole("button", { name: "Resume" }));
  await waitFor(() => expect(asked(host, "task.resume")).toEqual([{ task: WAITS }]));
});

test("a letter that is being composed does not send", async () => {
  const { host } = open({ conversation: { focus_task_id: WAITS } });
  const field = await screen.findByLabelText("Message");
  fireEvent.change(field, { target: { value: "にほん" } });
  fireEvent.keyDown(field, { key: "Enter", isComposing: true });
  expect(asked(host, "conversations.say")).toEqual([]);
});

test("with several open and none in focus nothing is guessed; a person may say which, and when it is read", async () => {
  const other = taskRow({ task_id: DONE, title: "Second", status: "running", run_status: "running", open_approvals: 0 });
  const { host, user } = open({ tasks: [running, other] }, { "task.note": { task_id: DONE, ingress_id: "ing_1", resolution: null, told: null, made: null } });
  const hears = (await screen.findByLabelText("Who hears it")) as HTMLSelectElement;
  await screen.findByRole("option", { name: "For: Second" });
  expect(hears.value).toBe("ask");
  const field = await screen.findByLabelText("Message");
  await user.type(field, "which?{Enter}");
  await waitFor(() => expect(asked(host, "conversations.say")).toMatchObject([{ text: "which?" }]));
  expect((asked(host, "conversations.say")[0] as { task?: string }).task).toBeUndefined();
  await waitFor(() => expect((field as HTMLTextAreaElement).value).toBe(""));
  await user.selectOptions(hears, "For: Second");
  await user.click(screen.getByRole("button", { name: "Queue" }));
  await user.type(field, "later{Enter}");
  await waitFor(() => expect(asked(host, "task.note")).toMatchObject([{ task: DONE, text: "later", mode: "queue" }]));
});

test("after the last task words go on from it, or begin another in the same folder", async () => {
  const { host, user } = open({ tasks: [doneRow], conversation: { last_focus: DONE, open_tasks: 0 } });
  await screen.findByRole("option", { name: "Goes on from: Tidy the downloads" });
  const field = await screen.findByLabelText("Message");
  await user.type(field, "and now?{Enter}");
  await waitFor(() => expect(asked(host, "conversations.say")).toMatchObject([{ task: DONE, text: "and now?" }]));
  await user.selectOptions(screen.getByLabelText("Who hears it"), "A new task");
  await user.type(field, "something else{Enter}");
  await waitFor(() => expect(asked(host, "conversations.say")[1]).toMatchObject({ about: "new", text: "something else" }));
});

test("an undo that waits and what Hermit itself asks are no target of words, open or ended", async () => {
  const undo = taskRow({ task_id: DONE, title: "Undo the tidying", proposer: "rollback" });
  const own = { ...doneRow, task_id: "task_01a2000000007000800000000000000f", title: "Remember a thing", proposer: "tools" as const };
  open({ tasks: [undo, own, running] });
  const hears = await screen.findByLabelText("Who hears it");
  await screen.findByRole("option", { name: /^For: / });
  expect(within(hears).getAllByRole("option").map((option) => option.textContent)).toEqual([`For: ${running.title}`, "A new task", "Hermit finds out, or asks you"]);
});

test("an undecided message shows what it may be about, the likeliest first with how well it fits, and is decided once", async () => {
  const candidates = [
    { task_id: WAITS, title: "Update the tax rates", status: "running" as const, updated_at: AT },
    { task_id: DONE, title: "Paint the logo", status: "completed" as const, updated_at: AT },
  ];
  const { host, user } = open({
    lines: [line(4, { kind: "message", ref_id: "ing_4", text: "use the new rate", heard: { ...heard, resolution: "pending_disambiguation", is_open: true, candidates, confidence: 666, margin: 333, rationale: "2 tasks are open and none is in focus" } })],
  }, { "conversations.bind": said });
  const group = within(await screen.findByRole("group", { name: "What is it about?" }));
  const [first, second] = group.getAllByRole("listitem");
  expect(first?.textContent).toMatch(/Update the tax rates.*67 % of your words, 33 % more than the next/);
  expect(second?.textContent).toMatch(/Paint the logo, done.*Go on from it/);
  await user.click(within(first as HTMLElement).getByRole("button", { name: "More for it" }));
  await waitFor(() => expect(asked(host, "conversations.bind")).toEqual([{ message: "ing_4", about: "task", task: WAITS }]));
  await user.click(group.getByRole("button", { name: "A new task" }));
  await waitFor(() => expect(asked(host, "conversations.bind")[1]).toEqual({ message: "ing_4", about: "new", task: null }));
});

test("a message can be quoted, and a task can be turned to", async () => {
  const task = { task_id: WAITS, title: "Rates", status: "running" as const, follows: null, parent_task_id: null };
  const { host, user } = open({ lines: [line(2, { kind: "message", ref_id: "ing_2", text: "the old words", heard, task })] }, { "conversations.focus": { conversation_id: "cnv", focus_task_id: WAITS } });
  await user.click(await screen.findByRole("button", { name: "Focus" }));
  await waitFor(() => expect(asked(host, "conversations.focus")).toMatchObject([{ task: WAITS }]));
  await user.click(screen.getByRole("button", { name: "Quote" }));
  await user.type(screen.getByLabelText("Message"), "these{Enter}");
  await waitFor(() => expect(asked(host, "conversations.say")).toMatchObject([{ text: "these", quotes: "ing_2" }]));
});

test("a new conversation is opened in a folder, which names it unless a person does", async () => {
  const { host, user, router } = open({}, { "conversations.open": { conversation_id: "cnv_new" } });
  await user.click(await screen.findByRole("button", { name: "New conversation" }));
  await user.type(await screen.findByLabelText("Folder to work in"), "/home/you/atlas-billing");
  await user.click(screen.getByRole("button", { name: "Open" }));
  await waitFor(() => expect(asked(host, "conversations.open")).toEqual([{ title: "atlas-billing", folder: "/home/you/atlas-billing" }]));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ at: "cnv_new" }));
});

test("earlier lines are shown on request, and none of them twice", async () => {
  const page = (from: number) => Array.from({ length: 50 }, (_, at) => line(from - at, { kind: "message", text: `words ${from - at}`, heard }));
  const { user } = open({}, {
    "conversations.lines": (({ after }: { after?: string | null }) => (after === "51" ? { rows: page(50) } : { rows: page(100), next: "51" })) as never,
  });
  await screen.findByText("words 100");
  expect(screen.queryByText("words 50")).toBeNull();
  await user.click(screen.getByRole("button", { name: "Show earlier" }));
  await screen.findByText("words 1");
  const all = screen.getAllByText(/^words \d+$/).map((one) => Number(one.textContent?.slice(6)));
  expect(all).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
});
