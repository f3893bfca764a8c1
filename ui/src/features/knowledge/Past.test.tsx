// The slider over the points of the past: memory as it was, what became of it since, and what proves it.
import { fireEvent, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Memory, MemoryPoint, MemoryThenList } from "~/ipc/generated/knowledge";
import { DONE, scene } from "~/test/scene";
import { seriousFindings, show } from "~/test/show";

const memory = (id: string, claim: string, more: Partial<Memory> = {}): Memory => ({
  memory_id: id, task_id: DONE, conversation_id: null, claim, scope: "project", reason: "a person said so", trust: "user_asserted", status: "active", evidence: [],
  promoted_by: "prn_1", memory_type: "decision", project: { hash: "cd".repeat(32), name: "invoices" }, retention: "kept", invalidation: "correction",
  from_belief: null, supersedes: null, uses: 0, last_used_at: null, helped: 0, helped_in: null, contradicted: 0, contradicted_in: null, withheld: false, expires_at: null, created_at: 1_700_000_000_000, ended_at: null, end_reason: null, superseded_by: null, relevance: null,
  ...more,
});
const point = (number: number, checkpoint: number | null): MemoryPoint => ({ number, at: 1_700_000_000_000 + number * 86_400_000, state_root: "ab".repeat(32), checkpoint });
const then = (number: number, more: Partial<MemoryThenList> = {}): MemoryThenList => ({
  point: point(number, 40 + number), standing: "proven", next: null, added: [memory("mem_3", "staging is down")], added_more: false,
  roots: [{ project: { hash: "cd".repeat(32), name: "invoices" }, size: 2, root: "ef".repeat(32), matches: true }],
  rows: [memory("mem_1", "invoices are numbered by year", { status: "invalidated", superseded_by: "mem_9", ended_at: 1 }), memory("mem_2", "answers are short")],
  ...more,
});

const open = async (answer: MemoryThenList) => {
  const host = scene({
    "knowledge.memories": { rows: [memory("mem_2", "answers are short")] }, "knowledge.memory_points": { rows: [point(3, null), point(1, 41), point(0, 40)], next: null }, "knowledge.memory_then": answer,
  });
  const shown = show(host, "/knowledge");
  await shown.user.click(await screen.findByRole("button", { name: "Memory" }));
  return { ...shown, host, slider: await screen.findByRole("slider", { name: "Point in time" }) };
};
const move = (slider: HTMLElement, to: number) => fireEvent.change(slider, { target: { value: String(to) } });

test("the slider shows memory as it was then, and leads back to now", async () => {
  const { user, host, slider } = await open(then(1));
  expect(slider.getAttribute("aria-valuetext")).toBe("Now");
  expect((slider as HTMLInputElement).value).toBe("3");
  move(slider, 1);
  expect(slider.getAttribute("aria-valuetext")).toMatch(/, checkpoint 41$/);
  await screen.findByText("invoices are numbered by year");
  expect(host.asked.filter((one) => one.name === "knowledge.memory_then").at(-1)?.params).toMatchObject({ number: 1, checkpoint: null, at: null });
  const lines = screen.getAllByRole("row").map((one) => one.textContent);
  expect(lines[1]).toMatch(/by year.*Replaced/);
  expect(lines[2]).toMatch(/answers are short.*Still in force/);
  expect(within(screen.getByRole("region", { name: "Added since" })).getByText("staging is down")).toBeTruthy();
  expect(screen.getByText("Proven").closest("p")?.textContent).toContain("checkpoint 41 of the log covers them");
  await user.click(screen.getByRole("button", { name: "Show the roots" }));
  expect(within(screen.getByRole("list", { name: "Roots" })).getByText(/invoices, 2 records/)).toBeTruthy();
  expect(await seriousFindings()).toEqual([]);
  // Nothing of the past is changed from there.
  expect(screen.queryByRole("button", { name: "Forget it" })).toBeNull();
  await user.click(screen.getByRole("button", { name: "Back to now" }));
  await screen.findByRole("complementary", { name: "Memory" });
  expect(screen.queryByText("invoices are numbered by year")).toBeNull();
});

test("what is not proven says so", async () => {
  const { slider } = await open(then(1, { standing: "differs", roots: [{ project: null, size: 2, root: "ef".repeat(32), matches: false }] }));
  move(slider, 0);
  await screen.findByText("Not proven");
  expect(screen.queryByText("Proven")).toBeNull();
});

test("what is rooted and not signed yet is not called proven", async () => {
  const { slider } = await open(then(3, { standing: "unsigned", point: point(3, null), added: [] }));
  move(slider, 2);
  await screen.findByText("Not signed yet");
  expect(slider.getAttribute("aria-valuetext")).not.toContain("checkpoint");
  await screen.findByText("Nothing was added since.");
});

test("more records than one answer holds are shown when they are asked for", async () => {
  const host = scene({
    "knowledge.memories": { rows: [memory("mem_2", "answers are short")] }, "knowledge.memory_points": { rows: [point(1, 41)], next: null },
    "knowledge.memory_then": (({ after }: { after: string | null }) => (after === "77" ? then(1, { rows: [memory("mem_5", "the logo is green")] }) : then(1, { next: "77" }))) as never,
  });
  const { user } = show(host, "/knowledge");
  await user.click(await screen.findByRole("button", { name: "Memory" }));
  move(await screen.findByRole("slider", { name: "Point in time" }), 0);
  await screen.findByText("invoices are numbered by year");
  expect(screen.queryByText("the logo is green")).toBeNull();
  await user.click(screen.getByRole("button", { name: "Show more records" }));
  await screen.findByText("the logo is green");
  expect(screen.getByText("invoices are numbered by year")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Show more records" })).toBeNull();
});
