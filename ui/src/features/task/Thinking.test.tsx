// What a model reasons is shown apart from what it writes, and goes when its answer is there.
import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import type { Task } from "~/ipc/generated/task";
import { DONE, doneRow, doneTask, scene } from "~/test/scene";
import { show } from "~/test/show";

const running: Task = { ...doneTask, reasoner: "anthropic:https://api.anthropic.com/v1#claude", termination: null, row: { ...doneRow, status: "running", run_status: "running", ended_at: null } };

test("reasoning stands apart from words, folded, and goes with the answer", async () => {
  const host = scene({ "task.show": running });
  const { user } = show(host, `/task/${DONE}`);
  const log = within(await screen.findByRole("log"));
  await log.findByText("working");
  act(() => host.say({ kind: "reasoning", task_id: DONE, asking: 7, from: 0, text: "First I had better " }));
  act(() => host.say({ kind: "reasoning", task_id: DONE, asking: 7, from: 19, text: "look." }));
  act(() => host.say({ kind: "reasoning", task_id: "task_other", asking: 7, from: 0, text: "not here" }));
  await log.findByText("thinking");
  const folded = log.getByText("What it is thinking");
  expect(folded.closest("details")?.open).toBe(false);
  await user.click(folded);
  expect(log.getByText("First I had better look.").closest("details")).toBe(folded.closest("details"));
  act(() => host.say({ kind: "delta", task_id: DONE, asking: 7, from: 0, text: "I read the file." }));
  expect((await log.findByText("I read the file.")).closest("details")).toBeNull();
  expect(log.queryByText("not here")).toBeNull();
  act(() => host.say({ kind: "event", task_id: DONE, task_seq: 9, event_type: "attempt.model_responded", topics: [] }));
  await waitFor(() => expect(log.queryByText("What it is thinking")).toBeNull());
});

test("how far long work is stands there while nothing else is told, and goes with what follows", async () => {
  const host = scene({ "task.show": running });
  show(host, `/task/${DONE}`);
  const log = within(await screen.findByRole("log"));
  await log.findByText("working");
  const goes = (done: number, total: number) => act(() => host.say({ kind: "progress", task_id: DONE, what: "the model reads what it was sent", done, total }));
  goes(512, 2048);
  await log.findByText("the model reads what it was sent: 25 %");
  act(() => host.say({ kind: "progress", task_id: null, what: "the lists are made anew", done: 1, total: 2 }));
  goes(9, 0);
  await log.findByText("the model reads what it was sent");
  act(() => host.say({ kind: "event", task_id: DONE, task_seq: 9, event_type: "attempt.model_responded", topics: [] }));
  await log.findByText("working");
});

test("who comes while it is thinking sees what was thought before, and each piece once", async () => {
  const host = scene({ "task.show": { ...running, thinking: "First I had better ", asking: { number: 7, writing_from: 0, thinking_from: 0 } } });
  const { user } = show(host, `/task/${DONE}`);
  const log = within(await screen.findByRole("log"));
  await user.click(await log.findByText("What it is thinking"));
  act(() => host.say({ kind: "reasoning", task_id: DONE, asking: 7, from: 19, text: "look." }));
  await log.findByText("First I had better look.");
});

test("what nobody works on seems to be at nothing, and what it had said of its answer stands there as broken off", async () => {
  show(scene({ "task.show": { ...running, interrupted: true, thinking: "First I had better look.", writing: "Once upon " } }), `/task/${DONE}`);
  const kept = await within(await screen.findByRole("log")).findByRole("group", { name: "Broken off" });
  expect(kept.textContent).toContain("Once upon");
  expect(kept.textContent).toContain("First I had better look.");
  expect(document.querySelector("[role=log] [aria-busy=true]")).toBeNull();
});

test("who speaks is at work again: what was broken off goes, and the words of the answer stand there alone", async () => {
  let shown: Task = { ...running, interrupted: true, writing: "Once upon " };
  const host = scene({ "task.show": () => shown });
  show(host, `/task/${DONE}`);
  const log = within(await screen.findByRole("log"));
  await log.findByRole("group", { name: "Broken off" });
  shown = { ...running, writing: "Again", asking: { number: 7, writing_from: 0, thinking_from: 0 } };
  act(() => host.say({ kind: "delta", task_id: DONE, asking: 7, from: 0, text: "Again" }));
  await log.findByText("Again");
  expect(log.queryByText(/Once upon/)).toBeNull();
  expect(log.queryByRole("group", { name: "Broken off" })).toBeNull();
  act(() => host.say({ kind: "event", task_id: DONE, task_seq: 9, event_type: "attempt.model_responded", topics: [] }));
  await waitFor(() => expect(log.queryByText("Again")).toBeNull());
});

test("what a tool at work prints is read along, and goes when its turn is over", async () => {
  const host = scene({ "task.show": running });
  show(host, `/task/${DONE}`);
  const log = within(await screen.findByRole("log"));
  await log.findByText(/^(working|thinking)$/);
  const say = (task: string, text: string) => act(() => host.say({ kind: "output", task_id: task, act: "act_1", stream: "stdout", text }));
  say(DONE, "compiling one\n");
  say("task_other", "not here\n");
  say(DONE, "compiling two\n");
  await log.findByText("What it prints");
  const shown = log.getByText("What it prints").closest("details");
  expect(shown?.textContent).toContain("compiling one\ncompiling two");
  expect(shown?.textContent).not.toContain("not here");
  say(DONE, "x".repeat(30_000));
  await waitFor(() => expect(shown?.textContent).not.toContain("compiling"));
  act(() => host.say({ kind: "event", task_id: DONE, task_seq: 9, event_type: "attempt.status_changed", topics: [] }));
  await waitFor(() => expect(log.queryByText("What it prints")).toBeNull());
});

test("a screen says which conversation it shows, asks for what it did not hear before, and says when it is left", async () => {
  const shows = vi.fn(() => Promise.resolve());
  const host = Object.assign(scene({ "task.show": running }), { shows });
  const { router } = show(host, `/task/${DONE}`);
  await screen.findByRole("log");
  await waitFor(() => expect(shows).toHaveBeenLastCalledWith(running.conversation_id));
  await waitFor(() => expect(host.times("task.show")).toBeGreaterThan(1));
  await act(() => router.navigate({ to: "/tasks" }));
  await waitFor(() => expect(shows).toHaveBeenLastCalledWith(null));
});

test("what a tool printed before its task was turned to stands there", async () => {
  const shows = vi.fn(() => Promise.resolve());
  const host = Object.assign(scene({ "task.show": running }), { shows });
  const { router } = show(host, "/tasks");
  await waitFor(() => expect(host.times("task.list")).toBeGreaterThan(0));
  act(() => host.say({ kind: "output", task_id: DONE, act: "act_1", stream: "stdout", text: "compiling one\n" }));
  await act(() => router.navigate({ to: "/task/$id", params: { id: DONE } }));
  const log = within(await screen.findByRole("log"));
  await waitFor(() => expect(shows).toHaveBeenLastCalledWith(running.conversation_id));
  await waitFor(() => expect(host.times("task.show")).toBeGreaterThan(1));
  await log.findByText("What it prints");
});
