// The goal of a task is edited before it began or while it is at work; every goal that it had is shown as what it was.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { AT, WAITS, event, scene, task, taskRow } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";
import { story } from "./story";

const EVENTS = [event(1, "task.created", { task: { goal: "the red ones" } }), event(2, "task.goal_changed", { goal: "the blue ones" }), event(3, "task.goal_changed", { goal: "the green ones" })];
const queued = { ...task, last_seq: 3, attempts: [], goal: "the green ones", row: taskRow({ status: "ready", run_status: "queued", open_approvals: 0, ended_at: null }) };

test("every goal that a task had is told as what it was", () => {
  expect(story(EVENTS).messages.map((message) => [message.text, message.goal])).toEqual([["the red ones", "before"], ["the blue ones", "before"], ["the green ones", "now"]]);
  expect(story(EVENTS.slice(0, 1)).messages.map((message) => message.goal)).toEqual([null]);
  // Where the words of the first goal are gone, what was said next was never one.
  const said = event(2, "task.input_added", { text: "mind the dates", trust_tier: "user_asserted" });
  const gone = event(1, "task.created", { task: { goal: "" } });
  expect(story([gone, said, event(3, "task.goal_changed", { goal: "the blue ones" })]).messages.map((message) => [message.text, message.goal])).toEqual([["mind the dates", null], ["the blue ones", "now"]]);
});

test("a task that has not begun gets another goal, and both are shown", async () => {
  const host = scene({ "task.show": queued, "task_events.list": ({ after_seq }) => ({ task_id: WAITS, events: EVENTS.filter((one) => one.seq > (after_seq ?? 0)), last_seq: 3, ended: false }), "task.edit_goal": { task_id: WAITS, status: "ready" } });
  const { user } = show(host, `/task/${WAITS}`);
  const log = within(await screen.findByRole("log"));
  expect((await log.findAllByText("The goal until it was edited")).length).toBe(2);
  expect(log.getByText("The goal as it is now")).toBeTruthy();
  await user.click(log.getByRole("button", { name: "Edit the goal" }));
  expect(log.getByText(/The task has not begun: it begins with this goal/)).toBeTruthy();
  const field = log.getByLabelText("Goal");
  expect(log.getByRole("button", { name: "Save the goal" }).getAttribute("title")).toBe("That is its goal already");
  await user.clear(field);
  expect(log.getByRole("button", { name: "Save the goal" }).getAttribute("title")).toBe("A task needs a goal");
  await user.type(field, "the white ones");
  await user.click(log.getByRole("button", { name: "Save the goal" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "task.edit_goal")?.params).toEqual({ task: WAITS, goal: "the white ones", channel: "app" }));
  await waitFor(() => expect(log.queryByLabelText("Goal")).toBeNull());
  expect(await seriousFindings()).toEqual([]);
});

test("a task that has ended keeps its goal", async () => {
  show(scene({ "task.show": { ...queued, row: { ...queued.row, status: "completed", run_status: "completed", ended_at: AT } } }), `/task/${WAITS}`);
  await screen.findByRole("log");
  await screen.findByLabelText("Continue with a follow-up");
  expect(screen.queryByRole("button", { name: "Edit the goal" })).toBeNull();
});
