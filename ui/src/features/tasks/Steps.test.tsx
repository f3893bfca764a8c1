// Steps over all tasks by how they stand, and how urgent a task is.
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { WAITS, scene } from "~/test/scene";
import { show } from "~/test/show";

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
