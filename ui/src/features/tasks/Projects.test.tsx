// Projects: a list of folders, what was done in each, and a new task there as the last one was set.
import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { projectsOf } from "~/screen/projects";
import { DONE, doneTask, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const folder = (at: number, path: string, hash: string | null, tasks = 1) => ({ workspace_id: `wsp_${at}`, folder: path, project_hash: hash, project_source: null, tasks, waiting: 0, last_task_id: DONE, last_at: 0 });
const folders = [folder(1, "/home/you/atlas", "aa", 3), folder(2, "/home/you/old/notes", null), folder(3, "/home/you/clone", "aa", 2), folder(4, "/home/you/notes", null)];

test("folders of one repository are one project, and names that come twice are told apart", () => {
  expect(projectsOf(folders).map((one) => [one.name, one.tasks])).toEqual([["atlas and 1 more", 5], ["notes (/home/you/old)", 1], ["notes (/home/you)", 1]]);
});

test("a project leads to its own tasks", async () => {
  const host = scene({ "workspaces.list": { workspaces: folders } });
  const { user, router } = show(host, "/tasks");
  await user.click(await screen.findByRole("button", { name: "Projects" }));
  await user.click(await screen.findByRole("button", { name: "atlas and 1 more" }));
  await screen.findByText("5 tasks in atlas and 1 more");
  expect(router.state.location.search).toEqual({ project: "aa" });
  await waitFor(() => expect(host.asked.filter((one) => one.name === "task.list").at(-1)?.params).toMatchObject({ workspaces: ["wsp_1", "wsp_3"] }));
  expect(await seriousFindings()).toEqual([]);
});

test("a new task takes over policy and rules of the last one in its folder, and what a person set stays", async () => {
  const last = { ...doneTask, constraints: ["leave archive alone"], row: { ...doneTask.row, profile: "destructive_denied" as const } };
  const host = scene({ "workspaces.list": { workspaces: folders }, "task.show": last });
  const { user } = show(host, "/tasks/new");
  const policy = () => (screen.getByLabelText("Policy") as HTMLSelectElement).value;
  await user.click(await screen.findByRole("button", { name: "atlas" }));
  await screen.findByText(/As in the last task here/);
  await waitFor(() => expect(policy()).toBe("destructive_denied"));
  expect((screen.getByLabelText(/Rules it must follow/) as HTMLInputElement).value).toBe("leave archive alone");
  await user.selectOptions(screen.getByLabelText("Policy"), "readonly_analysis");
  await user.click(screen.getByRole("button", { name: "clone" }));
  expect(policy()).toBe("readonly_analysis");
});
