// What the head of a task offers: a pause that no new day ends, and an undo of what an undo takes back.
import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Task } from "~/ipc/generated/task";
import { DONE, WAITS, doneTask, scene, task } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const paused = (reason: string): Task => ({ ...task, row: { ...task.row, status: "paused", run_status: "paused", reason, open_approvals: 0 }, waits_for: null });

test("what the ceiling of a day paused says so in words, and a person keeps it paused", async () => {
  const host = scene({ "task.show": paused("day_ceiling"), "task.pause": { task_id: WAITS, status: "paused" } });
  const { user } = show(host, `/task/${WAITS}`);
  expect((await screen.findAllByText(/it goes on by itself when the day has ended/)).length).toBeGreaterThan(0);
  expect(screen.queryByText(/day_ceiling/)).toBeNull();
  await user.click(screen.getByRole("button", { name: "Keep paused" }));
  await waitFor(() => expect(host.asked.find((one) => one.name === "task.pause")?.params).toEqual({ task: WAITS }));
  expect(await seriousFindings()).toEqual([]);
});

test("what a person paused is only resumed", async () => {
  show(scene({ "task.show": paused("asked by a person") }), `/task/${WAITS}`);
  await screen.findByRole("button", { name: "Resume" });
  expect(screen.queryByRole("button", { name: "Keep paused" })).toBeNull();
});

test("a file in which Hermit keeps what it may do is undone like any other, and a setting is not", async () => {
  const of = (tool: string): Task => ({ ...doneTask, actions: doneTask.actions.map((action) => ({ ...action, class: "capability_change", tool })) });
  const undo = async (tool: string) => {
    const { unmount } = show(scene({ "task.show": of(tool) }), `/task/${DONE}`);
    const title = (await screen.findByRole("button", { name: "Undo" })).getAttribute("title");
    unmount();
    return title;
  };
  expect(await undo("change")).toBe("Shows what undoing the last change would do");
  expect(await undo("register")).toBe("Nothing of this task can be undone");
});

test("what was done in part can be undone like what was done whole, and what failed cannot", async () => {
  const of = (result: "partial" | "failed"): Task => ({ ...doneTask, actions: doneTask.actions.map((action) => ({ ...action, result })) });
  const undo = async (result: "partial" | "failed") => {
    const { unmount } = show(scene({ "task.show": of(result) }), `/task/${DONE}`);
    const title = (await screen.findByRole("button", { name: "Undo" })).getAttribute("title");
    unmount();
    return title;
  };
  expect(await undo("partial")).toBe("Shows what undoing the last change would do");
  expect(await undo("failed")).toBe("Nothing of this task can be undone");
});
