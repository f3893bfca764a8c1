// A goal that is edited in Chromium over the built program: what waits is asked anew for it, and every goal stands as what it was.
import { afterAll, beforeAll, expect, test } from "vitest";
import { model } from "./model";
import { fits, picture } from "./kept";
import { World } from "./world";

const world = new World();
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
let wishes: Awaited<ReturnType<typeof model>>;

beforeAll(async () => {
  world.keys();
  wishes = await model([
    { tool: "write", arguments: { path: "red.txt", content: "red\n" } },
    { tool: "write", arguments: { path: "blue.txt", content: "blue\n" } },
    { tool: "done", arguments: { summary: "It is done." } },
  ]);
  world.hermit("models", "use", wishes.name);
  await world.ui();
  await world.open(await world.serve());
});

afterAll(async () => {
  await world.close();
  await wishes?.end();
});

test("a goal is edited on the page of its task, and every goal that it had is shown as what it was", async () => {
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  await world.go(`/tasks/new?folder=${encodeURIComponent(world.folder)}&goal=${encodeURIComponent("the red ones")}`);
  await button("Begin").click();
  const rows = () => (JSON.parse(world.hermit("task", "list", "--json")) as { rows: { task_id: string; run_status: string }[] }).rows;
  await expect.poll(() => rows()[0]?.run_status, { timeout: 90_000 }).toBe("awaiting_approval");
  await world.go(`/task/${rows()[0]?.task_id ?? ""}`);
  await button("Edit the goal").click();
  await world.page.getByLabel("Goal", { exact: true }).fill("the blue ones");
  await picture(world.page, "goal", (width, at) => fits(world.page, width, at));
  await button("Save the goal").click();
  const log = world.page.getByRole("log", { name: "What was said" });
  await log.getByText("The goal as it is now").waitFor();
  await log.getByText("The goal until it was edited").waitFor();
  await expect.poll(() => wishes.asked.length, { timeout: 90_000 }).toBe(2);
  expect(wishes.asked[1]).toContain("the blue ones");
  expect(wishes.asked[1]).not.toContain("the red ones");
  await world.page.reload();
  await log.getByText("the red ones").first().waitFor();
  await log.getByText("the blue ones").first().waitFor();
  expect(world.complaints).toEqual([]);
});
