// Steps over all tasks by how they stand, and how urgent a task is.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { StepRow } from "~/ipc/generated/task";
import { AT, DONE, WAITS, scene } from "~/test/scene";
import { show } from "~/test/show";

/** One that is worked on, of the task that is done in the other tests. */
const RUNNING: StepRow = {
  step_id: "step_2", kind: "pursue", title: "Sort the photos", status: "running", reason: "leased by a worker", depends_on: [], attempts: 1, max_attempts: 3, created_at: AT, updated_at: AT,
  task_id: DONE, task_title: "Tidy the downloads", run_status: "running", priority: "high", workspace: null,
};

test("a step that is worked on stands among the running ones alone, with its task, why and how urgent it is", async () => {
  const host = scene({ "task.steps": ({ status }) => ({ rows: status === "running" ? [RUNNING] : [] }) });
  show(host, "/tasks?look=steps");
  const running = within(await screen.findByRole("region", { name: "Running steps" }));
  const row = within((await running.findByText("Sort the photos")).closest("tr") as HTMLElement);
  expect(row.getByText("Leased by a worker")).toBeTruthy();
  expect(row.getByRole("link", { name: "Tidy the downloads" }).getAttribute("href")).toContain(DONE);
  expect((row.getByLabelText("Priority") as HTMLSelectElement).value).toBe("high");
  expect(screen.getAllByText("Sort the photos").length).toBe(1);
  expect(screen.getByText("No step waits.")).toBeTruthy();
  expect(screen.queryByText("No step is being worked on.")).toBeNull();
});

test("running, blocked and ready steps of all tasks are listed, each with its task and why", async () => {
  const host = scene({ "task.set_priority": { task_id: WAITS, status: "blocked" } });
  const { user } = show(host, "/tasks?look=steps");
  const blocked = within(await screen.findByRole("region", { name: "Blocked steps" }));
  const row = within((await blocked.findByText("Move the rates")).closest("tr") as HTMLElement);
  expect(row.getByText("Waiting for an approval")).toBeTruthy();
  expect(row.getByRole("link", { name: "Move tax rates into a typed table" }).getAttribute("href")).toContain(WAITS);
  expect(screen.getByText("No step is being worked on.")).toBeTruthy();
  expect(screen.getByText("No step is ready to begin.")).toBeTruthy();
  await user.selectOptions(row.getByLabelText("Priority"), "High priority");
  await waitFor(() => expect(host.asked.find((one) => one.name === "task.set_priority")?.params).toEqual({ task: WAITS, priority: "high" }));
});
