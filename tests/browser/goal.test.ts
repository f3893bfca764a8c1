// A goal that is edited in Chromium over the built program: what waits is asked anew for it, and every goal stands as what it was.
import { afterAll, beforeAll, expect, test } from "vitest";
import { model } from "./model";
import { conforms, fits, picture } from "./kept";
import { World } from "./world";

const world = new World();
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
let wishes: Awaited<ReturnType<typeof model>>;
let address = "";

/** The titles that the events of a run have told, in their order. */
async function titles(run: string): Promise<unknown[]> {
  const answer = await fetch(`${address}/v1/runs/${run}/events?limit=500`, { headers: { authorization: `Bearer ${world.token()}` } });
  const { events } = await answer.json() as { events: { type: string; payload: Record<string, unknown> }[] };
  return events.filter((event) => event.type === "title.updated").map((event) => event.payload["title"]);
}

beforeAll(async () => {
  world.keys();
  wishes = await model([
    { tool: "write", arguments: { path: "red.txt", content: "red\n" } },
    { tool: "write", arguments: { path: "blue.txt", content: "blue\n" } },
    { tool: "done", arguments: { summary: "It is done." } },
  ]);
  world.hermit("models", "use", wishes.name);
  await world.ui();
  const link = await world.serve();
  address = new URL(link).origin;
  await world.open(link);
});

afterAll(async () => {
  await world.close();
  await wishes?.end();
});

test("a goal is edited on the page of its task, its title follows when that is told, and every goal that it had is shown as what it was", conforms("RA-2-12", async () => {
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  await world.go(`/tasks/new?folder=${encodeURIComponent(world.folder)}&goal=${encodeURIComponent("the red ones")}`);
  await button("Begin").click();
  const rows = () => (JSON.parse(world.hermit("task", "list", "--json")) as { rows: { task_id: string; run_status: string }[] }).rows;
  await expect.poll(() => rows()[0]?.run_status, { timeout: 90_000 }).toBe("awaiting_approval");
  const run = rows()[0]?.task_id ?? "";
  await world.go(`/task/${run}`);
  const called = (title: string) => world.page.getByRole("heading", { name: title, exact: true });
  await called("the red ones").waitFor();
  await button("Edit the goal").click();
  await world.page.getByLabel("Goal", { exact: true }).fill("the blue ones");
  // What is written and not told yet changes no title.
  expect(await titles(run)).toEqual(["the red ones"]);
  expect([await called("the red ones").count(), await called("the blue ones").count()]).toEqual([1, 0]);
  await picture(world.page, "goal", (width, at) => fits(world.page, width, at));
  // What is sent and not told yet changes none either.
  let goesOn = () => {};
  const held = new Promise<void>((resolve) => { goesOn = resolve; });
  await world.page.route("**/api/task.edit_goal", async (route) => { await held; await route.continue(); });
  const sent = world.page.waitForRequest("**/api/task.edit_goal");
  await button("Save the goal").click();
  await sent;
  expect([await called("the red ones").count(), await called("the blue ones").count()]).toEqual([1, 0]);
  goesOn();
  await called("the blue ones").waitFor();
  await called("the red ones").waitFor({ state: "detached" });
  expect(await titles(run)).toEqual(["the red ones", "the blue ones"]);
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
}));
