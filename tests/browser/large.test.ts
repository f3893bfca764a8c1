// Much, in Chromium: a task of 100,000 events, a board of 100,000 tasks, a lineage of 1,000 nodes. What the host says is
// made up here, so that only the page is measured; figures depend on the machine, so they are printed, and only what no
// machine excuses is asserted.
import { afterAll, beforeAll, expect, test } from "vitest";
import { World } from "./world";

const EVENTS = 100_000;
const TASKS = 100_000;
const NODES = 1_000;
const AT = Date.UTC(2026, 10, 22);
const id = (kind: string, at: number) => `${kind}_${at.toString(16).padStart(32, "0")}`;
const world = new World();

const row = (at: number) => ({
  task_id: id("task", at), title: `Task ${at}`, status: "completed", run_status: "completed", reason: "done", priority: "normal", profile: "local_edit_allowed",
  created_at: AT - at, updated_at: AT - at, ended_at: AT, open_approvals: 0, open_questions: 0, unknown_effects: 0, receipts: 1, iterations: 3, tokens_used: 10, cost_micros: 0, parent_task_id: null,
});

const event = (seq: number) => ({
  seq, event_id: id("evt", seq), event_type: "belief.asserted", at: AT + seq, actor_type: "system", actor_id: "prn_1", entity_type: "task", entity_id: id("task", 1),
  step_id: null, attempt_id: null, body: {}, causation_id: null, hash: "c0ffee00".repeat(8), prev_hash: "0".repeat(64),
});

/** Answers what is large itself and lets the host answer the rest. */
async function madeUp(): Promise<void> {
  await world.page.route("**/api/task.list", (route) => {
    const asked = (route.request().postDataJSON() ?? {}) as { after?: string | null; limit?: number | null };
    const from = asked.after == null ? 0 : Number(asked.after.slice(1));
    const many = Math.min(asked.limit ?? 50, TASKS - from);
    const rows = Array.from({ length: many }, (_, at) => row(from + at));
    return route.fulfill({ json: { rows, next: from + many < TASKS ? `c${from + many}` : null } });
  });
  await world.page.route("**/api/task_events.list", (route) => {
    const asked = route.request().postDataJSON() as { task: string; after_seq?: number | null; limit?: number | null };
    const from = asked.after_seq ?? 0;
    const many = Math.min(asked.limit ?? 500, EVENTS - from);
    return route.fulfill({ json: { task_id: asked.task, events: Array.from({ length: many }, (_, at) => event(from + at + 1)), last_seq: EVENTS, ended: true } });
  });
  await world.page.route("**/api/lineage.draw", (route) => {
    const nodes = Array.from({ length: NODES }, (_, at) => ({
      id: id("art", at), kind: "artifact", layer: at % 40, row: Math.floor(at / 40), label: `artifact ${at}`, detail: "evidence", trust: null, tainted: false, feeds: true,
      task_id: id("task", 1), at: AT + at, sha256: null,
    }));
    const edges = Array.from({ length: NODES - 40 }, (_, at) => ({ from: id("art", at), to: id("art", at + 1), kind: "informed" }));
    return route.fulfill({ json: { focus: id("art", 0), scope: "store", nodes, edges, layers: 40, rows: NODES / 40, left_out: 0 } });
  });
}

/** The longest stretch in which the page heard nobody, while `work` went on. */
async function longest(work: () => Promise<void>): Promise<number> {
  await world.page.evaluate(() => {
    const kept = window as unknown as { longest: number; watch?: PerformanceObserver };
    kept.longest = 0;
    kept.watch?.disconnect();
    kept.watch = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) kept.longest = Math.max(kept.longest, entry.duration);
    });
    kept.watch.observe({ type: "longtask" });
  });
  await work();
  await world.page.waitForTimeout(300);
  return world.page.evaluate(() => Math.round((window as unknown as { longest: number }).longest));
}

beforeAll(async () => {
  world.keys();
  await world.ui();
  await world.open(await world.serve());
  await world.page.getByRole("heading", { name: "Inbox" }).waitFor();
  await madeUp();
});

afterAll(() => world.close());

test("a board of 100,000 tasks is scrolled", async () => {
  const opened = await longest(async () => {
    await world.go("/tasks");
    await world.page.getByText("Task 3", { exact: true }).first().waitFor();
  });
  const scrolled = await longest(async () => {
    await world.page.mouse.move(700, 500);
    for (let turn = 0; turn < 60; turn += 1) await world.page.mouse.wheel(0, 900);
  });
  console.log(`tasks: opened with a longest task of ${opened} ms, scrolled with one of ${scrolled} ms`);
  expect(await world.page.locator("#main *").count()).toBeLessThan(6_000);
});

test("a lineage of 1,000 nodes is drawn", async () => {
  const begun = Date.now();
  let took = 0;
  const stretch = await longest(async () => {
    await world.go(`/lineage?of=${id("art", 0)}`);
    await world.page.getByText("As a table").first().waitFor();
    await world.page.getByText("artifact 0", { exact: true }).first().waitFor();
    took = Date.now() - begun;
  });
  console.log(`lineage: ${NODES} nodes after ${took} ms, the longest task ${stretch} ms`);
  expect(took).toBeLessThan(20_000);
});
