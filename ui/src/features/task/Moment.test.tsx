// At an earlier moment nothing of later is told as if it had happened; while a task works, the page says at what.
import { fireEvent, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { StepRow } from "~/ipc/generated/task";
import { DONE, RECEIPT, WAITS, doneEvents, doneTask, event, events, scene, task } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const listed = (id: string, all: typeof events) => ({ task_id: id, events: all, last_seq: all.length, ended: true });

test("before its receipt was signed a task shows neither the receipt nor how it ended", async () => {
  show(scene({ "task.show": doneTask, "task_events.list": ({ after_seq }) => listed(DONE, (after_seq ?? 0) === 0 ? doneEvents : []) }), `/task/${DONE}?see=${RECEIPT}`);
  const details = within(await screen.findByRole("region", { name: "Details" }));
  expect(await details.findByRole("heading", { name: /^Receipt R-/ })).toBeTruthy();
  expect(screen.getByRole("button", { name: "Undo" })).toBeTruthy();
  fireEvent.change(await screen.findByRole("slider", { name: "Moment" }), { target: { value: "5" } });
  expect(await screen.findByText(/At event 5\./)).toBeTruthy();
  expect(details.queryByRole("heading", { name: /^Receipt R-/ })).toBeNull();
  expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
  fireEvent.change(screen.getByRole("slider", { name: "Moment" }), { target: { value: "12" } });
  expect(await details.findByRole("heading", { name: /^Receipt R-/ })).toBeTruthy();
});

test("a task at work says what it is reading", async () => {
  const reads = [...events.slice(0, 4), event(5, "action.requested", { action_request_id: "a1", action_class: "read_local", summary: "read notes/meeting 1.md" })];
  const working = { ...task, row: { ...task.row, run_status: "running" as const, open_approvals: 0 }, waits_for: null };
  show(scene({ "task.show": working, "task_events.list": ({ after_seq }) => listed(WAITS, (after_seq ?? 0) === 0 ? reads : []) }), `/task/${WAITS}`);
  const said = within(await screen.findByRole("log", { name: "What was said" }));
  expect(await said.findByText("Now: read notes/meeting 1.md")).toBeTruthy();
});

test("a task of several steps shows them as a plan: what is done, what is under way, what is to come", async () => {
  const step = (seq: number, id: string, title: string) => event(seq, "step.created", { step: { step_id: id, title } });
  const stands = (seq: number, id: string, to: string) => event(seq, "step.status_changed", { about_step_id: id, to });
  const steps = [
    events[0] ?? event(1, "task.created", {}), step(2, "s1", "Read the notes"), step(3, "s2", "Write the summary"), step(4, "s3", "Tidy up"),
    stands(5, "s1", "running"), stands(6, "s1", "succeeded"), stands(7, "s2", "running"),
  ];
  const working = { ...task, row: { ...task.row, run_status: "running" as const, open_approvals: 0 }, waits_for: null };
  show(scene({ "task.show": working, "task_events.list": ({ after_seq }) => listed(WAITS, (after_seq ?? 0) === 0 ? steps : []) }), `/task/${WAITS}`);
  const plan = (await screen.findByText("Plan: 1 of 3 steps done")).closest("details") as HTMLElement;
  expect(within(plan).getAllByRole("listitem").map((one) => one.textContent)).toEqual(["Read the notesdone", "Write the summaryunder way", "Tidy upto come"]);
  expect(within(plan).getAllByRole("listitem").map((one) => one.getAttribute("aria-current"))).toEqual([null, "step", null]);
  expect(await seriousFindings()).toEqual([]);
});

test("a step that is chosen shows what it counts on, what it is to leave and how it is undone", async () => {
  const made = { ...event(2, "step.created", { step: { step_id: "s2", title: "Write the summary" } }), entity_id: "s2" };
  const row: StepRow = {
    step_id: "s2", kind: "edit", title: "Write the summary", status: "planned", reason: "", depends_on: ["s1"], attempts: 0, max_attempts: 3, created_at: 1, updated_at: 1,
    task_id: WAITS, task_title: "Summary", run_status: "running", priority: "normal", workspace: null,
    contract: {
      objective: "One page", leaves: ["summary.md"], done_when: ["file: summary.md"], may: ["read_local", "write_local"], undo: "delete summary.md",
      inputs: [
        { artifact_id: "art_1", step_id: null, title: "notes.txt", leaves: [] },
        { artifact_id: null, step_id: "s1", title: "Read the notes", leaves: ["a list"] },
      ],
    },
  };
  const host = scene({ "task.steps": { rows: [row] }, "task_events.list": ({ after_seq }) => listed(WAITS, (after_seq ?? 0) === 0 ? [events[0] ?? made, made] : []) });
  const { user } = show(host, `/task/${WAITS}`);
  await user.click(await screen.findByRole("button", { name: /Write the summary/ }));
  const details = within(await screen.findByRole("region", { name: "Details" }));
  expect(await details.findByRole("heading", { name: "Write the summary" })).toBeTruthy();
  for (const [name, value] of [
    ["Counts on", "notes.txt, which came with the goalwhat the step Read the notes ends with: a list"], ["Leaves", "summary.md"], ["Done when", "file: summary.md"],
    ["May", "read local, write local"], ["Undone by", "delete summary.md"],
  ] as const) {
    expect(details.getByText(name).nextElementSibling?.textContent, name).toBe(value);
  }
  expect(await seriousFindings()).toEqual([]);
});

test("a task of one step has no plan", async () => {
  show(scene({ "task_events.list": ({ after_seq }) => listed(WAITS, (after_seq ?? 0) === 0 ? events : []) }), `/task/${WAITS}`);
  await screen.findByRole("log", { name: "What was said" });
  await screen.findAllByText(/Move the rates into a typed table/);
  expect(screen.queryByText(/^Plan:/)).toBeNull();
});
